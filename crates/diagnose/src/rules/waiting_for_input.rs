//! The other end of standard input is slower than the command.

use fathom_model::{Finding, Place, Spent};

use crate::draft::{Draft, percent, time, wait_matters};
use crate::view::View;

pub(super) fn find(view: &View<'_>) -> Option<Finding> {
    let wait = view.spent_ns(Spent::WaitingForInput) - view.partners_start_ns(0);
    if !wait_matters(view, wait) {
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
            .finish(),
    )
}
