//! Detects that many missing paths are looked up.

use crate::mechanisms::poll::paths::{ENOENT, awaited};
use crate::mechanisms::prelude::*;

const ENOTDIR: i32 = 20;

/// Returns the misses whose paths were dropped because the path table was full. Of these calls' errors
/// without a path, the same part is assumed to be misses as of those with a path.
fn without_names(analysis: &Analysis<'_>, calls: &BTreeSet<&str>, named: u64) -> u64 {
    let failed = analysis.trace.failed_lookups.iter();
    let failed = failed.filter(|row| calls.contains(row.call.as_str()));
    let known: u64 = failed.map(|row| row.calls).sum();
    let errors = analysis.tally_calls(|name| calls.contains(name)).errors;
    let unknown = errors.saturating_sub(known).min(analysis.trace.lost.names);
    (unknown as f64 * named as f64 / known.max(1) as f64) as u64
}

/// The maximum number of lookups for each created file; more than that are a search, wherever they look.
const LOOKUPS_FOR_EACH_FILE: usize = 8;

/// Files that the run creates, and their folders.
struct Places<'a> {
    files: HashSet<&'a str>,
    folders: HashSet<&'a str>,
    /// Whether misses in those folders are lookups that precede the creation of files there.
    are_filled: bool,
}

impl<'a> Places<'a> {
    fn new(analysis: &Analysis<'a>) -> Self {
        let made = analysis.trace.files.iter().filter(|file| file.writes > 0);
        let made = made.filter_map(|file| file.name.path());
        let files: HashSet<&str> = made.filter(|name| name.contains('/')).collect();
        let folders: HashSet<&str> = files.iter().flat_map(|file| folders_of(file)).collect();
        let failed = analysis.trace.failed_lookups.iter();
        let there =
            failed.filter(|row| folder_of(&row.path).is_some_and(|it| folders.contains(it)));
        Self {
            are_filled: there.count() <= files.len() * LOOKUPS_FOR_EACH_FILE,
            files,
            folders,
        }
    }

    /// Reports whether a lookup is not part of a search, because it is a check before a file or its folder is
    /// created, or a removal.
    fn are_made(&self, row: &LookupRow) -> bool {
        let path = row.path.as_str();
        let is_later_there = self.files.contains(path) || self.folders.contains(path);
        let folder = folder_of(path).is_some_and(|folder| self.folders.contains(folder));
        calls::changes_path(&row.call) || is_later_there || folder && self.are_filled
    }
}

fn folder_of(path: &str) -> Option<&str> {
    Some(path.rsplit_once('/')?.0)
}

/// Returns all folders above a file, except the root.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(folder_of(path), |folder| folder_of(folder)).filter(|it| !it.is_empty())
}

pub(crate) fn missing(analysis: &Analysis<'_>) -> Option<Claim> {
    let absent = |errno| errno == ENOENT || errno == ENOTDIR;
    let places = Places::new(analysis);
    // Polling until a file appears is not a search.
    let awaited = awaited(analysis);
    let awaited: HashSet<&str> = awaited.values().flat_map(|it| &it.paths).copied().collect();
    let is_search = |row: &LookupRow| {
        absent(row.errno) && !places.are_made(row) && !awaited.contains(row.path.as_str())
    };
    let rows = || {
        let failed = analysis.trace.failed_lookups.iter();
        failed.filter(|row| is_search(row))
    };
    let calls: BTreeSet<&str> = rows().map(|row| row.call.as_str()).collect();
    let named: u64 = rows().map(|row| row.calls).sum();
    let examined = named + without_names(analysis, &calls, named);
    let stretch = analysis.stretch(|row| calls.contains(row.name.as_str()));
    let misses = analysis.shown_calls(examined as f64 * stretch);
    let asks =
        |row: &SyscallRow| calls.contains(row.name.as_str()) && !row.name.starts_with("exec");
    // A miss costs about as much as a hit, because the path walk is the same.
    let asked = analysis.tally(asks);
    let part = part_of(misses, asked.calls);
    let cost = CallCost::with(&asked, analysis, asks).part(part);
    let is_futile = misses >= t::MISSES_OF_NO_SEARCH && part >= t::NEARLY_ALL_MISS;
    // If nearly nothing was found, this isn't a search that naturally has misses, so the library's part is
    // wasted as well.
    let all = cost.ns(analysis).min(2.0 * cost.in_kernel_ns);
    let (vain, least) = match is_futile {
        true => (all, t::LEAST_SHARE),
        false => (cost.in_kernel_ns, t::MISSES_SHARE),
    };
    let most = of_the_commonest_folder(rows())?;
    let statement = format!(
        "{} lookups of paths that don't exist, such as `{}`,",
        count(misses),
        shortened(&most.path),
    );
    Some(
        cost.finding(FindingId::MissingFileLookups, analysis, &statement)
            .weighing(vain)
            .least(Least::share(least))
            .evidence("failed lookups", misses, "calls")
            .evidence("different paths kept", rows().count(), "files")
            .advice("Shorten the search path, use full paths, or remember which files are missing.")
            .pid(most.pid)
            .on(None, most.path.clone()),
    )
}

