//! The program pauses by its own wish.

use fathom_model::{Finding, Spent};
use fathom_trace::Cause;

use crate::classify;
use crate::draft::{Draft, count, percent, time, wait_matters};
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let sleep = view.spent_ns(Spent::Sleeping);
    if !wait_matters(view, sleep) {
        return None;
    }
    let (_, naps) = view.off(|row| {
        // What follows a sleep, ready but not running, is a row of its own.
        row.cause == Cause::Asleep
            && view.weight(row.tid) > 0.0
            && row.call.as_deref().is_some_and(classify::is_sleep)
    });
    let statement = match naps {
        None | Some(0) => format!(
            "The program waited for timers for {}, {} of the wall time.",
            time(sleep),
            percent(view, sleep)
        ),
        Some(n) => format!(
            "The program slept {}, {} in all, {} of the wall time.",
            if n == 1 {
                "once".to_owned()
            } else {
                format!("{} times", count(n))
            },
            time(sleep),
            percent(view, sleep)
        ),
    };
    Some(
        Draft::new("sleeping", view, sleep, statement)
            .evidence("time asleep", sleep, "ns")
            .evidence_if("sleeps", naps, "calls")
            .advice("Leave the pause out, make it shorter, or wait for the event itself instead of for a time.")
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn pauses_are_told_with_their_number() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 40, 20_000);
        let found = fake.findings();
        assert_eq!(found[0].id, "sleeping");
        assert!(found[0].statement.contains("slept 40 times"));
    }

    #[test]
    fn samples_are_not_taken_for_pauses() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 40, 20_000);
        fake.trace.tier = Some(fathom_trace::Tier::Sample);
        let found = fake.findings();
        assert_eq!(found[0].id, "sleeping");
        assert!(!found[0].statement.contains("40"), "{}", found[0].statement);
    }
}
