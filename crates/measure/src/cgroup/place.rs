//! Locates the control groups of this process.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The maximum number of groups to search if this process's group can be identified only by its processes.
const MOST_SEARCHED: usize = 4096;

/// Returns the folders of this process's group and its ancestors, as far as they are mounted, in the
/// hierarchy with this controller: that of version 1 if present, otherwise that of version 2.
pub(super) fn own_and_above(root: &Path, controller: &str) -> Option<Vec<PathBuf>> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let own = |fits: &dyn Fn(&str) -> bool| {
        // `4:cpu,cpuacct:/a/b`, and `0::/a/b` in version 2.
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            fits(controllers).then_some(path)
        })
    };
    let first = own(&|controllers| has(controllers, controller));
    let second = own(&|controllers| controllers.is_empty());
    let found = |own: Option<&str>, is_right: &dyn Fn(&Mount) -> bool| {
        let own = own?;
        let mut mounts = mounts.lines().filter_map(Mount::parse).filter(is_right);
        mounts.find_map(|mount| mount.groups(root, own))
    };
    let is_first = |mount: &Mount| mount.kind == "cgroup" && has(mount.options, controller);
    found(first, &is_first).or_else(|| found(second, &|mount| mount.kind == "cgroup2"))
}

fn has(list: &str, name: &str) -> bool {
    list.split(',').any(|one| one == name)
}

/// A line of `mountinfo`.
struct Mount<'a> {
    /// The root of the mount within the file system: the hierarchy below this group.
    shown: String,
    point: String,
    kind: &'a str,
    options: &'a str,
}

impl Mount<'_> {
    fn parse(line: &str) -> Option<Mount<'_>> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        // Spaces are written as `\040`.
        let mut path = || Some(before.next()?.replace("\\040", " "));
        let (shown, point) = (path()?, path()?);
        let mut after = after.split(' ');
        Some(Mount {
            shown,
            point,
            kind: after.next()?,
            options: after.nth(1)?,
        })
    }

    /// Returns the folders of this process's group and its ancestors; `own` is the group's path from
    /// `/proc/self/cgroup`.
    fn groups(&self, root: &Path, own: &str) -> Option<Vec<PathBuf>> {
        let point = root.join(self.point.trim_start_matches('/'));
        let folder = own_folder(&point, &self.shown, own)?;
        let above = folder.ancestors();
        Some(
            above
                .take_while(|at| at.starts_with(&point))
                .map(Path::to_path_buf)
                .collect(),
        )
    }
}

/// Returns the folder of this process's group in the mount at `point`, if it is visible there. The paths
/// `shown` and `own` are relative to the root of this process's namespace, and begin with `..` for groups
/// outside of it.
fn own_folder(point: &Path, shown: &str, own: &str) -> Option<PathBuf> {
    let mut shown = parts(shown);
    let mut own = parts(own);
    let common = shown.iter().zip(&own).take_while(|(a, b)| a == b).count();
    shown.drain(..common);
    own.drain(..common);
    let is_up = |part: &&Component| **part == Component::ParentDir;
    // This process's group is outside of the mount, or the mount shows a different part.
    if own.iter().any(|part| is_up(&part)) || !shown.iter().all(|part| is_up(&part)) {
        return None;
    }
    let below: PathBuf = own.iter().collect();
    match shown.len() {
        0 => Some(point.join(below)).filter(|folder| folder.is_dir()),
        // The mount was created outside of the namespace: it also shows groups above the namespace's root,
        // whose names are unknown.
        depth => {
            let mut left = MOST_SEARCHED;
            search(point, depth, &below, &mut left)
        }
    }
}

fn parts(path: &str) -> Vec<Component<'_>> {
    let parts = Path::new(path).components();
    parts.filter(|part| *part != Component::RootDir).collect()
}

/// Finds this process's group at the path `below` in some folder that is `depth` levels below `folder`.
fn search(folder: &Path, depth: usize, below: &Path, left: &mut usize) -> Option<PathBuf> {
    if depth == 0 {
        return Some(folder.join(below)).filter(|group| holds_this_process(group));
    }
    for entry in fs::read_dir(folder).ok()?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            *left = left.checked_sub(1)?;
            if let Some(found) = search(&entry.path(), depth - 1, below, left) {
                return Some(found);
            }
        }
    }
    None
}

fn holds_this_process(group: &Path) -> bool {
    let own = std::process::id().to_string();
    let processes = fs::read_to_string(group.join("cgroup.procs"));
    processes.is_ok_and(|text| text.lines().any(|line| line == own))
}
