//! Gives Python compiled modules.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_diagnose::Language;
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "python-bytecode",
    takes_away: "compiling Python modules at each start (PYTHONPYCACHEPREFIX, with a filled cache)",
    needs: "a program in Python",
    findings: &[
        FindingId::StartupDominated,
        FindingId::SmallFileIo,
        FindingId::UnoptimisedBuild,
    ],
    shows_at_once: false,
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    case.needs(Language::Python, "Python")?;
    Ok(Change {
        unset: vec!["PYTHONDONTWRITEBYTECODE".into()],
        ..Change::setting("PYTHONPYCACHEPREFIX", case.folder.join("pycache"))
    })
}
