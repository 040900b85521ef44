//! Keeps freed memory in the process.

use crate::interventions::{Asks, Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "keep-memory",
    takes_away: "returning memory to the system: glibc's malloc keeps freed memory (MALLOC_TRIM_THRESHOLD_ and others)",
    needs: "a program that uses glibc's malloc",
    can_break: "the program may use more memory",
    findings: &[
        FindingId::AllocatorChurn,
        FindingId::PageFaultHeavy,
        FindingId::KernelBound,
    ],
    arrange,
    ..USUAL
};

/// This is large enough for what programs usually allocate at once, and small enough for any machine that
/// runs them.
const TOP_PAD: &str = "67108864";
const NEVER: &str = "17179869184";

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    if let Asks::For { finding, .. } = case.asks
        && finding.id == FindingId::KernelBound
        && !case
            .trace
            .syscalls
            .iter()
            .any(|row| row.name == "brk" || row.name == "munmap")
    {
        return Err("it returns no memory to the system".to_owned());
    }
    Ok(Change::setting("MALLOC_TRIM_THRESHOLD_", NEVER)
        .and("MALLOC_TOP_PAD_", TOP_PAD)
        .and("MALLOC_MMAP_MAX_", "0"))
}
