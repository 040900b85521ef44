//! The first response of a server that has just been started, with a timestamp for each step.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use crate::address::Address;
use crate::clock::now;
use crate::http2::{Exchange, Talk, refusal};
use crate::ledger::Failing;
use crate::link::{Refusal, insecure};
use crate::request::{Expected, Request, Taken};
use crate::response::{Answer, Progress, Reader};
use crate::socket::failing;
use crate::stream::Stream;
use crate::tls::TlsTerms;

/// Maximum number of bytes in one receive call.
const BUFFER: usize = 64 << 10;

/// Times of the steps, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct First {
    /// When the kernel had accepted the connection.
    pub connected: u64,
    /// When the TLS handshake completed; `None` without TLS.
    pub secured: Option<u64>,
    /// When the first byte of the response arrived.
    pub first_byte: u64,
    /// When the response was complete.
    pub complete: u64,
    /// The response, which later ones are compared with.
    pub expected: Expected,
}

/// Why there is no response; the text adds details if there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAnswer(pub Failing, pub &'static str);

/// One outstanding request on a separate connection.
pub struct Ask {
    fd: RawFd,
    /// The stream, until it is passed to h2.
    stream: Option<Stream>,
    stage: Stage,
    /// The events to wait for, for `poll`.
    wanted: i16,
    request: Request,
    sent: usize,
    reader: Reader,
    by_http2: Option<(Talk, Exchange)>,
    connected: Option<u64>,
    secured: Option<u64>,
    first_byte: Option<u64>,
    kept: Vec<u8>,
    buffer: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Stage {
    Connecting,
    Securing,
    Sending,
    Receiving,
}

impl Ask {
    /// Begins to connect. `reader` is for a response by HTTP/1.1.
    ///
    /// # Errors
    /// Errors that are known immediately: most often that nothing listens there.
    pub fn begin(
        address: &Address,
        tls: Option<&TlsTerms>,
        request: Request,
        reader: Reader,
    ) -> Result<Ask, NoAnswer> {
        let stream = Stream::connect(address, tls);
        let stream = stream.map_err(|error| NoAnswer(failing(&error, true), ""))?;
        Ok(Ask {
            fd: stream.as_raw_fd(),
            stream: Some(stream),
            stage: Stage::Connecting,
            wanted: libc::POLLOUT,
            request,
            sent: 0,
            reader,
            by_http2: None,
            connected: None,
            secured: None,
            first_byte: None,
            kept: Vec::new(),
            buffer: vec![0; BUFFER],
        })
    }

    /// Continues until the response is complete, at most until `until`. Returns `None` as soon as one of the
    /// other descriptors is ready; call it again to continue.
    ///
    /// # Errors
    /// [`NoAnswer`], after which it can't continue.
    pub fn go_on(&mut self, until: u64, others: &[RawFd]) -> Result<Option<First>, NoAnswer> {
        loop {
            let ready = wait(self.fd, self.wanted, until, others);
            if !ready.map_err(|none| self.explained(none))? {
                return Ok(None);
            }
            let Some(answer) = self.advance()? else {
                continue;
            };
            let at = now();
            return Ok(Some(First {
                connected: self.connected.unwrap_or(at),
                secured: self.secured,
                first_byte: self.first_byte.unwrap_or(at),
                complete: at,
                expected: Expected {
                    answer,
                    body: std::mem::take(&mut self.kept),
                },
            }));
        }
    }

    /// Adds a hint: a server that waits for the rest of a line takes the first TLS record for a line, and
    /// waits forever.
    fn explained(&self, none: NoAnswer) -> NoAnswer {
        match (none.0, &self.stage) {
            (Failing::TimedOut, Stage::Securing) => NoAnswer(
                Failing::TimedOut,
                "the server does not speak TLS; should its address begin with http://?",
            ),
            _ => none,
        }
    }

