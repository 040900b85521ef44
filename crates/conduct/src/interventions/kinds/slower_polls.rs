//! Holds each call of a loop that polls for a moment.

use std::time::Duration;

use fathom_model::{FindingId, Metric};

use crate::interventions::{Asks, Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "slower-polls",
    takes_away: "most CPU time of a loop that polls: Fathom holds its most frequent call for 0.1 ms each time",
    needs: "a loop that makes system calls; works for static programs too",
    can_break: "the same call is also slower where it is useful",
    findings: &[FindingId::BusyPolling],
    metric: Some(Metric::Cpu),
    arrange,
    ..USUAL
};

const HELD: Duration = Duration::from_micros(100);
/// A loop makes at least this many calls in a run.
const LEAST_CALLS: u64 = 1_000;

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let thread = match case.asks {
        Asks::For { finding, .. } if finding.could_win_cpu_ns == 0 => {
            return Err("the loop costs no other time than the command's".to_owned());
        }
        Asks::For { finding, .. } => finding.place.tid,
        Asks::ByHand => None,
    };
    let rows = case.trace.syscalls.iter();
    let rows = rows.filter(|row| thread.is_none_or(|tid| tid == row.tid) && !row.by_32_bit_entry());
    let call = rows
        .max_by_key(|row| row.calls)
        .filter(|row| row.calls >= LEAST_CALLS)
        .ok_or("its loop makes no system calls that could be held")?;
    Ok(Change {
        held: Some((call.number, HELD)),
        ..Change::default()
    })
}
