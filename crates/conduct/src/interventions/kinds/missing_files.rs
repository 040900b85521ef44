//! Answers repeated lookups of missing files, using a library that comes with Fathom.

use fathom_model::FindingId;

use super::join_calls::preloaded;
use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "known-missing",
    takes_away: "repeated lookups of missing files: a library answers for up to 0.3 s what failed before (LD_PRELOAD)",
    needs: "a dynamically linked program that makes its calls through the C library",
    can_break: "a file that another process creates is seen up to 0.3 s later",
    findings: &[FindingId::MissingFileLookups],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    Ok(preloaded(case)?.and("FATHOM_PRELOAD", "lookups"))
}
