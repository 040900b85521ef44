//! Detects several threads that want something that only one of them can have at a time.

pub(crate) mod asleep;
pub(crate) mod barging;
pub(crate) mod cpus;
mod holders;
pub(crate) mod queueing;
mod queues;
pub(crate) mod short_locks;
pub(crate) mod tasks;
pub(crate) mod teams;

use crate::mechanisms::prelude::*;

/// Builds a finding about a lock, with what its waiters would save by running in parallel. Other reasons for
/// their waits can't be excluded. `most` is `at most ` if only an upper limit is known.
fn side_by_side(analysis: &Analysis<'_>, saving: f64, who_waits: &str, most: &str) -> Claim {
    let statement = format!(
        "{who_waits}; in parallel they would take {most}{} less, {} of the wall time.",
        time(saving),
        analysis.percent(saving),
    );
    Claim::new(FindingId::LockContention, analysis, saving, statement).likely()
}
