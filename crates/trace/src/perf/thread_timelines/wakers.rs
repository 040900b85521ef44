//! Finds the thread that may have ended a wait.

use super::{Place, ThreadTimeline, ThreadTimelines};
use crate::calls;
use crate::result::{Cause, Interval};

/// Maximum time, in ns, from when the waker leaves its CPU until the other thread is on a CPU: 20 to 40 us
/// between the CPUs of a virtual machine, more if they are busy.
const WAKING_NS: u64 = 500_000;
/// Maximum number of living threads up to which wakers are searched for.
const MOST_WAKERS: usize = 256;

impl ThreadTimelines {
    /// Notes that a descriptor of a process refers to this pipe or socket.
    pub(in crate::perf) fn linked(&mut self, pid: u32, fd: i32, inode: u64) {
        if let Some(before) = self.links.insert((pid, fd), inode)
            && let Some(ends) = self.ends.get_mut(&before)
        {
            ends.remove(&(pid, fd));
        }
        self.ends.entry(inode).or_default().insert((pid, fd));
    }

    /// Returns the thread that may have ended a wait. For a lock, the candidates are the other threads of the
    /// process; for a pipe, the threads that have the other end. In both cases it is the one that was last on
    /// a CPU, if that was a moment ago. It isn't visible what a poll waits for, so its candidates are the
    /// threads of the process that went to sleep by themselves at that moment, as a worker does after
    /// reporting its result. If a thread ended right before the end of a wait without a descriptor, the wait
    /// was a join of that thread, whatever other threads ran.
    pub(super) fn waker(&self, wait: &Interval) -> Option<u32> {
        let call = wait.call.as_deref()?;
        if self.alive.len() > MOST_WAKERS || wait.cause != Cause::Asleep {
            return None;
        }
        let polls = calls::is_poll(call);
        let ends: Vec<u32> = match wait.fd {
            _ if polls => vec![wait.pid],
            None if call.starts_with("futex") => vec![wait.pid],
            None => return None,
            Some(fd) => {
                let own = (wait.pid, fd);
                let ends = self.ends.get(self.links.get(&own)?)?;
                let others = ends.iter().filter(|end| **end != own);
                others.map(|(pid, _)| *pid).collect()
            }
        };
        let recent = self.over.iter().rev().take(MOST_WAKERS);
        let threads = self.alive.values().chain(recent);
        let candidates =
            threads.filter(|thread| thread.tid != wait.tid && ends.contains(&thread.pid));
        let last = |thread: &ThreadTimeline| match (thread.ended, thread.place) {
            (Some(at), _) | (None, Place::Waiting(at)) => Some(at),
            (None, _) if polls => None,
            (None, Place::On(_)) => Some(wait.to_ns),
            (None, Place::Able(at)) => Some(at),
        };
        let woke = candidates.filter_map(|thread| {
            let joined = wait.fd.is_none() && thread.ended.is_some();
            Some((joined, last(thread)?, thread.tid))
        });
        let woke = woke.filter(|(_, at, _)| wait.to_ns.saturating_sub(*at) <= WAKING_NS);
        woke.max().map(|(.., tid)| tid)
    }
}
