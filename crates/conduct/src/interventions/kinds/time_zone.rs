//! Names the time zone, so that the program doesn't look it up repeatedly.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "time-zone",
    takes_away: "checking /etc/localtime at each conversion to local time (TZ=:/etc/localtime)",
    needs: "TZ not set",
    findings: &[
        FindingId::Rereading,
        FindingId::SmallFileIo,
        FindingId::MissingFileLookups,
        FindingId::KernelBound,
    ],
    arrange,
    ..USUAL
};

const FILE: &str = "/etc/localtime";

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    if case.is_set("TZ") {
        return Err("TZ is already set".to_owned());
    }
    let asked = case.trace.paths.iter().filter(|row| row.path == FILE);
    if asked.map(|row| row.samples).sum::<u64>() == 0 {
        return Err(format!("it does not read {FILE}"));
    }
    Ok(Change::setting("TZ", format!(":{FILE}")))
}
