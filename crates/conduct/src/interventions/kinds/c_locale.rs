//! Replaces the user's locale with the C locale.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "c-locale",
    takes_away: "the locale: sorting, matching and messages by bytes (LC_ALL=C)",
    needs: "a locale that is not C",
    can_break: "its output, where it sorts or prints by locale",
    findings: &[FindingId::MissingFileLookups, FindingId::StartupDominated],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let names = ["LC_ALL", "LC_CTYPE", "LC_COLLATE", "LANG"];
    let own = names
        .iter()
        .find_map(|name| case.variable(name).filter(|value| !value.is_empty()));
    match own {
        Some(own) if own != "C" && own != "POSIX" => Ok(Change::setting("LC_ALL", "C")),
        _ => Err("its locale is C already".to_owned()),
    }
}
