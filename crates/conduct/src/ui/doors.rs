//! Limits the number of open connections. Any process on this machine can connect. Therefore, connections
//! without a complete request are closed first, oldest first, so that idle connections can't keep the user's
//! browser out.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of connections without a complete request. A browser sends its request right away.
const MOST_WAITING: usize = 64;
/// The maximum number of connections with an admitted request. A browser opens up to six connections to a
/// server, and may have several tabs.
const MOST_ANSWERED: usize = 64;

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Doors {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// Connections without a complete request, oldest first.
    waiting: VecDeque<(u64, Arc<TcpStream>)>,
    answered: usize,
    /// The number of connections, including those that were closed but whose threads haven't noticed yet.
    inside: usize,
}

/// An admitted connection. Dropping it releases its place.
#[derive(Debug)]
pub(super) struct Inside {
    doors: Arc<Doors>,
    number: u64,
    is_answered: bool,
}

impl Doors {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection; if there are too many, closes the one that has been silent longest.
    pub(super) fn enter(self: &Arc<Doors>, connection: &Arc<TcpStream>) -> Inside {
        let mut state = self.state();
        if state.waiting.len() >= MOST_WAITING {
            close(state.waiting.pop_front());
        }
        let number = state.next;
        state.next += 1;
        state.inside += 1;
        state.waiting.push_back((number, Arc::clone(connection)));
        Inside {
            doors: Arc::clone(self),
            number,
            is_answered: false,
        }
    }

    /// Closes all waiting connections, and waits for the others.
    pub(super) fn shut(&self, patience: Duration) {
        let mut state = self.state();
        while let Some(oldest) = state.waiting.pop_front() {
            close(Some(oldest));
        }
        let waited = self
            .changed
            .wait_timeout_while(state, patience, |state| state.inside > 0);
        drop(waited);
    }
}

fn close(waiting: Option<(u64, Arc<TcpStream>)>) {
    if let Some((_, connection)) = waiting {
        // The connection's reader then sees end of file. A connection that the client closed is already out.
        let _ = connection.shutdown(Shutdown::Both);
    }
}

impl Inside {
    /// Marks the request as complete and admitted; returns false if there are too many.
    pub(super) fn is_to_be_answered(&mut self) -> bool {
        let mut state = self.doors.state();
        state.waiting.retain(|(number, _)| *number != self.number);
        self.is_answered = state.answered < MOST_ANSWERED;
        state.answered += usize::from(self.is_answered);
        self.is_answered
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut state = self.doors.state();
        state.waiting.retain(|(number, _)| *number != self.number);
        state.answered -= usize::from(self.is_answered);
        state.inside -= 1;
        self.doors.changed.notify_all();
    }
}

/// A connection with a deadline for all reads and writes, however slowly the bytes arrive.
pub(super) struct Until<'c> {
    pub(super) connection: &'c TcpStream,
    pub(super) end: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.connection.set_read_timeout(self.left()?)?;
        self.connection.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.connection.set_write_timeout(self.left()?)?;
        self.connection.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.connection.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    /// Returns a connection and its other end.
    fn pair(listener: &TcpListener) -> (Arc<TcpStream>, TcpStream) {
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Arc::new(listener.accept().unwrap().0), other)
    }

    #[test]
    fn the_oldest_silent_one_goes_and_what_is_answered_stays() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let doors = Arc::new(Doors::default());
        let (asking, _asks) = pair(&listener);
        let mut first = doors.enter(&asking);
        assert!(first.is_to_be_answered());
        let mut all: Vec<_> = (0..=MOST_WAITING)
            .map(|_| {
                let (connection, other) = pair(&listener);
                (doors.enter(&connection), connection, other)
            })
            .collect();
        let mut byte = [0];
        assert_eq!((&*all[0].1).read(&mut byte).unwrap(), 0, "it was let go");
        all[1].2.write_all(b"x").unwrap();
        assert_eq!((&*all[1].1).read(&mut byte).unwrap(), 1, "it stays");
        for (inside, ..) in &mut all[1..MOST_ANSWERED] {
            assert!(inside.is_to_be_answered());
        }
        assert!(!all[MOST_ANSWERED].0.is_to_be_answered(), "one too many");
        drop(first);
        assert!(all[MOST_ANSWERED].0.is_to_be_answered());
        drop(all);
        doors.shut(Duration::MAX);
    }

    #[test]
    fn a_head_that_comes_byte_by_byte_has_an_end() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (connection, mut other) = pair(&listener);
        other.write_all(b"GET").unwrap();
        let mut until = Until {
            connection: &connection,
            end: Instant::now(),
        };
        let late = until.read(&mut [0]).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert!(until.write(b"x").is_err());
    }
}
