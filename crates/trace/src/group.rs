//! Starts, waits for and ends several commands as one.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use crate::command::{Io, Member, TraceCommand};
use crate::cpus;
use crate::error::TraceError;
use crate::name_maps::NameMaps;
use crate::result::{GroupTrace, MemberEnd, Trace};
use crate::spawn::{self, Held};
use crate::watch::now;

#[derive(Debug)]
struct One {
    held: Held,
    delay: Duration,
    released: Option<u64>,
    ended: Option<u64>,
}

/// Held commands, each of which is released at its scheduled time.
#[derive(Debug)]
pub(crate) struct Group {
    members: Vec<One>,
    begin: u64,
    /// The busy time of the CPUs at the beginning, and for the whole run once all have ended.
    busy_from_ns: Option<u64>,
    busy_ns: Option<u64>,
    /// Receives the ids of processes that may write maps of names.
    pub(crate) name_maps: Option<Arc<NameMaps>>,
}

/// Returns the tracer's descriptors that the members use, except the standard ones.
pub(crate) fn descriptors_of(members: &[Member]) -> Vec<RawFd> {
    let commands = members.iter().map(|m| &m.command);
    let all = commands.flat_map(|c| [&c.stdin, &c.stdout, &c.stderr]);
    let used = all.filter_map(|io| match io {
        Io::Fd(fd) => Some(fd.as_raw_fd()),
        _ => None,
    });
    used.filter(|fd| *fd > 2).collect()
}

impl Group {
    /// Creates all members and waits until each is held.
    pub(crate) fn hold<'a>(
        commands: impl IntoIterator<Item = (&'a TraceCommand, Duration)>,
        follow: Option<BorrowedFd<'_>>,
        unwanted: &[RawFd],
    ) -> Result<Self, TraceError> {
        let (mut members, mut name_maps) = (Vec::new(), None);
        for (command, delay) in commands {
            name_maps = name_maps.or_else(|| command.name_maps.clone());
            let mut held = spawn::hold_without(command, follow, unwanted)?;
            held.wait_ready()?;
            members.push(One {
                held,
                delay,
                released: None,
                ended: None,
            });
        }
        Ok(Self {
            members,
            begin: 0,
            busy_from_ns: None,
            busy_ns: None,
            name_maps,
        })
    }

    /// Returns the process ids in the order of the members.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.members.iter().map(|m| m.held.pid).collect()
    }

    /// Starts the clock for the delays.
    pub(crate) fn begin(&mut self, at: u64) {
        self.begin = at;
        self.busy_from_ns = cpus::busy_ns(&cpus::allowed_cpus());
    }

    /// Releases the members that are due; returns their process ids.
    pub(crate) fn release_due(&mut self, at: u64) -> Result<Vec<u32>, TraceError> {
        let mut let_go = Vec::new();
        for member in &mut self.members {
            let due = self.begin + member.delay.as_nanos() as u64;
            if member.released.is_none() && at >= due {
                member.released = Some(now());
                member.held.release()?;
                let_go.push(member.held.pid);
            }
        }
        Ok(let_go)
    }

    /// Waits up to `wait`, but not beyond the next release; returns `true` once all have ended.
    pub(crate) fn all_ended(&mut self, wait: Duration) -> bool {
        let mut polled: Vec<libc::pollfd> = Vec::with_capacity(self.members.len());
        let at = now();
        let mut wait = wait;
        for member in &self.members {
            if member.released.is_none() {
                let due = self.begin + member.delay.as_nanos() as u64;
                wait = wait.min(Duration::from_nanos(due.saturating_sub(at)));
            }
            polled.push(libc::pollfd {
                fd: match member.ended {
                    None => member.held.pidfd.as_raw_fd(),
                    Some(_) => -1,
                },
                events: libc::POLLIN,
                revents: 0,
            });
        }
        let wait = libc::timespec {
            tv_sec: wait.as_secs() as libc::time_t,
            tv_nsec: wait.subsec_nanos().into(),
        };
        // SAFETY: the number of live entries is correct, the timespec is live, and there is no signal mask.
        let ready = unsafe {
            let count = polled.len() as libc::nfds_t;
            libc::ppoll(
                polled.as_mut_ptr(),
                count,
                &raw const wait,
                std::ptr::null(),
            )
        };
        if ready > 0 {
            let at = now();
            for (member, entry) in self.members.iter_mut().zip(&polled) {
                if entry.revents != 0 {
                    member.ended = Some(at);
                }
            }
        }
        let all = self.members.iter().all(|m| m.ended.is_some());
        if all && self.busy_ns.is_none() {
            let from = self.busy_from_ns;
            self.busy_ns =
                from.and_then(|from| cpus::busy_ns(&cpus::allowed_cpus())?.checked_sub(from));
        }
        all
    }

    /// Kills all members with their process groups, including those that are still held.
    pub(crate) fn kill(&self) {
        self.members.iter().for_each(|m| m.held.kill());
    }

    /// Returns an error if a member could not be executed.
    pub(crate) fn check_started(&mut self) -> Result<(), TraceError> {
        let let_go = self.members.iter_mut().filter(|m| m.released.is_some());
        for member in let_go {
            member.held.wait_exec()?;
        }
        Ok(())
    }

    /// Reaps all members and adds their ends to the trace. Times are relative to `start`.
    pub(crate) fn reap(
        mut self,
        trace: Trace,
        start: u64,
        cut_short: bool,
    ) -> Result<GroupTrace, TraceError> {
        let mut ends = Vec::with_capacity(self.members.len());
        for member in &mut self.members {
            let (status, usage) = member.held.reap()?;
            let since = |at: Option<u64>| at.map_or(0, |at| at.saturating_sub(start));
            ends.push(MemberEnd {
                pid: member.held.pid,
                started_ns: since(member.released),
                ended_ns: since(member.ended),
                end: crate::accounts::end(status, cut_short),
                accounts: crate::accounts::accounts(&usage),
            });
        }
        let exec_called_clock_ns = self.members.first().and_then(|m| m.held.exec_called());
        Ok(GroupTrace {
            trace: Trace {
                started_clock_ns: start,
                busy_cpus_ns: self.busy_ns,
                exec_called_clock_ns,
                ..trace
            },
            members: ends,
        })
    }
}
