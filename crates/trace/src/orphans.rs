//! Ends the processes that a command left behind, in tiers where no record announces each new process.
//!
//! A daemon's parent is gone before the next sample. While a tree is watched, the kernel gives its orphans to
//! this process: they become children of its first thread. Fathom's own children are not children of that
//! thread, except those that already existed.

use std::collections::HashSet;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::watch::now;

/// Maximum time to wait for killed processes, ns. They are gone far sooner, unless a disk delays them.
const KILLED_WITHIN_NS: u64 = 2_000_000_000;
const PAUSE: Duration = Duration::from_millis(1);

/// Number of concurrent watchers; they share a setting of the whole process.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

/// Makes this process the parent of orphans while this value lives.
#[derive(Debug)]
pub struct Adopted {
    before: HashSet<u32>,
}

impl Adopted {
    /// Starts watching. Existing children are not orphans.
    pub fn begin() -> Self {
        if WATCHING.fetch_add(1, Ordering::SeqCst) == 0 {
            adopting(true);
        }
        let before = children().into_iter().collect();
        Self { before }
    }

    fn there(&self) -> Vec<u32> {
        let all = children().into_iter();
        all.filter(|pid| !self.before.contains(pid)).collect()
    }

    /// Ends all remaining processes, except those that `is_own` identifies as Fathom's own, and then the
    /// orphans that these leave. Returns the number of ended processes.
    pub fn end(&self, is_own: impl Fn(u32) -> bool) -> usize {
        let others = || {
            let all = self.there().into_iter();
            all.filter(|pid| !is_own(*pid)).collect()
        };
        // SAFETY: sends a signal to a child of this process, which keeps its process id until it is reaped
        // here.
        let kill = |pid| unsafe { libc::kill(pid as i32, libc::SIGKILL) } == 0;
        end_each(others, has_ended, kill)
    }
}

/// Kills the processes listed by `there` until none are left. Returns how many were killed.
///
/// The orphans of a process are only listed once the process has ended, which may be after the listing that
/// contained it. In addition, a listing may miss a child while another thread reaps its neighbour. Therefore
/// the processes are listed again after every end, and a process may be missing from one listing. Processes
/// that can't be killed are left.
fn end_each(
    there: impl Fn() -> Vec<u32>,
    has_ended: impl Fn(u32) -> bool,
    kill: impl Fn(u32) -> bool,
) -> usize {
    let mut killed = HashSet::new();
    let deadline = now() + KILLED_WITHIN_NS;
    let mut listed_none = 0;
    while listed_none < 2 && now() <= deadline {
        listed_none += 1;
        for pid in there() {
            if has_ended(pid) {
                listed_none = 0;
            } else if kill(pid) {
                listed_none = 0;
                killed.insert(pid);
            }
        }
        if listed_none == 0 {
            thread::sleep(PAUSE);
        }
    }
    killed.len()
}

impl Drop for Adopted {
    fn drop(&mut self) {
        if WATCHING.fetch_sub(1, Ordering::SeqCst) == 1 {
            adopting(false);
        }
    }
}

/// Adopts orphans, and ends the remaining ones when dropped.
#[derive(Debug)]
pub struct Orphans(Adopted);

impl Orphans {
    /// Starts adopting. The commands are already held and have no children yet.
    pub fn adopt() -> Self {
        Self(Adopted::begin())
    }

    /// Reaps the orphans that have ended.
    pub(crate) fn bury(&self) {
        self.0.there().into_iter().for_each(|pid| {
            has_ended(pid);
        });
    }

    /// Ends all remaining processes, and then the orphans that these leave. Returns the number of ended
    /// processes.
    pub(crate) fn end(&self) -> usize {
        self.0.end(|_| false)
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        self.end();
    }
}

fn adopting(on: bool) {
    // SAFETY: sets an attribute of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, libc::c_ulong::from(on)) };
}

/// Returns the children of this process's first thread.
fn children() -> Vec<u32> {
    let own = std::process::id();
    let text = fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default();
    let words = text.split_ascii_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Returns whether a child has ended; if so, reaps it.
fn has_ended(pid: u32) -> bool {
    // SAFETY: waits for a child without blocking; its status isn't requested.
    unsafe { libc::waitpid(pid as i32, std::ptr::null_mut(), libc::WNOHANG) != 0 }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A parent exits and leaves its child after the parent was listed and before it is reaped.
    #[test]
    fn what_comes_between_a_listing_and_the_wait_is_ended() {
        let children = RefCell::new(vec![1]);
        let kills = Cell::new(0);
        let has_ended = |pid| {
            let ends = kills.get() >= pid;
            if ends {
                children.borrow_mut().retain(|child| *child != pid);
                if pid < 4 {
                    children.borrow_mut().push(pid + 1);
                }
            }
            ends
        };
        let kill = |_| {
            kills.set(kills.get() + 1);
            true
        };
        assert_eq!(end_each(|| children.borrow().clone(), has_ended, kill), 4);
        assert!(children.borrow().is_empty());
    }

    #[test]
    fn what_may_not_be_killed_is_left() {
        assert_eq!(end_each(|| vec![1], |_| false, |_| false), 0);
    }
}
