//! Replaces the user's locale with the C locale.

use crate::interventions::{Asks, Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "c-locale",
    takes_away: "the locale: text is sorted and matched by bytes, and messages are not translated (LC_ALL=C)",
    needs: "a locale other than C",
    can_break: "its output, if sorting or formatting depends on the locale",
    findings: &[FindingId::MissingFileLookups, FindingId::StartupDominated],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let names = ["LC_ALL", "LC_CTYPE", "LC_COLLATE", "LANG"];
    let own = names
        .iter()
        .find_map(|name| case.variable(name).filter(|value| !value.is_empty()));
    let mut paths = case.trace.paths.iter();
    if let Asks::For { .. } = case.asks
        && !paths.any(|row| row.path.contains("/locale"))
    {
        return Err("it was not seen to read a locale".to_owned());
    }
    match own {
        Some(own) if own != "C" && own != "POSIX" => Ok(Change::setting("LC_ALL", "C")),
        _ => Err("its locale is already C".to_owned()),
    }
}
