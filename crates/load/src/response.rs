//! Parses HTTP/1.1 responses incrementally, in bounded memory.

use httparse::{Header, Status};

/// Maximum length of the head of a response.
const MOST_HEAD: usize = 64 << 10;
/// Maximum number of header lines; `httparse` needs it in advance.
const MOST_HEADERS: usize = 128;
/// Maximum length of a chunk size line, and of the trailer.
const MOST_LINE: usize = 8 << 10;
/// Maximum number of interim responses (100, 103) before the real one.
const MOST_INTERIM: u32 = 16;

/// The status of a server that switches to another protocol.
pub(crate) const SWITCHING: u16 = 101;

/// A complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Length of the body, without the framing of chunks.
    pub body_bytes: u64,
    /// Whether the body equals the one that it was compared with.
    pub same_body: bool,
    /// Whether another request may be sent on this connection.
    pub keeps_alive: bool,
}

/// The received data is not an HTTP/1.1 response; the text says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// The result of feeding some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The response is incomplete.
    More,
    /// The response is complete after this many of the bytes.
    Done(usize, Answer),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    /// This many bytes are still to come.
    Length(u64),
    /// The body ends when the connection is closed.
    ToEnd,
    ChunkSize,
    Chunk(u64),
    /// The line end after a chunk, of which this many bytes have arrived.
    ChunkEnd(u8),
    Trailer,
}

/// Reads responses in sequence.
#[derive(Debug, Clone)]
pub struct Reader {
    state: State,
    /// The incomplete head or line.
    held: Vec<u8>,
    interim: u32,
    /// Whether the request was `HEAD`: no body follows then, whatever the head declares.
    head_only: bool,
    /// Whether the request asked to switch to another protocol.
    switches: bool,
    answer: Answer,
}

/// Receives the body of a response in pieces.
pub trait Body {
    /// Takes the next bytes, which follow `before` earlier ones. Returns whether they are as expected.
    fn take(&mut self, before: u64, bytes: &[u8]) -> bool;
    /// Returns whether a body of this length is as expected.
    fn end(&mut self, length: u64) -> bool;
}

impl Reader {
    /// Creates a reader for the responses to `HEAD` requests if `head_only`, else to other requests.
    pub fn new(head_only: bool) -> Reader {
        Reader {
            state: State::Head,
            held: Vec::new(),
            interim: 0,
            head_only,
            switches: false,
            answer: EMPTY,
        }
    }

    /// Creates a reader for the response to a request that asks to switch to another protocol: status 101 is
    /// a complete response.
    pub fn switching() -> Reader {
        Reader {
            switches: true,
            ..Reader::new(false)
        }
    }

