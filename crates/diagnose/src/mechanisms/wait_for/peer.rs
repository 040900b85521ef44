//! Finds the descriptor for whose other end the command waits.

use crate::mechanisms::prelude::*;

/// Scores what is waited for. The time asleep in calls on each candidate decides first, and then the number
/// of calls that transferred bytes, which shows where polls wait.
pub(crate) fn waited_for<K: Ord>(
    analysis: &Analysis<'_>,
    asleep_on: impl Fn(&OffCpuRow) -> Option<K>,
    moves_on: impl Fn(&SyscallRow) -> Option<K>,
) -> BTreeMap<K, (u64, u64)> {
    let mut scores: BTreeMap<K, (u64, u64)> = BTreeMap::new();
    let asleep = analysis.trace.off_cpu.iter();
    for row in asleep.filter(|row| row.cause == Cause::Asleep) {
        if let Some(key) = asleep_on(row) {
            scores.entry(key).or_default().0 += row.total_ns;
        }
    }
    for row in &analysis.trace.syscalls {
        if let Some(key) = moves_on(row) {
            scores.entry(key).or_default().1 += row.calls;
        }
    }
    scores
}

/// A descriptor of the command whose other end belongs to another program.
pub(crate) struct Peer {
    pub pid: Option<u32>,
    pub fd: i32,
    pub path: Option<String>,
}

impl Peer {
    /// Finds the other end for which the command waits most. The time asleep in calls on a descriptor decides
    /// and, for polls, the calls that transferred bytes. `standard` is the command's own stream, which is
    /// used if no other descriptor stands out.
    pub(crate) fn find(analysis: &Analysis<'_>, spent: TimeCategory, standard: i32) -> Peer {
        let reads = spent == TimeCategory::WaitingForInput;
        let is_end = |pid: u32, fd: i32, name: &str| {
            let moves = match reads {
                true => calls::is_read(name),
                false => calls::is_write(name),
            };
            let socket = !reads && analysis.descriptors.is_local_socket(pid, fd);
            moves && (socket || analysis.descriptors.is_outer_fifo(pid, fd, reads))
        };
        let own = |fd: i32| match reads {
            true => fd == 0,
            false => fd == 1 || fd == 2,
        };
        let asleep_on = |row: &OffCpuRow| {
            let (call, fd) = (row.call.as_deref()?, row.fd?);
            (own(fd) || is_end(row.pid, fd, call)).then_some((row.pid, fd))
        };
        let moves_on = |row: &SyscallRow| {
            let fd = row.fd.filter(|fd| is_end(row.pid, *fd, &row.name))?;
            Some((row.pid, fd))
        };
        let ends = waited_for(analysis, asleep_on, moves_on);
        let most = ends.into_iter().max_by_key(|(_, score)| *score);
        match most.filter(|((_, fd), _)| !own(*fd)) {
            Some(((pid, fd), _)) => Peer {
                pid: Some(pid),
                fd,
                path: analysis
                    .descriptors
                    .waited_for_name(pid, fd)
                    .map(ToString::to_string),
            },
            None => {
                let pid = analysis.trace.processes.first().map(|p| p.pid);
                Peer {
                    pid,
                    fd: standard,
                    path: pid.and_then(|pid| analysis.name_of(pid, standard)),
                }
            }
        }
    }

    /// Describes the descriptor, or returns `None` if it is a standard stream.
    pub(crate) fn in_words(&self) -> Option<String> {
        let path = self.path.as_deref().filter(|_| self.fd > 2)?;
        Some(format!("the {path}"))
    }
}
