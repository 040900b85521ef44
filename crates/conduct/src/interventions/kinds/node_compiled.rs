//! Gives Node compiled modules.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_diagnose::Language;
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "node-compiled",
    takes_away: "compiling JavaScript modules at each start (NODE_COMPILE_CACHE, with a filled cache)",
    needs: "Node 22.1 or later",
    findings: &[FindingId::StartupDominated],
    shows_at_once: false,
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    case.needs(Language::Node, "Node")?;
    Ok(Change::setting(
        "NODE_COMPILE_CACHE",
        case.folder.join("node"),
    ))
}
