//! Lets the command's files lie in memory.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_measure::{Mount, try_mounts};
use fathom_model::FindingId;

use super::input_ready::is_named_pipe;
use crate::interventions::folder::{Disk, disk_of};
use crate::interventions::observed::{read_on_disk, written};
use crate::interventions::{Asks, Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "files-in-memory",
    takes_away: "the disk: the command's files lie on a tmpfs, in an overlay that only the command sees, and are \
         thrown away after each run",
    needs: "the right to mount, or user namespaces; a tmpfs with space for the files",
    can_break: "other programs don't see the files that the command writes, and a program that asks who owns a \
         file may see nobody",
    findings: &[
        FindingId::SyncWrites,
        FindingId::WaitingForDisk,
        FindingId::ColdFiles,
        FindingId::Rewriting,
    ],
    in_memory: true,
    arrange,
    ..USUAL
};

/// The maximum number of folders to mount and of files to copy.
const MOST_FOLDERS: usize = 16;
const MOST_FILES: usize = 200;
/// The maximum size of the files to copy, as a part of the free memory.
const MOST_OF_FREE: f64 = 0.25;

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let runs_in = case.folder_of_runs();
    let written = written(case.trace, &runs_in)?;
    let is_about_writing = match case.asks {
        Asks::For { finding, .. } => {
            matches!(finding.id, FindingId::SyncWrites | FindingId::Rewriting)
        }
        Asks::ByHand => false,
    };
    let read = match is_about_writing {
        true => Vec::new(),
        false => read_on_disk(case.trace, &runs_in),
    };
    let on_disk =
        |path: &PathBuf| (path.is_file() || !path.exists()) && disk_of(path) == Disk::Real;
    let touched: BTreeSet<PathBuf> = written
        .iter()
        .chain(&read)
        .filter_map(|path| real(path))
        .filter(on_disk)
        .collect();
    let folders = highest(touched.iter().filter_map(|path| path.parent()));
    if folders.is_empty() {
        return Err("it was not seen to use files on a disk".to_owned());
    }
    if let Some(folder) = folders.iter().find(|folder| holds_a_mount(folder)) {
        return Err(format!("{} contains other mounts", folder.display()));
    }
    let mut named = case.trace.files.iter().filter_map(|row| row.name.path());
    let is_pipe = |path: &str| {
        let path = runs_in.join(path);
        is_named_pipe(&path) && folders.iter().any(|folder| path.starts_with(folder))
    };
    if let Some(pipe) = named.find(|path| is_pipe(path)) {
        return Err(format!("the other end of {pipe} wouldn't be there"));
    }
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |about| about.len());
    let bytes: u64 = touched.iter().map(size).sum();
    if folders.len() > MOST_FOLDERS
        || touched.len() > MOST_FILES
        || bytes as f64 > MOST_OF_FREE * free(case.folder) as f64
    {
        return Err("its files are too many or too large for memory".to_owned());
    }
    let mut change = Change::default();
    let mut lines = Vec::new();
    for (number, folder) in folders.iter().enumerate() {
        let place = case.folder.join(format!("files{number}"));
        let part = |name: &str| place.join(name);
        for name in ["written", "aside", "idle", "idle-written", "idle-aside"] {
            std::fs::create_dir_all(part(name)).map_err(|error| error.to_string())?;
        }
        let overlay = |written, aside, target: &Path| {
            Mount::overlay(folder, &part(written), &part(aside), target)
        };
        change.mounts.push(overlay("written", "aside", folder));
        let idle = overlay("idle-written", "idle-aside", &part("idle"));
        change.idle_mounts.push(idle);
        lines.push(refill(&place, folder, &touched)?);
        change.written.push((folder.clone(), part("written")));
    }
    try_mounts(&change.mounts, &runs_in)
        .map_err(|error| format!("it may not have mounts of its own here ({error})"))?;
    change.before = Some(lines.join(" && "));
    Ok(change)
}

