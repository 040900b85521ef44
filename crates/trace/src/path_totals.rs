//! The paths on which calls spent their time.
//!
//! The rows are derived from calls that were chosen by their time, so they are estimated shares. The totals
//! of all calls of a kind are known exactly, and the rows are scaled to them. The number of rows is bounded:
//! paths beyond the largest ones are merged by what they have in common.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::calls;
use crate::result::{PathRow, SyscallRow};

/// Maximum number of rows with a single path.
const MOST_ROWS: usize = 1_000;
/// Maximum number of rows kept at each step that merges the rest.
const MOST_OF_A_STEP: usize = 250;
/// Maximum number of different paths that are collected, which take 3 MB. A run has from a few thousand to
/// about ten thousand samples.
const MOST_GATHERED: usize = 20_000;
/// Minimum number of samples of a call for them to represent all such calls of a process.
const ENOUGH: u64 = 16;
/// Number of folders of a path that remain after the last step but one.
const FOLDERS_LEFT: usize = 2;

/// Observations of one path.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    samples: u64,
    ns: f64,
    calls: f64,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.ns += other.ns;
        self.calls += other.calls;
    }
}

/// The process, the call and the path.
type Key = (u32, u32, Arc<str>);

/// Time and calls by path.
#[derive(Debug, Default)]
pub(crate) struct PathTotals {
    by_path: HashMap<Key, Seen>,
}

impl PathTotals {
    /// Adds a call of `pid` that represents `ns` of calls with a path, and itself took `took` ns.
    pub(crate) fn add(&mut self, pid: u32, nr: u32, path: &Arc<str>, ns: u64, took: u64) {
        let seen = Seen {
            samples: 1,
            ns: ns as f64,
            // The number of calls of this duration that fit into the time that this one represents.
            calls: ns as f64 / took.max(1) as f64,
        };
        let room = self.by_path.len() < MOST_GATHERED;
        match self.by_path.entry((pid, nr, path.clone())) {
            Entry::Occupied(mut there) => there.get_mut().add(seen),
            Entry::Vacant(place) if room => _ = place.insert(seen),
            Entry::Vacant(_) => {
                let beyond = (pid, nr, Arc::from(ANY));
                self.by_path.entry(beyond).or_default().add(seen);
            }
        }
    }

    /// Returns the rows, most time first. `exact` has the totals of all calls.
    pub(crate) fn rows(self, exact: &[SyscallRow]) -> Vec<PathRow> {
        let mut estimated: HashMap<(u32, u32), Seen> = HashMap::new();
        for ((pid, nr, _), seen) in &self.by_path {
            estimated.entry((*pid, *nr)).or_default().add(*seen);
        }
        let mut known: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
        for row in exact {
            let sum = known.entry((row.pid, row.number)).or_default();
            sum.0 += row.calls;
            sum.1 += row.total_ns.saturating_sub(row.ready_ns.unwrap_or(0));
        }
        let scaled = self.by_path.into_iter().filter_map(|(key, seen)| {
            let of_kind = (key.0, key.1);
            let (calls, ns) = known.get(&of_kind)?;
            let all = estimated[&of_kind];
            // A few samples don't show the paths of all other calls.
            let scaled = match all.samples >= ENOUGH {
                true => Seen {
                    calls: seen.calls * *calls as f64 / all.calls,
                    ns: seen.ns * *ns as f64 / all.ns,
                    ..seen
                },
                false => Seen {
                    calls: seen.calls.min(*calls as f64),
                    ns: seen.ns.min(*ns as f64),
                    ..seen
                },
            };
            Some((key, scaled))
        });
        let mut rows: Vec<(Key, Seen)> = sorted(scaled.collect());
        let mut kept = Vec::new();
        for step in STEPS {
            let most = if kept.is_empty() {
                MOST_ROWS
            } else {
                MOST_OF_A_STEP
            };
            let beyond = rows.split_off(rows.len().min(most));
            kept.append(&mut rows);
            rows = merged(beyond, step);
        }
        kept.append(&mut rows);
        sorted(kept).into_iter().map(row).collect()
    }
}

