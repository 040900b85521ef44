//! The command waits for replies from a socket.

use fathom_model::{Finding, Spent};

use crate::draft::{Draft, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let wait = view.spent_ns(Spent::Network);
    if !wait_matters(view, wait) {
        return None;
    }
    // Polls are among them: nothing names the socket of those.
    let waits = view.waits_for(Spent::Network);
    // Waking a peer on the same machine and being woken by it takes 50 to 200 us: a few of these are no slow answers.
    let only_wakes = waits.is_some_and(|count| wait < count as f64 * t::WAKING_A_PEER_NS);
    if only_wakes && wait < t::LEAST_OF_SHORT_REPLIES_NS {
        return None;
    }
    let statement = format!(
        "The command waited for the network for {}, {} of the wall time.",
        time(wait),
        percent(view, wait),
    );
    Some(
        Draft::new("waiting-for-network", view, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence_if("waits", waits, "calls")
            .advice("Ask for more at a time, keep several requests in flight, reuse connections, or keep the answers.")
            .seen()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn replies_that_take_long_are_told() {
        let mut fake = Fake::new(1000);
        fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, 100, 6_000);
        assert_eq!(fake.ids(), ["waiting-for-network"]);
    }

    #[test]
    fn a_few_quick_replies_are_not() {
        let told = |count| {
            let mut fake = Fake::new(40);
            fake.waits(Some("recvfrom"), Some(3), Cause::Asleep, count, 140);
            fake.ids()
        };
        assert!(told(40).is_empty());
        assert_eq!(told(200), ["waiting-for-network"]);
    }

    #[test]
    fn polls_are_among_the_waits_and_what_follows_a_wait_is_not() {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "socket to 10.1.2.3:80");
        fake.calls("recvfrom", Some(3), 100, 900, 2_000);
        fake.waits(Some("epoll_wait"), Some(4), Cause::Asleep, 100, 6_000);
        fake.waits(Some("epoll_wait"), Some(4), Cause::Ready, 100, 10);
        let found = fake.findings();
        let waits = found[0].evidence.iter().find(|e| e.name == "waits");
        assert_eq!(waits.map(|waits| waits.value), Some(100.0));
        assert!(!found[0].advice.contains("seen"), "{}", found[0].advice);
    }
}
