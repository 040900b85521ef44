//! Takes what the stages write to standard error, and what nobody else reads, in bounded memory.
//!
//! A thread sleeps until there is something; stages that write nothing never wake it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// How much of each standard error is kept.
const TAIL_BYTES: usize = 4096;
/// More than the largest pipe that a user may make (1 MiB) holds.
const MOST_AT_ONCE: usize = 1 << 21;

struct State {
    errors: Vec<(OwnedFd, VecDeque<u8>)>,
    stdout: OwnedFd,
    /// Where standard output goes without being copied.
    null: OwnedFd,
    buffer: Vec<u8>,
}

/// The reading ends and the thread that empties them.
pub(super) struct Tails {
    state: Arc<Mutex<State>>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Tails {
    /// Starts the thread for one standard error per stage, and the standard output that is thrown away.
    pub fn start(errors: Vec<OwnedFd>, stdout: OwnedFd) -> io::Result<Tails> {
        for descriptor in errors.iter().chain([&stdout]) {
            // SAFETY: an open descriptor of ours.
            if unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        // SAFETY: takes numbers, returns a new descriptor.
        let stop = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if stop < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, owned by nobody else.
        let stop = unsafe { OwnedFd::from_raw_fd(stop) };
        let mut watched: Vec<RawFd> = errors.iter().map(AsRawFd::as_raw_fd).collect();
        watched.extend([stdout.as_raw_fd(), stop.as_raw_fd()]);
        let state = Arc::new(Mutex::new(State {
            errors: errors.into_iter().map(|e| (e, VecDeque::new())).collect(),
            stdout,
            null: null.into(),
            buffer: vec![0; 64 * 1024],
        }));
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("tails".into())
            .stack_size(128 * 1024)
            .spawn(move || empty_until_stopped(&shared, &watched))?;
        Ok(Tails {
            state,
            stop,
            thread: Some(thread),
        })
    }

    /// Forgets what came before.
    pub fn begin(&self) {
        let mut state = lock(&self.state);
        state.empty();
        state.errors.iter_mut().for_each(|(_, tail)| tail.clear());
    }

    /// The end of each stage's standard error since [`Tails::begin`].
    pub fn finish(&self) -> Vec<Vec<u8>> {
        let mut state = lock(&self.state);
        state.empty();
        let tails = state.errors.iter();
        tails
            .map(|(_, tail)| tail.iter().copied().collect())
            .collect()
    }
}

impl Drop for Tails {
    fn drop(&mut self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes into our own eventfd.
        unsafe { libc::write(self.stop.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        if let Some(thread) = self.thread.take() {
            // The thread can't panic but by a defect; there is nothing to do about it here.
            let _ = thread.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn empty_until_stopped(state: &Mutex<State>, watched: &[RawFd]) {
    let mut polled: Vec<libc::pollfd> = watched
        .iter()
        .map(|fd| libc::pollfd {
            fd: *fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    loop {
        // SAFETY: as many entries as are said.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1) };
        if ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
        if polled.last().is_none_or(|stop| stop.revents != 0) {
            return;
        }
        lock(state).empty();
        for entry in &mut polled {
            if entry.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                // A closed pipe reports itself without end; -1 is passed over.
                entry.fd = -1;
            }
        }
    }
}

impl State {
    /// Takes what is there, but not for ever from a process that goes on writing.
    fn empty(&mut self) {
        let mut moved = 0;
        while moved < MOST_AT_ONCE {
            match self.discard() {
                0 => break,
                bytes => moved += bytes,
            }
        }
        for (source, tail) in &mut self.errors {
            let mut moved = 0;
            while moved < MOST_AT_ONCE {
                let got = read(source, &mut self.buffer);
                if got == 0 {
                    break;
                }
                moved += got;
                let kept = &self.buffer[got.saturating_sub(TAIL_BYTES)..got];
                let over = (tail.len() + kept.len()).saturating_sub(TAIL_BYTES);
                tail.drain(..over.min(tail.len()));
                tail.extend(kept);
            }
        }
    }

    /// Moves pages from the pipe to `/dev/null`; nothing is copied.
    fn discard(&self) -> usize {
        let none = std::ptr::null_mut();
        // SAFETY: two descriptors of ours, no positions.
        let moved = unsafe {
            libc::splice(
                self.stdout.as_raw_fd(),
                none,
                self.null.as_raw_fd(),
                none,
                1 << 20,
                libc::SPLICE_F_NONBLOCK | libc::SPLICE_F_MOVE,
            )
        };
        usize::try_from(moved).unwrap_or(0)
    }
}

fn read(from: &OwnedFd, into: &mut [u8]) -> usize {
    loop {
        // SAFETY: at most the length of the buffer.
        let got = unsafe { libc::read(from.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) };
        if got >= 0 {
            return got as usize;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return 0;
        }
    }
}
