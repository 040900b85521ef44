//! Detects work that runs sequentially, or on only one of several CPUs.

pub(crate) mod children;
pub(crate) mod processes;
pub(crate) mod requests;
pub(crate) mod threads;

use crate::mechanisms::prelude::*;

/// Builds a claim about the saving if the work were shared equally. `who_works` says who does the work, and
/// on how many CPUs.
fn evenly(analysis: &Analysis<'_>, saving: f64, who_works: &str) -> Claim {
    let statement = format!(
        "{who_works}; with the work spread evenly, the run would be {} shorter, {} of the wall time.",
        time(saving),
        analysis.percent(saving),
    );
    Claim::new(FindingId::IdleCores, analysis, saving, statement).likely()
}
