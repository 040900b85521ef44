//! Takes what a command writes to its pipes, in bounded memory.
//!
//! A thread sleeps until there is something to read; a command that writes nothing never wakes it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use sha2::{Digest, Sha256};

/// How much of standard error is kept.
const TAIL_BYTES: usize = 4096;
/// As much as a pipe holds by default.
const CHUNK_BYTES: usize = 64 * 1024;
/// More than the largest pipe that a user may make (1 MiB) holds.
const CHUNKS_AT_ONCE: usize = 32;

/// What came out of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Captured {
    /// The last bytes of standard error.
    pub stderr_tail: Vec<u8>,
    /// Bytes of standard output that came through the pipe.
    pub stdout_bytes: u64,
    /// SHA-256 of standard output, if it was asked for.
    pub stdout_sha256: Option<[u8; 32]>,
}

struct State {
    stdout: OwnedFd,
    stderr: OwnedFd,
    hasher: Option<Sha256>,
    stdout_bytes: u64,
    tail: VecDeque<u8>,
    buffer: Vec<u8>,
}

/// The reading ends of both pipes and the thread that empties them.
pub(crate) struct Drain {
    state: Arc<Mutex<State>>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Drain {
    /// Starts the thread. Both descriptors become non-blocking.
    pub fn start(stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Drain> {
        for descriptor in [&stdout, &stderr] {
            // SAFETY: an open descriptor of ours.
            if unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: takes numbers, returns a new descriptor.
        let stop = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if stop < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, owned by nobody else.
        let stop = unsafe { OwnedFd::from_raw_fd(stop) };
        let descriptors = [stdout.as_raw_fd(), stderr.as_raw_fd(), stop.as_raw_fd()];
        let state = Arc::new(Mutex::new(State {
            stdout,
            stderr,
            hasher: None,
            stdout_bytes: 0,
            tail: VecDeque::with_capacity(TAIL_BYTES),
            buffer: vec![0; CHUNK_BYTES],
        }));
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("drain".into())
            .stack_size(128 * 1024)
            .spawn(move || empty_until_stopped(&shared, descriptors))?;
        Ok(Drain {
            state,
            stop,
            thread: Some(thread),
        })
    }

    /// Forgets what came before and gets ready for a run. `may_be_full`: a process that an earlier run
    /// left behind may have written meanwhile.
    pub fn begin(&self, hash_stdout: bool, may_be_full: bool) {
        let mut state = self.lock();
        if may_be_full {
            state.empty();
        }
        state.tail.clear();
        state.stdout_bytes = 0;
        state.hasher = hash_stdout.then(Sha256::new);
    }

    /// Takes what is still in the pipes and returns what came since [`Drain::begin`].
    pub fn finish(&self) -> Captured {
        let mut state = self.lock();
        state.empty();
        Captured {
            stderr_tail: state.tail.iter().copied().collect(),
            stdout_bytes: state.stdout_bytes,
            stdout_sha256: state.hasher.take().map(|hasher| hasher.finalize().into()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Drain {
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

fn empty_until_stopped(state: &Mutex<State>, descriptors: [RawFd; 3]) {
    let mut polled = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    loop {
        // SAFETY: an array of three.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1) };
        if ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
        if polled[2].revents != 0 {
            return;
        }
        let hung_up = |p: &libc::pollfd| p.revents & (libc::POLLHUP | libc::POLLERR) != 0;
        let both_closed = hung_up(&polled[0]) && hung_up(&polled[1]);
        state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .empty();
        if both_closed {
            return;
        }
        for entry in &mut polled[..2] {
            if hung_up(entry) {
                // A closed pipe reports itself without end; -1 is passed over.
                entry.fd = -1;
            }
        }
    }
}

impl State {
    /// Reads both pipes until they have nothing more, or [`CHUNKS_AT_ONCE`] were read: what a process
    /// that was left behind keeps writing must not hold up the end of a run.
    fn empty(&mut self) {
        for _ in 0..CHUNKS_AT_ONCE {
            let got = read(&self.stdout, &mut self.buffer);
            if got == 0 {
                break;
            }
            self.stdout_bytes += got as u64;
            if let Some(hasher) = &mut self.hasher {
                hasher.update(&self.buffer[..got]);
            }
        }
        for _ in 0..CHUNKS_AT_ONCE {
            let got = read(&self.stderr, &mut self.buffer);
            if got == 0 {
                break;
            }
            let kept = &self.buffer[got.saturating_sub(TAIL_BYTES)..got];
            let over = (self.tail.len() + kept.len()).saturating_sub(TAIL_BYTES);
            self.tail.drain(..over);
            self.tail.extend(kept);
        }
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