    /// Does what is possible now. Without a response, `wanted` has the events to wait for.
    fn advance(&mut self) -> Result<Option<Answer>, NoAnswer> {
        if self.by_http2.is_some() {
            return self.go_on_by_http2();
        }
        let Some(stream) = &mut self.stream else {
            return Err(NoAnswer(Failing::Closed, ""));
        };
        match self.stage {
            Stage::Connecting => {
                let connected = stream.connected();
                connected.map_err(|error| NoAnswer(failing(&error, true), ""))?;
                self.connected = Some(now());
                self.stage = Stage::Securing;
                self.advance()
            }
            Stage::Securing => {
                let secured = stream.secure();
                let secured = secured.map_err(|error| no_answer(insecure(&error)))?;
                self.wanted = libc::POLLIN;
                if !secured {
                    self.wanted |= if stream.has_unsent() {
                        libc::POLLOUT
                    } else {
                        0
                    };
                    return Ok(None);
                }
                self.secured = stream.has_tls().then(now);
                self.stage = Stage::Sending;
                match &self.request {
                    Request::Http1(_) => self.advance(),
                    Request::Http2(_) => self.begin_by_http2(),
                }
            }
            Stage::Sending => {
                let Request::Http1(request) = &self.request else {
                    return Ok(None);
                };
                match stream.send(&request[self.sent..]) {
                    Ok(bytes) => self.sent += bytes,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(NoAnswer(failing(&error, false), "")),
                }
                if self.sent == request.len() && !stream.has_unsent() {
                    self.stage = Stage::Receiving;
                    self.wanted = libc::POLLIN;
                } else {
                    self.wanted = libc::POLLOUT;
                }
                Ok(None)
            }
            Stage::Receiving => self.receive(),
        }
    }

    fn receive(&mut self) -> Result<Option<Answer>, NoAnswer> {
        let got = match self
            .stream
            .as_mut()
            .map(|stream| stream.receive(&mut self.buffer))
        {
            None => return Err(NoAnswer(Failing::Closed, "")),
            Some(Ok(got)) => got,
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Some(Err(error)) => return Err(NoAnswer(failing(&error, false), "")),
        };
        let mut body = Taken {
            expected: None,
            kept: Some(&mut self.kept),
        };
        if got == 0 {
            let answer = self.reader.end(&mut body);
            return answer.map(Some).ok_or(NoAnswer(Failing::Closed, ""));
        }
        self.first_byte.get_or_insert_with(now);
        match self.reader.feed(&self.buffer[..got], &mut body) {
            Ok(Progress::More) => Ok(None),
            Ok(Progress::Done(_, answer)) => Ok(Some(answer)),
            Err(malformed) => Err(NoAnswer(Failing::Malformed, malformed.0)),
        }
    }

    fn begin_by_http2(&mut self) -> Result<Option<Answer>, NoAnswer> {
        let (Some(stream), Request::Http2(request)) = (self.stream.take(), &self.request) else {
            return Ok(None);
        };
        let talk = Talk::open(stream).map_err(no_answer)?;
        let mut exchange = Exchange::new();
        let begun = exchange.begin(request, &talk);
        begun.map_err(|error| no_answer(refusal(&error)))?;
        self.by_http2 = Some((talk, exchange));
        self.go_on_by_http2()
    }

    fn go_on_by_http2(&mut self) -> Result<Option<Answer>, NoAnswer> {
        let Some((talk, exchange)) = &mut self.by_http2 else {
            return Err(NoAnswer(Failing::Closed, ""));
        };
        let mut body = Taken {
            expected: None,
            kept: Some(&mut self.kept),
        };
        let mut readable = true;
        loop {
            let ended = talk.go_on(readable);
            readable = false;
            let news = exchange.take_flag();
            let answer = if news {
                exchange.go_on(&mut body)
            } else {
                None
            };
            if news && self.first_byte.is_none() && exchange.has_begun() {
                self.first_byte = Some(now());
            }
            if let Some(answer) = answer {
                return answer.map(Some).map_err(|error| no_answer(refusal(&error)));
            }
            if let Some(why) = ended {
                return Err(no_answer(why));
            }
            if !news {
                break;
            }
        }
        self.wanted = libc::POLLIN
            | if talk.seen.blocked.get() {
                libc::POLLOUT
            } else {
                0
            };
        Ok(None)
    }
}

fn no_answer((why, text): Refusal) -> NoAnswer {
    NoAnswer(why, text)
}

/// Sends one request to a server and waits for the response, at most until `until`.
///
/// # Errors
/// [`NoAnswer`].
pub fn ask(
    address: &Address,
    tls: Option<&TlsTerms>,
    request: Request,
    reader: Reader,
    until: u64,
) -> Result<First, NoAnswer> {
    let mut ask = Ask::begin(address, tls, request, reader)?;
    loop {
        if let Some(first) = ask.go_on(until, &[])? {
            return Ok(first);
        }
    }
}

/// Returns whether the socket is ready; if not, one of the others is.
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
        // SAFETY: the number of entries is correct, the time is live, and there is no signal mask.
        let ready = unsafe { libc::ppoll(at, count, &raw const wait, std::ptr::null()) };
        match ready {
            1.. if all[0].revents != 0 => return Ok(true),
            1.. => return Ok(false),
            _ if left == 0 => return Err(NoAnswer(Failing::TimedOut, "")),
            _ => {}
        }
    }
}
