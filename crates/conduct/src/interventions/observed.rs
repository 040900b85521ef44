//! Facts from an observed run that decide which interventions are possible.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_trace::{Trace, gives_rights};

/// The maximum number of files to compare; comparing more would take longer than the runs.
const MOST_FILES: usize = 1_000;

/// Returns the regular files that the command wrote, as paths from here; `Err` with a message if there are
/// too many.
pub(super) fn written(trace: &Trace, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let renames = |call: &str| call.starts_with("rename") || call.starts_with("link");
    let written = trace.files.iter().filter(|row| row.writes > 0);
    let written = written.filter_map(|row| row.name.path());
    let renamed = trace.paths.iter().filter(|row| renames(&row.call));
    let paths = written.chain(renamed.map(|row| row.path.as_str()));
    let files: BTreeSet<PathBuf> = paths
        .map(|path| folder.join(path))
        .filter(|path| !path.starts_with("/dev") && !path.starts_with("/proc"))
        .collect();
    match files.len() > MOST_FILES {
        true => Err(format!(
            "it writes more than {MOST_FILES} files, too many to compare"
        )),
        false => Ok(files.into_iter().collect()),
    }
}

/// Returns the regular files that the command only read, as paths from here, without those of the system:
/// programs, libraries and settings.
pub(super) fn read_on_disk(trace: &Trace, folder: &Path) -> Vec<PathBuf> {
    const OF_THE_SYSTEM: [&str; 7] = ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt"];
    let read = trace.files.iter().filter(|row| row.writes == 0);
    let paths = read.filter_map(|row| row.name.path());
    let files: BTreeSet<PathBuf> = paths.map(|path| folder.join(path)).collect();
    let is_own = |path: &PathBuf| {
        let mut system = OF_THE_SYSTEM.iter();
        path.is_file() && !system.any(|folder| path.starts_with(folder))
    };
    files.into_iter().filter(is_own).collect()
}

/// Returns a program of the tree whose file grants it privileges, which it would lose here.
pub(super) fn with_rights(trace: &Trace, folder: &Path) -> Option<PathBuf> {
    let programs = trace.processes.iter().flat_map(|process| &process.execs);
    let programs: BTreeSet<PathBuf> = programs.map(|exec| folder.join(&exec.path)).collect();
    let withheld = trace.without_rights.first().map(PathBuf::from);
    withheld.or_else(|| programs.into_iter().find(|path| gives_rights(path)))
}

/// Returns the time spent asleep in the selected calls, in nanoseconds.
pub(super) fn asleep_in(trace: &Trace, is_meant: impl Fn(&str) -> bool) -> u64 {
    let rows = trace.off_cpu.iter();
    let rows = rows.filter(|row| row.call.as_deref().is_some_and(&is_meant));
    rows.map(|row| row.total_ns).sum()
}

/// Returns the paths that calls with these names made durable: of all paths behind their descriptors, these
/// are folders and the files that the process wrote. Also returns whether this is known for every one of the
/// calls.
pub(super) fn made_durable<'t>(
    trace: &'t Trace,
    folder: &Path,
    is_meant: impl Fn(&str) -> bool,
) -> (BTreeSet<&'t str>, bool) {
    let mut paths = BTreeSet::new();
    let mut all_known = true;
    for row in trace
        .syscalls
        .iter()
        .filter(|row| row.calls > 0 && is_meant(&row.name))
    {
        let wrote = |path: &str| {
            let mut files = trace
                .files
                .iter()
                .filter(|file| file.pid == row.pid && file.writes > 0);
            files.any(|file| file.name.path() == Some(path)) || folder.join(path).is_dir()
        };
        let mut descriptors = trace.descriptors.iter();
        let descriptor = descriptors.find(|known| Some(known.fd) == row.fd && known.pid == row.pid);
        let names = descriptor.map_or(&[][..], |known| &known.names);
        let written: Vec<&str> = names
            .iter()
            .filter_map(|name| name.path())
            .filter(|path| wrote(path))
            .collect();
        all_known &= !written.is_empty() && descriptor.is_some_and(|known| known.more_names == 0);
        paths.extend(written);
    }
    (paths, all_known)
}

/// Reports whether files at the path are temporary: in a temporary folder, or in memory.
pub(super) fn is_scratch(path: &Path) -> bool {
    const FOLDERS: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run"];
    let own = std::env::temp_dir();
    // The file may no longer exist, nor may its folder.
    let Some(real) = path.ancestors().find_map(|part| part.canonicalize().ok()) else {
        return false;
    };
    let mut folders = FOLDERS.iter().map(Path::new).chain([own.as_path()]);
    folders.any(|folder| real.starts_with(folder.canonicalize().as_deref().unwrap_or(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{DescriptorKind, DescriptorRow, FileRow, SyscallRow};

    fn file(path: &str, writes: u64) -> FileRow {
        FileRow {
            name: DescriptorKind::File(path.to_owned()),
            writes,
            ..FileRow::default()
        }
    }

    #[test]
    fn files_that_are_only_read_or_no_files_are_not_compared() {
        let trace = Trace {
            files: vec![file("out", 1), file("in", 0), file("/dev/null", 3)],
            ..Trace::default()
        };
        let files = written(&trace, Path::new("/srv")).unwrap();
        assert_eq!(files, [PathBuf::from("/srv/out")]);
    }

    #[test]
    fn what_is_made_durable_is_known_by_its_descriptor() {
        let call = |fd| SyscallRow {
            pid: 1,
            name: "fsync".to_owned(),
            fd,
            calls: 2,
            ..SyscallRow::default()
        };
        let named = |path: &str| DescriptorKind::File(path.to_owned());
        let mut trace = Trace {
            syscalls: vec![call(Some(3))],
            descriptors: vec![DescriptorRow {
                pid: 1,
                fd: 3,
                // The descriptor number was used for the loader's file before.
                names: vec![named("/etc/ld.so.cache"), named("/tmp/a")],
                more_names: 0,
            }],
            files: [file("/etc/ld.so.cache", 0), file("/tmp/a", 7)]
                .map(|row| FileRow { pid: 1, ..row })
                .into(),
            ..Trace::default()
        };
        let durable = |trace: &Trace| {
            let (paths, all_known) = made_durable(trace, Path::new("/"), |name| name == "fsync");
            (
                paths.into_iter().map(str::to_owned).collect::<Vec<_>>(),
                all_known,
            )
        };
        assert_eq!(durable(&trace), (vec!["/tmp/a".to_owned()], true));
        trace.syscalls.push(call(None));
        assert!(!durable(&trace).1);
        trace.syscalls.clear();
        assert_eq!(durable(&trace), (Vec::new(), true));
    }

    #[test]
    fn scratch_is_where_files_are_for_now() {
        let own = std::env::temp_dir();
        assert!(is_scratch(&own.join("none/of/these")));
        assert!(is_scratch(&own));
        assert!(!is_scratch(Path::new("/usr/bin/env")));
        assert!(!is_scratch(Path::new("/no/such/folder/file")));
    }
}
