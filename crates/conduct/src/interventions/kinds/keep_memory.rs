//! Keeps freed memory in the process.

use super::join_calls::preloaded;
use crate::interventions::{Asks, Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "keep-memory",
    takes_away: "returning memory to the system: glibc's malloc keeps it (MALLOC_TRIM_THRESHOLD_ and others), and a \
         library keeps areas that the program unmaps (LD_PRELOAD)",
    needs: "a program that uses glibc's malloc, or that maps memory through the C library",
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
            .any(|row| matches!(&*row.name, "brk" | "munmap" | "madvise"))
    {
        return Err("it returns no memory to the system".to_owned());
    }
    let kept = preloaded(case).map(|change| change.and("FATHOM_PRELOAD", "memory"));
    Ok(kept
        .unwrap_or_default()
        .and("MALLOC_TRIM_THRESHOLD_", NEVER)
        .and("MALLOC_TOP_PAD_", TOP_PAD)
        .and("MALLOC_MMAP_MAX_", "0"))
}
