//! The other end of standard output is slower than the command.

use fathom_model::{Finding, Place, Spent};

use crate::draft::{Draft, percent, time, wait_matters};
use crate::thresholds as t;
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let wait = view.spent_ns(Spent::WaitingForOutput) - view.partners_start_ns(1);
    if wait < t::LEAST_PACE_NS || !wait_matters(view, wait) {
        return None;
    }
    let statement = format!(
        "The command waited until its output was taken for {}, {} of the wall time: the reader is slower.",
        time(wait),
        percent(view, wait),
    );
    let fd = 1;
    let pid = view.trace.processes.first().map(|p| p.pid);
    let path = pid.and_then(|pid| view.name_of(pid, fd));
    Some(
        Draft::new("waiting-for-output", view, wait, statement)
            .evidence("time asleep", wait, "ns")
            .evidence("CPU time", view.cpu_ns, "ns")
            .advice(
                "Make the reader faster, or write to a file. The program itself is not the limit.",
            )
            .place(Place {
                pid,
                tid: None,
                fd: Some(fd),
                path,
            })
            .seen()
            .finish(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::Fake;

    #[test]
    fn a_slow_reader_is_told() {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "pipe");
        fake.waits(Some("write"), Some(1), Cause::Asleep, 60, 10_000);
        assert_eq!(fake.ids(), ["waiting-for-output"]);
    }

    #[test]
    fn a_disk_is_no_reader() {
        let mut fake = Fake::new(1000);
        fake.descriptor(1, "/tmp/out");
        fake.waits(Some("write"), Some(1), Cause::Disk, 60, 10_000);
        assert_eq!(fake.ids(), ["waiting-for-disk"]);
    }
}
