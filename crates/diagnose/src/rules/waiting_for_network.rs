//! The command waits for replies from a socket.

use fathom_model::{Finding, Spent};

use crate::draft::{Draft, count, percent, time, wait_matters};
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let wait = view.spent_ns(Spent::Network);
    if !wait_matters(view, wait) {
        return None;
    }
    let waits = view.trace.off_cpu.iter().filter(|row| {
        view.descriptors
            .is_socket(row.pid, row.fd, row.call.as_deref().unwrap_or_default())
    });
    let waits: u64 = waits.map(|row| row.count).sum();
    let statement = format!(
        "The command waited for the network for {}, {} of the wall time.",
        time(wait),
        percent(view, wait),
    );
    Some(
        Draft::new("waiting-for-network", view, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence("waits on sockets", waits as f64, "calls")
            .advice(format!(
                "Ask for more at a time, keep several requests in flight, reuse connections, or keep the answers ({} waits on sockets were seen).",
                count(waits)
            ))
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
}
