//! Drains pipes while others write to them, on a thread that sleeps until data arrives.
//!
//! Programs that write nothing never wake it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// The number of bytes kept from the end of standard error.
pub(crate) const TAIL_BYTES: usize = 4096;

/// Reads data from pipes.
pub(crate) trait Empty {
    /// Reads the available data. Must terminate even if a writer continues: output of a process that was left
    /// behind must not delay the end of a run.
    fn empty(&mut self);
}

/// The thread, and the state it works on.
pub(crate) struct Emptying<S> {
    state: Arc<Mutex<S>>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl<S: Empty + Send + 'static> Emptying<S> {
    /// Starts the thread. `watched`: the descriptors that `state` drains and owns; they become non-blocking.
    ///
    /// # Errors
    /// Errors of the system, if a descriptor or the thread can't be created.
    pub(crate) fn start(name: &str, watched: Vec<RawFd>, state: S) -> io::Result<Emptying<S>> {
        for descriptor in &watched {
            // SAFETY: takes only numbers; an invalid one is refused.
            if unsafe { libc::fcntl(*descriptor, libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: takes only numbers, and returns a new descriptor.
        let stop = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if stop < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just created, with no other owner.
        let stop = unsafe { OwnedFd::from_raw_fd(stop) };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let stopping = stop.as_raw_fd();
        let thread = std::thread::Builder::new()
            .name(name.into())
            .stack_size(128 * 1024)
            .spawn(move || empty_until_stopped(&*shared, &watched, stopping))?;
        Ok(Emptying {
            state,
            stop,
            thread: Some(thread),
        })
    }

    /// Locks the state; the thread waits meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, S> {
        lock(&self.state)
    }
}

impl<S> Drop for Emptying<S> {
    fn drop(&mut self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: writes eight bytes to our own eventfd.
        unsafe { libc::write(self.stop.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        if let Some(thread) = self.thread.take() {
            // The thread panics only because of a bug, which can't be handled here.
            let _ = thread.join();
        }
    }
}

/// Locks the state, which is still usable after a panic of the thread.
pub(crate) fn lock<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    state
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn empty_until_stopped<S: Empty>(state: &Mutex<S>, watched: &[RawFd], stop: RawFd) {
    let mut polled: Vec<libc::pollfd> = [stop]
        .iter()
        .chain(watched)
        .map(|fd| libc::pollfd {
            fd: *fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    loop {
        // SAFETY: passes the actual number of entries.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1) };
        if ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
        if polled[0].revents != 0 {
            return;
        }
        lock(state).empty();
        for entry in &mut polled[1..] {
            if entry.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                // A closed pipe is reported forever; `poll` skips -1.
                entry.fd = -1;
            }
        }
    }
}

/// The last bytes written.
#[derive(Debug, Default)]
pub(crate) struct Tail(VecDeque<u8>);

impl Tail {
    /// Adds bytes; keeps the last [`TAIL_BYTES`].
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(TAIL_BYTES)..];
        let over = (self.0.len() + kept.len()).saturating_sub(TAIL_BYTES);
        self.0.drain(..over);
        self.0.extend(kept);
    }

    /// Discards all bytes.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the kept bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.iter().copied().collect()
    }
}

/// Reads once; returns 0 if there is nothing (now, or at the end).
pub(crate) fn read(from: &OwnedFd, into: &mut [u8]) -> usize {
    loop {
        // SAFETY: reads at most the length of the buffer.
        let got = unsafe { libc::read(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) };
        if got >= 0 {
            return got as usize;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TAIL_BYTES, Tail};

    #[test]
    fn a_tail_keeps_the_last_bytes_however_they_come() {
        let all: Vec<u8> = (0..3 * TAIL_BYTES).map(|at| (at % 251) as u8).collect();
        for piece in [1, 100, TAIL_BYTES, 2 * TAIL_BYTES + 7] {
            let mut tail = Tail::default();
            all.chunks(piece).for_each(|bytes| tail.add(bytes));
            assert_eq!(tail.bytes(), all[all.len() - TAIL_BYTES..], "{piece}");
        }
    }
}