/// Returns a command line that empties the folders of an overlay and copies the files of `folder` there, as
/// they are before the run.
fn refill(place: &Path, folder: &Path, touched: &BTreeSet<PathBuf>) -> Result<String, String> {
    let text = |path: &Path| {
        let text = path.to_str().map(str::to_owned);
        text.ok_or("a file's name is not valid UTF-8".to_owned())
    };
    let emptied = ["written", "aside"].map(|name| place.join(name));
    let [written, aside] = [text(&emptied[0])?, text(&emptied[1])?];
    let mut script = shell_words::join(["rm", "-rf", "--", &written, &aside]);
    script += " && ";
    script += &shell_words::join(["mkdir", "--", &written, &aside]);
    for file in touched
        .iter()
        .filter_map(|path| path.strip_prefix(folder).ok())
    {
        let (from, below) = (text(&folder.join(file))?, text(file)?);
        let test = shell_words::join(["test", "-f", &from]);
        let copy = shell_words::join(["cp", "-p", "--parents", "--", &below, &written]);
        script += &format!(" && {{ ! {test} || {copy}; }}");
    }
    let enter = shell_words::join(["cd", "--", &text(folder)?]);
    Ok(format!("({enter} && {script})"))
}

/// Returns the path without symbolic links; the last part need not exist.
fn real(path: &Path) -> Option<PathBuf> {
    let found = path.canonicalize().ok();
    found.or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
}

/// Returns the folders that don't lie in another one of them.
fn highest<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let mut highest: Vec<PathBuf> = Vec::new();
    // A folder comes before what it contains.
    for folder in folders.collect::<BTreeSet<&Path>>() {
        if !highest.iter().any(|above| folder.starts_with(above)) {
            highest.push(folder.to_path_buf());
        }
    }
    highest
}

/// Reports whether something is mounted below this folder: an overlay wouldn't show it.
fn holds_a_mount(folder: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let mut points = points.map(|point| PathBuf::from(point.replace("\\040", " ")));
    points.any(|point| point != folder && point.starts_with(folder))
}

/// Returns the free bytes where this folder lies.
fn free(folder: &Path) -> u64 {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_bytes()) else {
        return 0;
    };
    // SAFETY: a structure of numbers, which the call fills in for a path that ends with zero.
    let (failed, about) = unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut about), about)
    };
    match failed {
        0 => about.f_bavail.saturating_mul(about.f_frsize),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_others_are_left_out() {
        let all = ["/a/b/c", "/a/b", "/d", "/a/bc"].map(Path::new);
        let found = highest(all.into_iter());
        assert_eq!(found, ["/a/b", "/a/bc", "/d"].map(PathBuf::from));
    }

    #[test]
    fn a_folder_with_another_mount_is_known() {
        assert!(holds_a_mount(Path::new("/")));
        let own = tempfile::tempdir().unwrap();
        assert!(!holds_a_mount(own.path()));
    }

    #[test]
    fn what_exists_is_copied_before_each_run() {
        let folder = tempfile::tempdir().unwrap();
        let place = tempfile::tempdir().unwrap();
        let (of, at) = (folder.path(), place.path().join("x y"));
        std::fs::create_dir_all(of.join("a")).unwrap();
        std::fs::create_dir(&at).unwrap();
        std::fs::write(of.join("a/b c"), "text").unwrap();
        let touched = ["a/b c", "none"].map(|name| of.join(name)).into();
        let line = refill(&at, of, &touched).unwrap();
        for _ in 0..2 {
            let done = std::process::Command::new("sh")
                .args(["-c", &line])
                .status();
            assert!(done.unwrap().success(), "{line}");
            let copied = std::fs::read_to_string(at.join("written/a/b c"));
            assert_eq!(copied.unwrap(), "text");
            std::fs::write(at.join("written/left"), "").unwrap();
        }
        assert!(!at.join("written/none").exists());
    }
}
