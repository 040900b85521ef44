//! Several want what only one can have.

pub(crate) mod asleep;
pub(crate) mod barging;
pub(crate) mod cpus;
mod holders;
pub(crate) mod queueing;
mod queues;
pub(crate) mod short_locks;
pub(crate) mod tasks;
pub(crate) mod teams;

use fathom_model::FindingId;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::numbers::time;

/// A finding about a lock: what those save who wait for it if they work side by side. Another
/// reason for their waits can't be left out. `most`: `at most ` where that is all that is known.
fn side_by_side(analysis: &Analysis<'_>, saving: f64, who_waits: &str, most: &str) -> Claim {
    let statement = format!(
        "{who_waits}; side by side they would take {most}{} less, {} of the wall time.",
        time(saving),
        analysis.percent(saving),
    );
    Claim::new(FindingId::LockContention, analysis, saving, statement).likely()
}
