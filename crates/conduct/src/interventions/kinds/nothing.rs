//! Changes nothing; this shows how often a nonexistent difference is claimed.

use crate::interventions::{Case, Change, Intervention, Takes, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "nothing",
    takes_away: "nothing: this shows how often a difference is claimed although nothing changed",
    can_break: "nothing",
    findings: &[],
    takes: Takes::All,
    arrange,
    ..USUAL
};

fn arrange(_: &Case<'_>) -> Result<Change, String> {
    Ok(Change::setting("FATHOM_NOTHING", "1"))
}
