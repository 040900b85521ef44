//! Many paths are asked for that aren't there.

use std::collections::BTreeSet;

use fathom_model::{Finding, Place};

use super::small_calls::Small;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;

/// Misses whose paths are not kept, where the table of paths was full: of the errors of these calls that no
/// path is known for, the part that misses are of those whose path is.
fn without_names(view: &View<'_>, calls: &BTreeSet<&str>, named: u64) -> u64 {
    let failed = view.trace.failed_lookups.iter();
    let failed = failed.filter(|row| calls.contains(row.call.as_str()));
    let known: u64 = failed.map(|row| row.calls).sum();
    let errors = view.tally_calls(|name| calls.contains(name)).errors;
    let unknown = errors.saturating_sub(known).min(view.trace.lost.names);
    (unknown as f64 * named as f64 / known.max(1) as f64) as u64
}

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let absent = |errno| errno == ENOENT || errno == ENOTDIR;
    let rows = || {
        view.trace
            .failed_lookups
            .iter()
            .filter(|row| absent(row.errno))
    };
    let calls: BTreeSet<&str> = rows().map(|row| row.call.as_str()).collect();
    let named: u64 = rows().map(|row| row.calls).sum();
    let looked_at = named + without_names(view, &calls, named);
    let stretch = view.stretch(|row| calls.contains(row.name.as_str()));
    let misses = (looked_at as f64 * stretch).round() as u64;
    if misses < t::MANY_MISSES {
        return None;
    }
    let asked =
        view.tally(|row| calls.contains(row.name.as_str()) && !row.name.starts_with("exec"));
    // A miss costs about what a hit costs: the walk along the path is the same.
    let cost = asked.cost_ns * (misses as f64 / asked.calls.max(1) as f64).min(1.0);
    if !matters(view, cost) || view.share(cost) < t::MISSES_SHARE {
        return None;
    }
    let first = rows().next()?;
    let statement = format!(
        "{} lookups of paths that aren't there cost {}, {} of the wall time.",
        count(misses),
        time(cost),
        percent(view, cost),
    );
    Some(
        Draft::new("missing-file-lookups", view, cost, statement)
            .evidence("failed lookups", misses as f64, "calls")
            .evidence("different paths kept", rows().count() as f64, "files")
            .advice("Shorten the search path, name files in full, or remember what isn't there.")
            .limit(Small::limit(view))
            .place(Place {
                pid: Some(first.pid),
                tid: None,
                fd: None,
                path: Some(first.path.clone()),
            })
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn paths_that_are_never_there_are_told() {
        let mut fake = Fake::new(1000);
        fake.calls("openat", None, 100_000, 0, 3_000);
        fake.misses("openat", "/lib/x/a.conf", 90_000);
        assert_eq!(fake.ids(), ["missing-file-lookups"]);
    }

    #[test]
    fn misses_whose_paths_are_not_kept_count_too() {
        // Each path another one: the table held 10,000 of 90,000.
        let told = |lost| {
            let mut fake = Fake::new(1000);
            fake.calls("stat", None, 100_000, 0, 3_000);
            fake.trace.syscalls.last_mut().expect("a row").errors = 90_000;
            fake.misses("stat", "/lib/x/a.conf", 10_000);
            fake.trace.lost.names = lost;
            fake.ids()
        };
        assert_eq!(told(80_000), ["missing-file-lookups"]);
        assert!(!told(0).contains(&"missing-file-lookups".to_owned()));
    }

    #[test]
    fn the_search_of_a_start_is_not() {
        let mut fake = Fake::new(20);
        fake.calls("openat", None, 300, 0, 10_000);
        fake.misses("openat", "/lib/x/a.so", 200);
        assert!(fake.ids().is_empty());
    }
}
