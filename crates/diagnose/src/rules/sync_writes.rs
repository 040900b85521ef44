//! Each of many writes waits until it is on the disk.

use fathom_model::Finding;

use crate::classify;
use crate::draft::{Draft, count, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let tally = view.tally_calls(classify::is_sync);
    let (waits, _) = view.off(|row| row.call.as_deref().is_some_and(classify::is_sync));
    let (calls, total) = (tally.calls, tally.cost_ns + waits);
    if calls < t::MANY_SYNCS || !wait_matters(view, total) {
        return None;
    }
    let statement = format!(
        "{} calls put data on the disk at once (fsync and kin), {} in all, {} of the wall time.",
        count(calls),
        time(total),
        percent(view, total),
    );
    Some(
        Draft::new("sync-writes", view, total, statement)
            .evidence("sync calls", calls as f64, "calls")
            .evidence("mean", total / calls as f64, "ns")
            .advice("Sync once for many records: put them in one transaction or batch, or sync at the end. Leave it out where the data can be made again.")
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::Fake;

    #[test]
    fn a_sync_for_each_record_is_told() {
        let mut fake = Fake::new(1000);
        fake.calls("fsync", Some(3), 200, 0, 3_000_000);
        assert_eq!(fake.ids(), ["sync-writes"]);
    }

    #[test]
    fn one_at_the_end_is_a_promise() {
        let mut fake = Fake::new(1000);
        fake.calls("fsync", Some(3), 1, 0, 300_000_000);
        assert!(fake.ids().is_empty());
    }
}
