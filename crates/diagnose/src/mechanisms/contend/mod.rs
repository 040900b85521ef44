//! Detects several threads that want something that only one of them can have at a time.

pub(crate) mod asleep;
pub(crate) mod barging;
pub(crate) mod behind;
pub(crate) mod cpus;
pub(crate) mod dead;
mod holders;
pub(crate) mod queueing;
mod queues;
pub(crate) mod short_locks;
pub(crate) mod starved;
pub(crate) mod tasks;
pub(crate) mod teams;

use crate::mechanisms::prelude::*;

/// Builds a finding about a lock, with what its waiters would save by running in parallel. Other reasons for
/// their waits can't be excluded. `most` is `at most ` if only an upper limit is known.
pub(super) fn side_by_side(
    analysis: &Analysis<'_>,
    saving: f64,
    who_waits: &str,
    most: &str,
) -> Claim {
    let statement = format!(
        "{who_waits}; in parallel they would take {most}{} less, {} of the wall time.",
        time(saving),
        analysis.percent(saving),
    );
    Claim::new(FindingId::LockContention, analysis, saving, statement).likely()
}

/// How long a thread waited for locks. A thread that was woken for a lock and has no CPU yet still waits
/// because of the lock, however busy the machine is.
struct Locks {
    ns: f64,
    /// The time of the thread without its other waits for a CPU, of which this is a part.
    of_ns: f64,
    /// The part of it after wake-ups.
    delayed_ns: f64,
}

impl Locks {
    fn of(analysis: &Analysis<'_>, times: &ThreadTimes) -> Self {
        let locks = |call| calls::is_lock(call) || calls::is_file_lock(call);
        let delays = analysis
            .off_rows_of(times.tid)
            .filter(|row| row.cause == Cause::Ready && row.call.as_deref().is_some_and(locks));
        let ready = times.sums.get(TimeCategory::Ready);
        let delayed_ns = delays
            .map(|row| row.total_ns as f64)
            .sum::<f64>()
            .min(ready);
        Self {
            ns: times.sums.get(TimeCategory::Locks) + delayed_ns,
            of_ns: times.ns() - ready + delayed_ns,
            delayed_ns,
        }
    }
}
