//! Makes calls that wait for data to reach the disk return immediately.

use std::path::Path;

use fathom_measure::Answered;
use fathom_model::FindingId;

use crate::interventions::Asks;
use crate::interventions::observed::{is_scratch, made_durable};
use crate::interventions::{Case, Change, Intervention, Takes, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "no-fsync",
    takes_away: "durability: fsync, fdatasync, sync_file_range, msync, syncfs and sync do nothing",
    needs: "no privileges; works for static programs too, but not for files opened with O_SYNC",
    can_break: "data written by the runs may be lost if the machine fails during them",
    findings: &[FindingId::SyncWrites, FindingId::WaitingForDisk],
    takes: Takes::All,
    arrange,
    ..USUAL
};

/// The calls to answer.
const CALLS: [&str; 6] = [
    "fsync",
    "fdatasync",
    "sync_file_range",
    "msync",
    "syncfs",
    "sync",
];

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let is_meant = |call: &str| CALLS.contains(&call);
    if let Asks::For { all, .. } = case.asks {
        if !case.trace.syscalls.iter().any(|row| is_meant(&row.name)) {
            return Err("it waits for the disk in calls other than fsync".to_owned());
        }
        let folder = case.target.command.folder();
        let (files, all_known) = made_durable(case.trace, folder, is_meant);
        let durable = files.iter().find(|file| !is_scratch(&folder.join(file)));
        if let (false, Some(durable)) = (all, durable) {
            return Err(format!(
                "its fsync makes {} durable, which is not in a folder for temporary files; --prove=all tries it \
                 anyway",
                Path::new(durable).display()
            ));
        }
        if !all && !all_known {
            return Err(
                "it is not known which files its fsync makes durable; --prove=all tries it anyway"
                    .to_owned(),
            );
        }
    }
    Ok(Change {
        calls: Some(Answered::SYNCS),
        ..Change::default()
    })
}
