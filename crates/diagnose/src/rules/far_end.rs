//! Shared by the rules on waits for input and output: which descriptor's other end is waited for?

use std::collections::BTreeMap;

use fathom_model::{Place, Spent};
use fathom_trace::Cause;

use crate::classify;
use crate::view::View;

/// A descriptor of the command whose other end is another program's.
pub(super) struct FarEnd {
    pub pid: Option<u32>,
    pub fd: i32,
    pub path: Option<String>,
}

impl FarEnd {
    /// The one that is waited for most: by the time asleep in calls on it, and where polls wait, by the calls
    /// that moved something. `standard`: the command's own, if no other one stands out.
    pub(super) fn find(view: &View<'_>, spent: Spent, standard: i32) -> FarEnd {
        let reads = spent == Spent::WaitingForInput;
        let is_end = |pid: u32, fd: i32, name: &str| {
            let moves = match reads {
                true => classify::is_read(name),
                false => classify::is_write(name),
            };
            let socket = !reads && view.descriptors.is_local_socket(pid, fd);
            moves && (socket || view.descriptors.is_outer_fifo(pid, fd, reads))
        };
        let own = |fd: i32| match reads {
            true => fd == 0,
            false => fd == 1 || fd == 2,
        };
        let mut ends: BTreeMap<(u32, i32), (u64, u64)> = BTreeMap::new();
        for row in view.trace.off_cpu.iter() {
            let (Some(call), Some(fd)) = (row.call.as_deref(), row.fd) else {
                continue;
            };
            let asleep = row.cause == Cause::Asleep;
            if asleep && (own(fd) || is_end(row.pid, fd, call)) {
                ends.entry((row.pid, fd)).or_default().0 += row.total_ns;
            }
        }
        for row in &view.trace.syscalls {
            let Some(fd) = row.fd.filter(|fd| is_end(row.pid, *fd, &row.name)) else {
                continue;
            };
            ends.entry((row.pid, fd)).or_default().1 += row.calls;
        }
        let most = ends.into_iter().max_by_key(|(_, score)| *score);
        match most.filter(|((_, fd), _)| !own(*fd)) {
            Some(((pid, fd), _)) => FarEnd {
                pid: Some(pid),
                fd,
                path: view.descriptors.waited_for_name(pid, fd).map(str::to_owned),
            },
            None => {
                let pid = view.trace.processes.first().map(|p| p.pid);
                FarEnd {
                    pid,
                    fd: standard,
                    path: pid.and_then(|pid| view.name_of(pid, standard)),
                }
            }
        }
    }

    /// What it is in words, if it is none of the standard ones.
    pub(super) fn in_words(&self) -> Option<String> {
        let path = self.path.as_deref().filter(|_| self.fd > 2)?;
        Some(format!("the {path}"))
    }

    pub(super) fn place(self) -> Place {
        Place {
            pid: self.pid,
            tid: None,
            fd: Some(self.fd),
            path: self.path,
        }
    }
}