    /// Forgets the parts of a response that won't be completed.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.held.clear();
        self.interim = 0;
        self.answer = EMPTY;
    }

    /// Feeds the next bytes.
    ///
    /// # Errors
    /// [`Malformed`]: the rest of this connection can't be parsed.
    pub fn feed(&mut self, bytes: &[u8], body: &mut impl Body) -> Result<Progress, Malformed> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match self.state {
                State::Head => {
                    let Some(used) = self.head(rest)? else {
                        return Ok(Progress::More);
                    };
                    at += used;
                    if self.answer.status < 200 && self.answer.status != SWITCHING {
                        self.interim += 1;
                        if self.interim > MOST_INTERIM {
                            return Err(Malformed("more than 16 interim answers"));
                        }
                        self.state = State::Head;
                    } else if self.state == State::Length(0) {
                        return Ok(self.done(at, body));
                    }
                }
                State::Length(left) | State::Chunk(left) => {
                    let taken = left.min(rest.len() as u64);
                    self.body(&rest[..taken as usize], body);
                    at += taken as usize;
                    self.state = match (self.state, left - taken) {
                        (State::Length(_), 0) => return Ok(self.done(at, body)),
                        (State::Length(_), left) => State::Length(left),
                        (_, 0) => State::ChunkEnd(0),
                        (_, left) => State::Chunk(left),
                    };
                }
                State::ToEnd => {
                    self.body(rest, body);
                    at = bytes.len();
                }
                State::ChunkSize => {
                    let Some((used, size)) = self.line(rest)? else {
                        return Ok(Progress::More);
                    };
                    at += used;
                    let size = chunk_size(&size)?;
                    self.state = match size {
                        0 => State::Trailer,
                        size => State::Chunk(size),
                    };
                }
                State::ChunkEnd(came) => {
                    let expected = if came == 0 { b'\r' } else { b'\n' };
                    if rest[0] != expected {
                        return Err(Malformed("a chunk is longer than its declared size"));
                    }
                    at += 1;
                    self.state = match came {
                        0 => State::ChunkEnd(1),
                        _ => State::ChunkSize,
                    };
                }
                State::Trailer => {
                    let Some((used, line)) = self.line(rest)? else {
                        return Ok(Progress::More);
                    };
                    at += used;
                    if line.is_empty() {
                        return Ok(self.done(at, body));
                    }
                    self.interim += 1;
                    if self.interim > MOST_HEADERS as u32 {
                        return Err(Malformed("more than 128 trailers"));
                    }
                }
            }
        }
        Ok(Progress::More)
    }

    /// Handles the end of the connection. Returns `None` if that doesn't complete a response.
    pub fn end(&mut self, body: &mut impl Body) -> Option<Answer> {
        if self.state != State::ToEnd {
            return None;
        }
        match self.done(0, body) {
            Progress::Done(_, answer) => Some(answer),
            Progress::More => None,
        }
    }

    fn body(&mut self, bytes: &[u8], body: &mut impl Body) {
        self.answer.same_body &= body.take(self.answer.body_bytes, bytes);
        self.answer.body_bytes += bytes.len() as u64;
    }

    fn done(&mut self, used: usize, body: &mut impl Body) -> Progress {
        let mut answer = self.answer;
        answer.same_body &= body.end(answer.body_bytes);
        self.reset();
        Progress::Done(used, answer)
    }

    /// Returns the bytes of the head that were used; `None` if it is incomplete.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        // The usual case copies nothing.
        if self.held.is_empty() {
            if let Some(used) = self.parse(bytes)? {
                return Ok(Some(used));
            }
            self.hold(bytes, MOST_HEAD)?;
            return Ok(None);
        }
        let before = self.held.len();
        // Take only up to the maximum length of a head: the rest may be a body of any length.
        let room = (MOST_HEAD + 1 - before.min(MOST_HEAD)).min(bytes.len());
        self.hold(&bytes[..room], MOST_HEAD + 1)?;
        // A head that arrives in small pieces is parsed again only when a line has ended, since it must end
        // with one.
        if !bytes[..room].contains(&b'\n') && self.held.len() <= MOST_HEAD {
            return Ok(None);
        }
        let held = std::mem::take(&mut self.held);
        match self.parse(&held)? {
            Some(used) => Ok(Some(used - before)),
            None if held.len() > MOST_HEAD => Err(Malformed("the head is longer than 64 KiB")),
            None => {
                self.held = held;
                Ok(None)
            }
        }
    }

    fn hold(&mut self, bytes: &[u8], most: usize) -> Result<(), Malformed> {
        if self.held.len() + bytes.len() > most {
            return Err(Malformed("the head is longer than 64 KiB"));
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let used = match response.parse(bytes) {
            Ok(Status::Complete(used)) => used,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Malformed("more than 128 header lines"));
            }
            Err(_) => return Err(Malformed("the head is not HTTP/1.1")),
        };
        let status = response.code.unwrap_or(0);
        let framing = Framing::of(response.headers, response.version == Some(1))?;
        self.answer = Answer {
            status,
            keeps_alive: framing.keeps_alive,
            ..EMPTY
        };
        if status == SWITCHING && !self.switches {
            return Err(Malformed(
                "it switches to another protocol without being asked",
            ));
        }
        self.state = match (framing.chunked, framing.length) {
            _ if self.head_only || status == 204 || status == 304 || status < 200 => {
                State::Length(0)
            }
            (true, _) => State::ChunkSize,
            (false, Some(length)) => State::Length(length),
            (false, None) => {
                self.answer.keeps_alive = false;
                State::ToEnd
            }
        };
        Ok(Some(used))
    }

    /// Returns a complete line without its end, and the number of new bytes used for it.
    fn line(&mut self, bytes: &[u8]) -> Result<Option<(usize, Vec<u8>)>, Malformed> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |at| at + 1);
        if self.held.len() + taken > MOST_LINE {
            return Err(Malformed(
                "a chunk-size or trailer line is longer than 8 KiB",
            ));
        }
        self.held.extend_from_slice(&bytes[..taken]);
        if end.is_none() {
            return Ok(None);
        }
        let mut line = std::mem::take(&mut self.held);
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some((taken, line)))
    }
}

const EMPTY: Answer = Answer {
    status: 0,
    body_bytes: 0,
    same_body: true,
    keeps_alive: true,
};

/// The head's information about the body and the connection.
struct Framing {
    length: Option<u64>,
    chunked: bool,
    keeps_alive: bool,
}

impl Framing {
    fn of(headers: &[Header<'_>], is_1_1: bool) -> Result<Framing, Malformed> {
        let mut framing = Framing {
            length: None,
            chunked: false,
            keeps_alive: is_1_1,
        };
        for header in headers {
            let name = header.name;
            if name.eq_ignore_ascii_case("content-length") {
                let length = std::str::from_utf8(header.value).ok();
                let digits = length.filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
                let length = digits
                    .and_then(|text| text.parse().ok())
                    .ok_or(Malformed("the length of the body is not a number"))?;
                if framing.length.is_some_and(|other| other != length) {
                    return Err(Malformed("the body has two lengths"));
                }
                framing.length = Some(length);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                framing.chunked |= has_token(header.value, b"chunked");
            } else if name.eq_ignore_ascii_case("connection") {
                if has_token(header.value, b"close") {
                    framing.keeps_alive = false;
                } else if has_token(header.value, b"keep-alive") {
                    framing.keeps_alive = true;
                }
            }
        }
        Ok(framing)
    }
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value
        .split(|byte| *byte == b',')
        .any(|word| word.trim_ascii().eq_ignore_ascii_case(token))
}

fn chunk_size(line: &[u8]) -> Result<u64, Malformed> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let text = std::str::from_utf8(digits.trim_ascii()).unwrap_or_default();
    let is_hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let size = is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    size.ok_or(Malformed("the size of a chunk is not a number"))
}

#[cfg(test)]
mod tests;
