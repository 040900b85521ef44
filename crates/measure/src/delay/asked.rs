//! Delays calls one by one: the kernel notifies Fathom of each call, and Fathom lets the caller continue
//! after the delay.
//!
//! A notification costs two context switches, some 10 us, even if no delay is added. The command without a
//! delay therefore gets notifications too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::launcher::now_ns;
use crate::questions::{let_go_on, listener_from, next_question};

/// The thread that answers notifications.
#[derive(Debug)]
pub(crate) struct Asked {
    shared: Arc<Shared>,
    /// The launcher's end of the socket.
    handover: OwnedFd,
    /// Wakes the thread when something is written to it.
    wake: UnixDatagram,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    each_ns: AtomicU64,
    delayed_ns: AtomicU64,
    ends: AtomicBool,
}

impl Asked {
    pub(crate) fn start() -> io::Result<Asked> {
        let (ours, handover) = UnixDatagram::pair()?;
        let (wake, woken) = UnixDatagram::pair()?;
        let shared = Arc::new(Shared::default());
        let answering = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("fathom-delays".to_owned())
            .spawn(move || answer(&answering, &ours.into(), &woken.into()))?;
        Ok(Asked {
            shared,
            handover: handover.into(),
            wake,
            thread: Some(thread),
        })
    }

    /// Returns the end of the socket through which processes send their listeners.
    pub(crate) fn handover(&self) -> RawFd {
        self.handover.as_raw_fd()
    }

    /// Starts a run in which each call is delayed by `each`, and resets the counters.
    pub(crate) fn begin(&self, each: Duration) {
        self.shared.delayed_ns.store(0, Relaxed);
        let each = u64::try_from(each.as_nanos()).unwrap_or(u64::MAX);
        self.shared.each_ns.store(each, Relaxed);
    }

    /// Returns the sum of the delays since [`begin`](Self::begin), in nanoseconds.
    pub(crate) fn delayed_ns(&self) -> u64 {
        self.shared.delayed_ns.load(Relaxed)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.shared.ends.store(true, Relaxed);
        let _ = self.wake.send(b"e");
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A held caller, with the start and the end of its delay.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    until: u64,
    since: u64,
    question: u64,
    listener: RawFd,
}

fn answer(shared: &Shared, handover: &OwnedFd, woken: &OwnedFd) {
    // SAFETY: only sets the timer slack of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut listeners: Vec<OwnedFd> = Vec::new();
    let mut held: BinaryHeap<Reverse<Held>> = BinaryHeap::new();
    while !shared.ends.load(Relaxed) {
        let first = held.peek().map(|Reverse(first)| first.until);
        let ready = wait([woken, handover], &listeners, first);
        let now = now_ns();
        while let Some(Reverse(first)) = held.peek()
            && first.until <= now
        {
            release(shared, &listeners, first);
            held.pop();
        }
        for (listener, events) in listeners.iter().zip(&ready[2..]) {
            if events & libc::POLLIN == 0 {
                continue;
            }
            let Some(question) = next_question(listener) else {
                continue;
            };
            let since = now_ns();
            let one = Held {
                until: since.saturating_add(shared.each_ns.load(Relaxed)),
                since,
                question: question.id,
                listener: listener.as_raw_fd(),
            };
            match one.until == since {
                true => release(shared, &listeners, &one),
                false => held.push(Reverse(one)),
            }
        }
        let mut gone = ready[2..]
            .iter()
            .map(|events| events & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0);
        listeners.retain(|_| !gone.next().unwrap_or(false));
        if ready[1] & libc::POLLIN != 0 {
            listeners.extend(listener_from(handover));
        }
    }
}

/// Lets a caller continue, and counts its delay.
fn release(shared: &Shared, listeners: &[OwnedFd], held: &Held) {
    let listener = listeners
        .iter()
        .find(|one| one.as_raw_fd() == held.listener);
    if let Some(listener) = listener {
        let delayed = now_ns() - held.since;
        let_go_on(listener, held.question);
        if held.until > held.since {
            shared.delayed_ns.fetch_add(delayed, Relaxed);
        }
    }
}

/// Waits for events until the time `until`; returns the events of each descriptor.
fn wait(own: [&OwnedFd; 2], listeners: &[OwnedFd], until: Option<u64>) -> Vec<libc::c_short> {
    let all = own.into_iter().chain(listeners);
    let mut all: Vec<libc::pollfd> = all
        .map(|descriptor| libc::pollfd {
            fd: descriptor.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let left = until.map(|until| {
        let left = until.saturating_sub(now_ns());
        libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        }
    });
    let left = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the entries are live, and the timeout outlives the call.
    unsafe {
        libc::ppoll(
            all.as_mut_ptr(),
            all.len() as libc::nfds_t,
            left,
            std::ptr::null(),
        )
    };
    all.iter().map(|one| one.revents).collect()
}