/// Returns the path with `..` resolved by name only: a program that walks a tree by `..` has hundreds of such
/// paths. If a component is a link, `..` leads to another folder; this isn't checked here.
pub(crate) fn without_steps_up(path: &str) -> Cow<'_, str> {
    const UP: &str = "..";
    if !path.split('/').any(|name| name == UP) {
        return path.into();
    }
    let mut left: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match left.last() {
            // The parent of the root is the root.
            Some(&"") if name == UP && left.len() == 1 => {}
            Some(before) if name == UP && *before != UP => _ = left.pop(),
            _ => left.push(name),
        }
    }
    match left[..] {
        [""] => "/".into(),
        [] => ".".into(),
        _ => left.join("/").into(),
    }
}

/// Stands for any path.
const ANY: &str = "**";

/// Maps a key to one shared by more paths.
type Step = fn(Key) -> Key;

/// The steps in order, each coarser than the one before.
const STEPS: [Step; 4] = [
    |(pid, nr, path)| (pid, nr, without_digits(&path).into()),
    |(pid, nr, path)| (pid, nr, by_ending(&path).into()),
    |(pid, nr, path)| (pid, nr, by_folder(&path).into()),
    |(pid, nr, _)| (pid, nr, ANY.into()),
];

/// Merges rows whose keys are equal after a step.
fn merged(rows: Vec<(Key, Seen)>, step: Step) -> Vec<(Key, Seen)> {
    let mut by_key: HashMap<Key, Seen> = HashMap::new();
    for (key, seen) in rows {
        by_key.entry(step(key)).or_default().add(seen);
    }
    sorted(by_key.into_iter().collect())
}

/// Sorts by time, most first.
fn sorted(mut rows: Vec<(Key, Seen)>) -> Vec<(Key, Seen)> {
    rows.sort_by(|(a, of_a), (b, of_b)| of_b.ns.total_cmp(&of_a.ns).then_with(|| a.cmp(b)));
    rows
}

fn row(((pid, nr, path), seen): (Key, Seen)) -> PathRow {
    PathRow {
        pid,
        call: calls::name(nr),
        path: path.to_string(),
        calls: seen.calls.round().max(1.0) as u64,
        ns: seen.ns.round() as u64,
        samples: seen.samples,
    }
}

/// Replaces each run of digits by `#`.
fn without_digits(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for letter in path.chars() {
        match letter.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(letter),
        }
    }
    out
}

/// Returns the folder and the name's extension.
fn by_ending(path: &str) -> String {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return path.to_owned();
    };
    match name.rsplit_once('.') {
        Some((front, ending)) if !front.is_empty() => format!("{folder}/*.{ending}"),
        _ => format!("{folder}/*"),
    }
}

