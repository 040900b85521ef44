//! Binds functions when the program starts.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "bind-now",
    takes_away: "lazy binding of functions, at their first call (LD_BIND_NOW=1)",
    needs: "a dynamic program",
    findings: &[FindingId::DynamicLinking],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    match case.is_set("LD_BIND_NOW") {
        true => Err("LD_BIND_NOW is already set".to_owned()),
        false => Ok(Change::setting("LD_BIND_NOW", "1")),
    }
}
