//! Lets threads run on all CPUs, although the program binds them to some.

use fathom_measure::Answered;
use fathom_model::{FindingId, Metric};

use crate::interventions::{Asks, Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "free-cpus",
    takes_away: "binding threads to CPUs: sched_setaffinity does nothing",
    needs: "no privileges; works for static programs too",
    can_break: "threads move between CPUs",
    findings: &[FindingId::CpuStarved, FindingId::IdleCores],
    metric: Some(Metric::Wall),
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let mut calls = case.trace.syscalls.iter();
    if let Asks::For { .. } = case.asks
        && !calls.any(|row| row.name == "sched_setaffinity")
    {
        return Err("it binds no threads to CPUs".to_owned());
    }
    Ok(Change {
        calls: Some(Answered::BINDINGS),
        ..Change::default()
    })
}
