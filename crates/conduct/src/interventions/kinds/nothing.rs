//! Nothing is taken away: how often is a difference claimed that isn't there?

use crate::interventions::{Case, Change, Intervention, Takes};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "nothing",
    takes_away: "nothing: how often would a difference be claimed that is none?",
    needs: "nothing",
    can_break: "nothing",
    findings: &[],
    takes: Takes::All,
    looks: 0,
    arrange,
};

fn arrange(_: &Case<'_>) -> Result<Change, String> {
    Ok(Change::setting("FATHOM_NOTHING", "1"))
}
