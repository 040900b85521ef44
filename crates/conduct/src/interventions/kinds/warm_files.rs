//! Brings the files that the command reads into memory before it starts.

use std::path::{Path, PathBuf};

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "warm-files",
    takes_away: "reading from the disk: the files that the command reads are read once before each run, after --prepare",
    needs: "regular files",
    findings: &[FindingId::ColdFiles, FindingId::WaitingForDisk],
    arrange,
    ..USUAL
};

/// The maximum number of files; with more, the command line would be too long.
const MOST_FILES: usize = 200;

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let folder = case.folder_of_runs();
    let read = case.trace.files.iter().filter(|row| row.written_bytes == 0);
    let paths = read.filter_map(|row| row.name.path()).map(Path::new);
    let paths = paths.chain(case.programs().map(|exec| Path::new(&exec.path)));
    let input = match &case.target.command.input {
        fathom_measure::Input::File(path) => {
            Some(std::env::current_dir().unwrap_or_default().join(path))
        }
        fathom_measure::Input::Null => None,
    };
    let mut files: Vec<PathBuf> = paths.map(|path| folder.join(path)).chain(input).collect();
    files.sort_unstable();
    files.dedup();
    files.retain(|file| file.is_file() && !file.starts_with("/proc") && !file.starts_with("/sys"));
    files.truncate(MOST_FILES);
    if files.is_empty() {
        return Err("it is not known which files it reads".to_owned());
    }
    let names = files.iter().filter_map(|file| file.to_str());
    let line = shell_words::join(["cat", "--"].into_iter().chain(names));
    Ok(Change {
        before: Some(format!("{line} > /dev/null")),
        ..Change::default()
    })
}
