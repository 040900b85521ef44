//! Memory is taken from the system and given back, again and again.

use fathom_model::Finding;

use crate::classify;
use crate::draft::{Draft, count, matters, percent, time};
use crate::faults;
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let all = view.tally_calls(classify::is_memory);
    let given_back =
        view.tally_calls(|name| ["munmap", "madvise", "brk", "mremap"].contains(&name));
    // A start maps its libraries, and gives nothing back.
    if all.calls < t::MANY_MEMORY_CALLS || given_back.calls * 5 < all.calls {
        return None;
    }
    // Memory that was given back is touched for the first time again.
    let faults = faults::cost(view).ns;
    let again = if given_back.calls * 3 >= all.calls {
        faults * 0.8
    } else {
        0.0
    };
    let cost = (all.cost_ns + again).min(0.97 * view.cpu_ns);
    let often = all.calls >= t::VERY_MANY_MEMORY_CALLS;
    let dear = view.share(all.cost_ns) >= 2.0 * t::LEAST_SHARE;
    let rules = view.share(cost) >= t::MEMORY_CALLS_SHARE;
    if !matters(view, cost) || !rules || !(often || dear) {
        return None;
    }
    let statement = format!(
        "{} calls took memory from the system and gave it back; with the page faults that follow they cost {}, {} of the wall time.",
        count(all.calls),
        time(cost),
        percent(view, cost),
    );
    Some(
        Draft::new("allocator-churn", view, cost, statement)
            .evidence("memory calls", all.calls as f64, "calls")
            .evidence("of them give memory back", given_back.calls as f64, "calls")
            .advice("Take large buffers once and reuse them; with glibc raise M_MMAP_THRESHOLD and M_TRIM_THRESHOLD (`mallopt`), or use an allocator that keeps memory.")
            .pid(all.pid)
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn taking_and_giving_back_is_told() {
        let mut fake = Fake::new(1000);
        fake.calls("mmap", None, 100_000, 0, 1_000);
        fake.calls("munmap", None, 100_000, 0, 2_000);
        assert_eq!(fake.ids(), ["allocator-churn"]);
    }

    #[test]
    fn mapping_the_files_that_are_compared_is_not() {
        let mut fake = Fake::new(1000);
        fake.calls("mmap", None, 30_000, 0, 3_000);
        fake.calls("munmap", None, 30_000, 0, 3_500);
        assert!(fake.ids().is_empty());
    }

    #[test]
    fn a_heap_that_only_grows_is_not() {
        let mut fake = Fake::new(1000);
        fake.calls("mmap", None, 3_000, 0, 30_000);
        assert!(!fake.ids().contains(&"allocator-churn".to_owned()));
    }
}
