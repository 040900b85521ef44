//! Reads what the stages write to standard error, and output that has no other reader, in bounded memory.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::emptying::{Empty, Emptying, Tail, read};

/// More bytes than the largest pipe that a user may create can hold (1 MiB).
const MOST_AT_ONCE: usize = 1 << 21;

struct State {
    errors: Vec<(OwnedFd, Tail)>,
    stdout: OwnedFd,
    /// `/dev/null`, to which standard output is moved without copying.
    null: OwnedFd,
    buffer: Vec<u8>,
}

/// The read ends, and the thread that drains them.
pub(super) struct Tails(Emptying<State>);

impl Tails {
    /// Starts the thread for one standard error per stage, and the discarded standard output.
    pub(super) fn start(errors: Vec<OwnedFd>, stdout: OwnedFd) -> io::Result<Tails> {
        let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        let mut watched: Vec<RawFd> = errors.iter().map(AsRawFd::as_raw_fd).collect();
        watched.push(stdout.as_raw_fd());
        let state = State {
            errors: errors.into_iter().map(|e| (e, Tail::default())).collect(),
            stdout,
            null: null.into(),
            buffer: vec![0; 64 * 1024],
        };
        Emptying::start("tails", watched, state).map(Tails)
    }

    /// Discards earlier output.
    pub(super) fn begin(&self) {
        let mut state = self.0.lock();
        state.empty();
        state.errors.iter_mut().for_each(|(_, tail)| tail.clear());
    }

    /// Returns the end of each stage's standard error since [`Tails::begin`].
    pub(super) fn finish(&self) -> Vec<Vec<u8>> {
        let mut state = self.0.lock();
        state.empty();
        state.errors.iter().map(|(_, tail)| tail.bytes()).collect()
    }
}

impl Empty for State {
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
                tail.add(&self.buffer[..got]);
            }
        }
    }
}

impl State {
    /// Moves pages from the pipe to `/dev/null` without copying.
    fn discard(&self) -> usize {
        let none = std::ptr::null_mut();
        // SAFETY: two descriptors of ours, no offsets.
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
