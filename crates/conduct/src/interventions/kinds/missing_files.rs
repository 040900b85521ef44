//! Answers repeated lookups of files, using a library that comes with Fathom.

use fathom_model::FindingId;
use fathom_trace::Trace;

use super::join_calls::preloaded;
use crate::interventions::{Asks, Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "known-missing",
    takes_away: "repeated lookups: for up to 0.3 s, a library answers that a file is missing, and what stat said about \
         one that wasn't changed lately (LD_PRELOAD)",
    needs: "a dynamically linked program that makes its calls through the C library",
    can_break: "what another process creates or changes is seen up to 0.3 s later",
    findings: &[FindingId::MissingFileLookups, FindingId::KernelBound],
    arrange,
    ..USUAL
};

const LOOKUPS: [&str; 7] = [
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
];

/// Returns the call that takes the most time in the kernel.
fn longest_call(trace: &Trace) -> Option<&str> {
    let rows = trace.syscalls.iter();
    let longest =
        rows.max_by_key(|row| row.total_ns - row.blocked_ns.unwrap_or(0).min(row.total_ns));
    longest.map(|row| row.name.as_str())
}

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    if let Asks::For { finding, .. } = case.asks
        && finding.id == FindingId::KernelBound
        && !longest_call(case.trace).is_some_and(|name| LOOKUPS.contains(&name))
    {
        return Err("it spends its time in other calls than lookups".to_owned());
    }
    Ok(preloaded(case)?.and("FATHOM_PRELOAD", "lookups"))
}