/// Returns the most frequent lookup in the folder with the most misses.
fn of_the_commonest_folder<'a>(rows: impl Iterator<Item = &'a LookupRow>) -> Option<&'a LookupRow> {
    let folders = grouped(rows.map(|row| (folder_of(&row.path).unwrap_or_default(), row)));
    let calls = |rows: &Vec<&LookupRow>| rows.iter().map(|row| row.calls).sum::<u64>();
    let most = folders.into_values().max_by_key(calls)?;
    // Of several, the first one.
    most.into_iter().rev().max_by_key(|row| row.calls)
}

/// The number of characters of a path shown in a sentence.
const SHOWN: usize = 48;

/// Returns the end of a path, which is more informative than its beginning.
fn shortened(path: &str) -> String {
    match path.chars().count().checked_sub(SHOWN) {
        None | Some(0) => path.to_owned(),
        Some(more) => format!("\u{2026}{}", path.chars().skip(more).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn of_long_paths_the_end_is_shown() {
        assert_eq!(shortened("/lib/x/a.conf"), "/lib/x/a.conf");
        let long = format!("/{}/\u{e4}.conf", "x".repeat(60));
        assert_eq!(shortened(&long).chars().count(), SHOWN + 1);
        assert!(shortened(&long).ends_with("x/\u{e4}.conf"));
    }

    #[test]
    fn the_path_that_is_missed_most_is_named() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 100_000, 0, 3_000);
        fake.misses("openat", "/etc/ld.so.preload", 1);
        fake.misses("openat", "/lib/x/a.conf", 90_000);
        let found = fake.findings().swap_remove(0);
        assert!(
            found.statement.contains("such as `/lib/x/a.conf`"),
            "{found:?}"
        );
        assert_eq!(found.place.path.as_deref(), Some("/lib/x/a.conf"));
    }

    #[test]
    fn paths_that_are_never_there_are_found() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 100_000, 0, 3_000);
        fake.misses("openat", "/lib/x/a.conf", 90_000);
        assert_eq!(fake.ids(), ["missing-file-lookups"]);
    }

    #[test]
    fn checks_before_files_are_made_are_no_search() {
        let reported = |made: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("newfstatat", None, 100_000, 0, 6_000);
            for i in 0..2_000 {
                fake.misses("newfstatat", &format!("new/{i}/a.rs"), 10);
                fake.misses("newfstatat", &format!("new/{i}"), 10);
                fake.misses("openat", &format!("new/{i}/.attributes"), 10);
                fake.misses("unlink", &format!("/tmp/lock.{i}"), 10);
            }
            for i in 0..made {
                fake.file(&format!("new/{i}/a.rs"), 1, 0, 0, 0);
                fake.trace.files.last_mut().expect("just made").writes = 1;
            }
            fake.ids().contains(&"missing-file-lookups")
        };
        assert!(!reported(2_000));
        assert!(reported(0));
        // One file is written, while a thousand are searched for.
        assert!(reported(1));
    }

    #[test]
    fn who_asks_until_something_is_there_is_a_loop_and_no_search() {
        let reported = |made_by_ms: Option<u64>| {
            let mut fake = Fake::new(1000);
            let asked = fake.calls("newfstatat", None, 300_020, 0, 2_000);
            asked.errors = 300_000;
            fake.misses("newfstatat", "/spool/7.done", 300_000);
            if let Some(ms) = made_by_ms {
                fake.file("/spool/7.done", 1, 0, 0, 0);
                let file = fake.trace.files.last_mut().expect("just made");
                file.first_ns = ms * 1_000_000;
            }
            fake.findings().swap_remove(0)
        };
        assert_eq!(reported(None).id, FindingId::MissingFileLookups);
        let found = reported(Some(900));
        assert_eq!(found.id, FindingId::BusyPolling);
        assert_eq!(found.place.path.as_deref(), Some("/spool/7.done"));
        assert!(
            found.statement.contains("300,000 times with `newfstatat`"),
            "{}",
            found.statement
        );
    }

    #[test]
    fn misses_whose_paths_are_not_kept_count_too() {
        // All paths are different; the table held 10,000 of 90,000.
        let reported = |lost| {
            let mut fake = Fake::new(1000);
            fake.calls("stat", None, 100_000, 0, 3_000);
            fake.trace.syscalls.last_mut().expect("a row").errors = 90_000;
            fake.misses("stat", "/lib/x/a.conf", 10_000);
            fake.trace.lost.names = lost;
            fake.ids()
        };
        assert_eq!(reported(80_000), ["missing-file-lookups"]);
        assert!(!reported(0).contains(&"missing-file-lookups"));
    }

    #[test]
    fn a_tenth_of_the_time_is_reported_where_nothing_is_found() {
        let reported = |found: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("stat", None, 40_000 + found, 0, 2_500);
            fake.misses("stat", "/lib/x/a.conf", 40_000);
            fake.ids().contains(&"missing-file-lookups")
        };
        assert!(reported(0));
        assert!(!reported(20_000));
    }

    #[test]
    fn the_search_of_a_start_is_not() {
        let mut fake = Fake::new(20);
        fake.calls("openat", None, 300, 0, 10_000);
        fake.misses("openat", "/lib/x/a.so", 200);
        assert!(fake.ids().is_empty());
    }
}