/// Returns the first folders of a path.
fn by_folder(path: &str) -> String {
    let below = path.strip_prefix('/').unwrap_or(path);
    let root = &path[..path.len() - below.len()];
    let folders: Vec<&str> = below.split('/').collect();
    let left = &folders[..FOLDERS_LEFT.min(folders.len() - 1)];
    [
        &[root][..],
        &left
            .iter()
            .flat_map(|folder| [*folder, "/"])
            .collect::<Vec<_>>(),
        &[ANY],
    ]
    .concat()
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str) -> u32 {
        calls::number(name).expect("a call of this architecture")
    }

    fn exact(pid: u32, name: &str, calls: u64, total_ns: u64) -> SyscallRow {
        SyscallRow {
            pid,
            number: number(name),
            calls,
            total_ns,
            ..SyscallRow::default()
        }
    }

    #[test]
    fn a_single_path_has_all_calls_and_two_have_their_shares() {
        let (mut totals, stat, read) =
            (PathTotals::default(), number("statx"), number("readlinkat"));
        for _ in 0..16 {
            totals.add(1, stat, &"/etc/hosts".into(), 8_192, 1_000);
            totals.add(1, read, &"/a".into(), 8_192, 1_000);
        }
        // The same time, spent in a quarter of the calls.
        for _ in 0..16 {
            totals.add(1, read, &"/b".into(), 8_192, 4_000);
        }
        let known = [
            exact(1, "statx", 500_004, 700_000_000),
            exact(1, "readlinkat", 100, 300_000),
        ];
        let rows = totals.rows(&known);
        let all: Vec<_> = rows
            .iter()
            .map(|row| (row.path.as_str(), row.calls, row.ns))
            .collect();
        assert_eq!(
            all,
            [
                ("/etc/hosts", 500_004, 700_000_000),
                ("/a", 80, 150_000),
                ("/b", 20, 150_000),
            ]
        );
    }

    #[test]
    fn a_few_samples_do_not_speak_for_all_calls() {
        let (mut totals, stat) = (PathTotals::default(), number("statx"));
        totals.add(1, stat, &"/slow".into(), 8_192, 4_096);
        totals.add(1, stat, &"/quick".into(), 8_192, 128);
        let rows = totals.rows(&[exact(1, "statx", 50, 100_000)]);
        let mut calls: Vec<_> = rows
            .iter()
            .map(|row| (row.path.as_str(), row.calls))
            .collect();
        calls.sort_unstable();
        assert_eq!(calls, [("/quick", 50), ("/slow", 2)]);
        assert!(rows.iter().all(|row| row.ns == 8_192));
    }

    #[test]
    fn paths_beyond_the_bound_are_put_together_and_none_is_lost() {
        let (mut totals, stat) = (PathTotals::default(), number("statx"));
        totals.add(1, stat, &"/most".into(), 1 << 20, 1_000);
        for folder in 0..30_u32 {
            for file in 0..1_000 {
                let letter = char::from(b'a' + (folder % 26) as u8);
                let path = format!("/srv/{letter}{letter}/{folder}/file{file}.dat");
                totals.add(1, stat, &path.as_str().into(), 1_000, 1_000);
            }
        }
        assert_eq!(totals.by_path.len(), MOST_GATHERED + 1);
        let rows = totals.rows(&[exact(1, "statx", 31_000, 40_000_000)]);
        assert!(
            rows.len() <= MOST_ROWS + STEPS.len() * MOST_OF_A_STEP,
            "{}",
            rows.len()
        );
        assert!(rows.iter().any(|row| row.path == "/srv/bb/#/file#.dat"));
        assert!(rows.iter().any(|row| row.path == ANY));
        let calls: u64 = rows.iter().map(|row| row.calls).sum();
        assert!(calls.abs_diff(31_000) < rows.len() as u64, "{calls}");
        let ns: u64 = rows.iter().map(|row| row.ns).sum();
        assert!(ns.abs_diff(40_000_000) < rows.len() as u64, "{ns}");
    }

    #[test]
    fn steps_up_are_taken_by_name() {
        for (path, left) in [
            ("/usr/lib/x/../../share/a", "/usr/share/a"),
            ("/usr/..", "/"),
            ("/../a", "/a"),
            ("a/..", "."),
            ("../a/../b", "../b"),
            ("/a..b/c", "/a..b/c"),
        ] {
            assert_eq!(without_steps_up(path), left);
        }
    }

    #[test]
    fn what_paths_have_in_common_is_kept() {
        assert_eq!(
            without_digits("/proc/4711/task/12/stat"),
            "/proc/#/task/#/stat"
        );
        assert_eq!(by_ending("/lib/python#/os.py"), "/lib/python#/*.py");
        assert_eq!(by_ending("/home/.profile"), "/home/*");
        assert_eq!(by_ending("here"), "here");
        assert_eq!(by_folder("/usr/lib/x/*.py"), "/usr/lib/**");
        assert_eq!(by_folder("/top"), "/**");
        assert_eq!(by_folder("a/b/c/d"), "a/b/**");
        assert_eq!(by_folder("here"), "**");
    }
}
