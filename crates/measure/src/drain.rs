//! Reads what a command writes to its pipes, in bounded memory.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use sha2::{Digest, Sha256};

use crate::emptying::{Empty, Emptying, Tail, read};

/// The default capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;
/// Enough for more than the largest pipe that a user may create (1 MiB).
const CHUNKS_AT_ONCE: usize = 32;

/// The captured output of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Captured {
    /// The last bytes of standard error.
    pub stderr_tail: Vec<u8>,
    /// The number of bytes of standard output that came through the pipe.
    pub stdout_bytes: u64,
    /// The SHA-256 of standard output, if requested.
    pub stdout_sha256: Option<[u8; 32]>,
}

struct State {
    stdout: OwnedFd,
    stderr: OwnedFd,
    hasher: Option<Sha256>,
    stdout_bytes: u64,
    tail: Tail,
    buffer: Vec<u8>,
}

/// The read ends of both pipes, and the thread that drains them.
pub(crate) struct Drain(Emptying<State>);

impl Drain {
    /// Starts the thread. Both descriptors become non-blocking.
    pub(crate) fn start(stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Drain> {
        let watched = vec![stdout.as_raw_fd(), stderr.as_raw_fd()];
        let state = State {
            stdout,
            stderr,
            hasher: None,
            stdout_bytes: 0,
            tail: Tail::default(),
            buffer: vec![0; CHUNK_BYTES],
        };
        Emptying::start("drain", watched, state).map(Drain)
    }

    /// Discards earlier output and prepares for a run. `may_be_full`: a process that an earlier run left
    /// behind may have written in the meantime.
    pub(crate) fn begin(&self, hash_stdout: bool, may_be_full: bool) {
        let mut state = self.0.lock();
        if may_be_full {
            state.empty();
        }
        state.tail.clear();
        state.stdout_bytes = 0;
        state.hasher = hash_stdout.then(Sha256::new);
    }

    /// Reads what is still in the pipes, and returns everything since [`Drain::begin`].
    pub(crate) fn finish(&self) -> Captured {
        let mut state = self.0.lock();
        state.empty();
        Captured {
            stderr_tail: state.tail.bytes(),
            stdout_bytes: state.stdout_bytes,
            stdout_sha256: state.hasher.take().map(|hasher| hasher.finalize().into()),
        }
    }
}

impl Empty for State {
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
            self.tail.add(&self.buffer[..got]);
        }
    }
}
