//! Makes math libraries use one thread.

use crate::interventions::{Asks, Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "one-math-thread",
    takes_away: "the threads of OpenMP and BLAS (OMP_NUM_THREADS=1 and similar)",
    needs: "a program that uses them",
    can_break: "sums of floating-point numbers may differ in their last digits",
    findings: &[
        FindingId::CpuStarved,
        FindingId::LockContention,
        FindingId::WakeupStorm,
        FindingId::BusyPolling,
        FindingId::ThreadSpawning,
    ],
    arrange,
    ..USUAL
};

/// Parts of the names of their libraries.
const LIBRARIES: [&str; 6] = ["libgomp", "libomp", "libiomp", "blas", "libmkl", "libblis"];

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    if case.trace.threads.len() <= case.trace.processes.len() {
        return Err("it has only one thread".to_owned());
    }
    let is_used = |path: &str| LIBRARIES.iter().any(|library| path.contains(library));
    let mut files = case.trace.files.iter().filter_map(|row| row.name.path());
    if let Asks::For { .. } = case.asks
        && !files.any(is_used)
    {
        return Err("it uses neither OpenMP nor BLAS, or is linked with it statically".to_owned());
    }
    let names = [
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ];
    let all = names.iter();
    Ok(all.fold(Change::default(), |change, name| change.and(name, "1")))
}
