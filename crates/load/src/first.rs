//! The first answer of a server that has just been started, with the moment of each step.

use std::os::fd::{AsRawFd, RawFd};

use crate::address::Address;
use crate::clock::now;
use crate::ledger::Failing;
use crate::request::{Expected, Taken};
use crate::response::{Progress, Reader};
use crate::socket::{Socket, failing};

/// When what happened, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct First {
    /// The kernel had accepted the connection.
    pub connected: u64,
    /// The first byte of the answer was here.
    pub first_byte: u64,
    /// The whole answer was.
    pub complete: u64,
    /// The answer.
    pub expected: Expected,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// It failed; the text says more where there is more to say.
    Failed(Failing, &'static str),
    /// The other descriptor became readable.
    Woken,
}

/// Sends one request on a connection of its own and waits for the answer, until the moment `until`,
/// or until the descriptor `wake` is readable.
///
/// # Errors
/// [`NoAnswer`].
pub fn ask(
    address: &Address,
    request: &[u8],
    head_only: bool,
    until: u64,
    wake: Option<RawFd>,
) -> Result<First, NoAnswer> {
    let failed = |failing| NoAnswer::Failed(failing, "");
    let socket = Socket::connect(address).map_err(|error| failed(failing(&error, true)))?;
    let wait = |events| wait(socket.as_raw_fd(), events, until, wake);
    wait(libc::POLLOUT)?;
    socket
        .connected()
        .map_err(|error| failed(failing(&error, true)))?;
    let connected = now();
    let mut sent = 0;
    while sent < request.len() {
        match socket.send(&request[sent..]) {
            Ok(bytes) => sent += bytes,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => wait(libc::POLLOUT)?,
            Err(error) => return Err(failed(failing(&error, false))),
        }
    }
    let mut reader = Reader::new(head_only);
    let mut kept = Vec::new();
    let mut buffer = vec![0u8; 64 << 10];
    let mut first_byte = None;
    loop {
        wait(libc::POLLIN)?;
        let got = match socket.receive(&mut buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(failed(failing(&error, false))),
        };
        let at = now();
        let mut body = Taken {
            expected: None,
            kept: Some(&mut kept),
        };
        let answer = if got == 0 {
            let answer = reader.end(&mut body);
            answer.ok_or(failed(Failing::Closed))?
        } else {
            first_byte.get_or_insert(at);
            match reader.feed(&buffer[..got], &mut body) {
                Ok(Progress::More) => continue,
                Ok(Progress::Done(_, answer)) => answer,
                Err(malformed) => return Err(NoAnswer::Failed(Failing::Malformed, malformed.0)),
            }
        };
        return Ok(First {
            connected,
            first_byte: first_byte.unwrap_or(at),
            complete: at,
            expected: Expected { answer, body: kept },
        });
    }
}

fn wait(socket: RawFd, events: i16, until: u64, wake: Option<RawFd>) -> Result<(), NoAnswer> {
    let polled = |fd, events| libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    // `poll` passes over -1.
    let mut both = [
        polled(socket, events),
        polled(wake.unwrap_or(-1), libc::POLLIN),
    ];
    loop {
        let left = until.saturating_sub(now());
        if left == 0 {
            return Err(NoAnswer::Failed(Failing::TimedOut, ""));
        }
        let left = libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: two live entries, a live time, no signal mask.
        let ready = unsafe { libc::ppoll(both.as_mut_ptr(), 2, &raw const left, std::ptr::null()) };
        if ready > 0 && both[0].revents != 0 {
            return Ok(());
        }
        if ready > 0 && both[1].revents != 0 {
            return Err(NoAnswer::Woken);
        }
    }
}
