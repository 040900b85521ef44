//! The first answer of a server that has just been started, with the moment of each step.

use std::os::fd::{AsRawFd, RawFd};

use crate::address::Address;
use crate::clock::now;
use crate::ledger::Failing;
use crate::request::{Expected, Taken};
use crate::response::{Progress, Reader};
use crate::socket::{Socket, failing};

/// Bytes that are received at a time.
const BUFFER: usize = 64 << 10;

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

/// Why there is no answer; the text says more where there is more to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAnswer(pub Failing, pub &'static str);

/// One request on a connection of its own, under way.
#[derive(Debug)]
pub struct Ask {
    socket: Socket,
    request: Vec<u8>,
    sent: usize,
    connected: Option<u64>,
    first_byte: Option<u64>,
    reader: Reader,
    kept: Vec<u8>,
    buffer: Vec<u8>,
}

impl Ask {
    /// Begins to connect.
    ///
    /// # Errors
    /// What is known at once: most often that nobody listens there.
    pub fn begin(address: &Address, request: &[u8], reader: Reader) -> Result<Ask, NoAnswer> {
        let socket = Socket::connect(address);
        Ok(Ask {
            socket: socket.map_err(|error| NoAnswer(failing(&error, true), ""))?,
            request: request.to_vec(),
            sent: 0,
            connected: None,
            first_byte: None,
            reader,
            kept: Vec::new(),
            buffer: vec![0; BUFFER],
        })
    }

    /// Goes on until there is the answer, at most until a moment; `None` as soon as one of the
    /// other descriptors has something. Then it can go on.
    ///
    /// # Errors
    /// [`NoAnswer`], which is the end of it.
    pub fn go_on(&mut self, until: u64, others: &[RawFd]) -> Result<Option<First>, NoAnswer> {
        loop {
            let waits_to_send = self.sent < self.request.len();
            let events = if waits_to_send {
                libc::POLLOUT
            } else {
                libc::POLLIN
            };
            if !wait(self.socket.as_raw_fd(), events, until, others)? {
                return Ok(None);
            }
            if waits_to_send {
                self.send()?;
            } else if let Some(first) = self.receive()? {
                return Ok(Some(first));
            }
        }
    }

    fn send(&mut self) -> Result<(), NoAnswer> {
        if self.connected.is_none() {
            let connected = self.socket.connected();
            connected.map_err(|error| NoAnswer(failing(&error, true), ""))?;
            self.connected = Some(now());
        }
        match self.socket.send(&self.request[self.sent..]) {
            Ok(bytes) => self.sent += bytes,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(NoAnswer(failing(&error, false), "")),
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<First>, NoAnswer> {
        let got = match self.socket.receive(&mut self.buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(NoAnswer(failing(&error, false), "")),
        };
        let at = now();
        let mut body = Taken {
            expected: None,
            kept: Some(&mut self.kept),
        };
        let answer = if got == 0 {
            let answer = self.reader.end(&mut body);
            answer.ok_or(NoAnswer(Failing::Closed, ""))?
        } else {
            self.first_byte.get_or_insert(at);
            match self.reader.feed(&self.buffer[..got], &mut body) {
                Ok(Progress::More) => return Ok(None),
                Ok(Progress::Done(_, answer)) => answer,
                Err(malformed) => return Err(NoAnswer(Failing::Malformed, malformed.0)),
            }
        };
        Ok(Some(First {
            connected: self.connected.unwrap_or(at),
            first_byte: self.first_byte.unwrap_or(at),
            complete: at,
            expected: Expected {
                answer,
                body: std::mem::take(&mut self.kept),
            },
        }))
    }
}

/// Sends one request to a server and waits for the answer, at most until a moment.
///
/// # Errors
/// [`NoAnswer`].
pub fn ask(
    address: &Address,
    request: &[u8],
    reader: Reader,
    until: u64,
) -> Result<First, NoAnswer> {
    let mut ask = Ask::begin(address, request, reader)?;
    loop {
        if let Some(first) = ask.go_on(until, &[])? {
            return Ok(first);
        }
    }
}

/// Whether the socket is ready; if not, one of the others has something.
fn wait(socket: RawFd, events: i16, until: u64, others: &[RawFd]) -> Result<bool, NoAnswer> {
    let polled = |fd: &RawFd| libc::pollfd {
        fd: *fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut all: Vec<libc::pollfd> = [socket].iter().chain(others).map(polled).collect();
    all[0].events = events;
    loop {
        let left = until.saturating_sub(now());
        let wait = libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        };
        let (at, count) = (all.as_mut_ptr(), all.len() as libc::nfds_t);
        // SAFETY: as many live entries as are said, a live time, no signal mask.
        let ready = unsafe { libc::ppoll(at, count, &raw const wait, std::ptr::null()) };
        match ready {
            1.. if all[0].revents != 0 => return Ok(true),
            1.. => return Ok(false),
            _ if left == 0 => return Err(NoAnswer(Failing::TimedOut, "")),
            _ => {}
        }
    }
}
