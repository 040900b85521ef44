//! Many paths are asked for that aren't there.

use fathom_model::{Finding, Place};

use super::small_calls::Small;
use crate::draft::{Draft, count, matters, percent, time};
use crate::thresholds as t;
use crate::view::View;

const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let absent = |errno| errno == ENOENT || errno == ENOTDIR;
    let rows = || {
        view.trace
            .failed_lookups
            .iter()
            .filter(|row| absent(row.errno))
    };
    let misses: u64 = rows().map(|row| row.calls).sum();
    if misses < t::MANY_MISSES {
        return None;
    }
    let calls: std::collections::BTreeSet<&str> = rows().map(|row| row.call.as_str()).collect();
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
            .evidence("different paths", rows().count() as f64, "files")
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
    fn the_search_of_a_start_is_not() {
        let mut fake = Fake::new(20);
        fake.calls("openat", None, 300, 0, 10_000);
        fake.misses("openat", "/lib/x/a.so", 200);
        assert!(fake.ids().is_empty());
    }
}
