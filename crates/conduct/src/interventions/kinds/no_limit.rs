//! Runs the command in control groups without limits.

use std::path::Path;

use fathom_measure::cgroup::limiting;
use fathom_model::{FindingId, Metric};

use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "no-limit",
    takes_away: "the limits of CPU time and memory of Fathom's own control groups: the command runs in a new group \
         beside them",
    needs: "the right to create a control group above the one with the limit",
    can_break: "it takes CPU time and memory that were reserved for others",
    findings: &[
        FindingId::CpuStarved,
        FindingId::ColdFiles,
        FindingId::WaitingForDisk,
    ],
    metric: Some(Metric::Wall),
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let found = limiting(Path::new("/"))?;
    let name = case.folder.file_name().unwrap_or_default();
    let new: Vec<_> = found.above.iter().map(|above| above.join(name)).collect();
    // The folder's remover removes the groups that are listed there.
    let list: String = new
        .iter()
        .map(|group| format!("{}\n", group.display()))
        .collect();
    std::fs::write(case.folder.join("groups"), list).map_err(|error| error.to_string())?;
    for group in &new {
        std::fs::create_dir(group)
            .map_err(|error| format!("no control group can be created there ({error})"))?;
    }
    Ok(Change {
        groups: [found.own, new],
        ..Change::default()
    })
}
