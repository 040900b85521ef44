//! One after the other, or one of several CPUs.

pub(crate) mod children;
pub(crate) mod processes;
pub(crate) mod threads;

use fathom_model::FindingId;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::numbers::time;

/// A claim on what those save that share the work if each has an equal part. `who_works`: and on
/// how many CPUs.
fn evenly(analysis: &Analysis<'_>, saving: f64, who_works: &str) -> Claim {
    let statement = format!(
        "{who_works}; spread evenly, the run would be {} shorter, {} of the wall time.",
        time(saving),
        analysis.percent(saving),
    );
    Claim::new(FindingId::IdleCores, analysis, saving, statement).likely()
}
