//! Observes a running process for a while.
//!
//! The process is neither stopped nor changed: the kernel's recording of it is turned on and off again, or
//! its files in `/proc` are read. If Fathom ends for any reason, the process continues: everything that was
//! turned on belongs to descriptors, which the kernel closes.

mod access;
mod blocked;
pub(crate) mod found;
mod readings;
pub(crate) mod sockets;

use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

pub(crate) use blocked::stack as stack_of_blocked;
pub(crate) use found::{Found, threads_of};
pub(crate) use readings::{Reading, Readings, read_thread};

use crate::command::TraceOptions;
use crate::error::AttachError;
use crate::result::{Attached, End, Process, Trace};
use crate::watch::{Limits, ended};

/// A process that may be observed, held by a descriptor so that its process id can't be reused.
#[derive(Debug)]
pub struct Target {
    /// Its process id.
    pub pid: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    pidfd: OwnedFd,
}

impl Target {
    /// Returns the process with this id, if the real user of this process may trace it.
    ///
    /// # Errors
    /// [`AttachError`], with a remedy.
    pub fn find(pid: u32) -> Result<Self, AttachError> {
        let (pidfd, name) = access::check(pid)?;
        Ok(Self { pid, name, pidfd })
    }

    /// Returns when it began.
    pub(crate) fn began(&self) -> Option<SystemTime> {
        found::started(self.pid)
    }

    /// Waits up to `wait` and returns whether it has ended.
    pub(crate) fn has_ended(&self, wait: Duration) -> bool {
        ended(&self.pidfd, wait)
    }

    fn attached(&self, listening: Vec<u32>, ended: bool) -> Attached {
        Attached {
            pid: self.pid,
            name: self.name.clone(),
            ended,
            listening,
        }
    }
}

/// Returns limits that start now and last for this duration.
pub(crate) fn limits(time: Duration, options: &TraceOptions) -> Limits {
    Limits::start(Some(time), options.stop.clone())
}

/// Adds to the trace what is known of the target apart from the observation of its threads.
pub(crate) fn complete(
    trace: &mut Trace,
    before: &Readings,
    root: &Target,
    found: &Found,
    ended: bool,
) {
    let after = Readings::of(trace.threads.iter().map(|one| (one.pid, one.tid)));
    readings::complete(trace, before, &after);
    order(&mut trace.processes, trace.duration_ns);
    trace.end = match trace.processes.iter().find(|one| one.pid == root.pid) {
        Some(Process { end: Some(end), .. }) => *end,
        _ => End::default(),
    };
    trace.not_visible.extend(found.not_followed());
    trace.attached = Some(root.attached(found.listening.clone(), ended));
}

/// Ensures that no process begins after its own end or after the end of the trace. A process that was already
/// running may have ended before its start was seen, and one may have been created between the end and the
/// kernel's last record.
fn order(processes: &mut [Process], duration_ns: u64) {
    for process in processes {
        process.started_ns = process.started_ns.min(duration_ns);
        let ended = process.ended_ns.as_mut();
        if let Some(ended) = ended {
            *ended = (*ended).max(process.started_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_process_begins_after_its_end_or_the_end_of_the_trace() {
        let ordered = |started_ns, ended_ns| {
            let mut one = [Process {
                started_ns,
                ended_ns,
                ..Process::default()
            }];
            order(&mut one, 100);
            (one[0].started_ns, one[0].ended_ns)
        };
        assert_eq!(ordered(10, Some(90)), (10, Some(90)));
        assert_eq!(ordered(30, Some(20)), (30, Some(30)));
        assert_eq!(ordered(120, None), (100, None));
    }
}
