//! Makes all threads allocate from one arena.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "one-arena",
    takes_away: "separate memory arenas for threads (MALLOC_ARENA_MAX=1)",
    needs: "a multithreaded program that uses glibc's malloc",
    can_break: "threads may wait for each other's allocations",
    findings: &[FindingId::PageFaultHeavy],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    match case.trace.threads.len() > case.trace.processes.len() {
        true => Ok(Change::setting("MALLOC_ARENA_MAX", "1")),
        false => Err("it has only one thread".to_owned()),
    }
}
