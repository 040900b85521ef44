//! The other end of standard input is slower than the command.

use fathom_model::{Finding, Place, Spent};

use crate::draft::{Draft, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let wait = view.spent_ns(Spent::WaitingForInput) - view.partners_start_ns(0);
    if wait < t::LEAST_PACE_NS || !wait_matters(view, wait) {
        return None;
    }
    let statement = format!(
        "The command waited for standard input for {}, {} of the wall time: whoever writes it is slower.",
        time(wait),
        percent(view, wait),
    );
    let fd = 0;
    let pid = view.trace.processes.first().map(|p| p.pid);
    let path = pid.and_then(|pid| view.name_of(pid, fd));
    Some(
        Draft::new("waiting-for-input", view, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence("CPU time", view.cpu_ns, "ns")
            .advice("Make the producer faster, or give the program a file. The program itself is not the limit.")
            .place(Place { pid, tid: None, fd: Some(fd), path })
            .seen()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn a_slow_producer_is_told() {
        let mut fake = Fake::new(1000);
        fake.descriptor(0, "pipe");
        fake.waits(Some("read"), Some(0), Cause::Asleep, 60, 10_000);
        assert_eq!(fake.ids(), ["waiting-for-input"]);
    }

    #[test]
    fn one_wait_for_its_start_is_not() {
        let mut fake = Fake::new(200);
        fake.descriptor(0, "pipe");
        fake.waits(Some("read"), Some(0), Cause::Asleep, 1, 80_000);
        assert!(fake.ids().is_empty());
    }
}
