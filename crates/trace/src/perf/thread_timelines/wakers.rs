//! Which thread can have ended a wait?

use super::{Place, ThreadTimeline, ThreadTimelines};
use crate::calls;
use crate::result::{Cause, Interval};

/// Who wakes another thread may have left its CPU before the other is on one, by this much: 20 to
/// 40 us between the CPUs of a virtual machine, more where they are busy.
const WAKING_NS: u64 = 500_000;
/// With more threads alive, who woke whom is not searched for.
const MOST_WAKERS: usize = 256;

impl ThreadTimelines {
    /// A descriptor of a process leads to this pipe or socket.
    pub(in crate::perf) fn linked(&mut self, pid: u32, fd: i32, inode: u64) {
        if let Some(before) = self.links.insert((pid, fd), inode)
            && let Some(ends) = self.ends.get_mut(&before)
        {
            ends.remove(&(pid, fd));
        }
        self.ends.entry(inode).or_default().insert((pid, fd));
    }

    /// The thread that can have ended a wait: another one of the process for a lock, one that has
    /// the other end for a pipe; the one that was on a CPU last, if that was a moment ago. What a
    /// poll waits for isn't seen: one of the process that went to rest itself right then, as a
    /// worker does that has reported its result. Who ended right before a wait for no descriptor
    /// did was joined, whoever else ran.
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
