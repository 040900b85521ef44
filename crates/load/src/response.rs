//! What did the server answer? HTTP/1.1, read as it comes, in bounded memory.

use httparse::{Header, Status};

/// Longest head of an answer.
const MOST_HEAD: usize = 64 << 10;
/// Most header lines; `httparse` needs their number beforehand.
const MOST_HEADERS: usize = 128;
/// Longest line with a chunk's size, and longest trailer.
const MOST_LINE: usize = 8 << 10;
/// Most interim answers (100, 103) before the real one.
const MOST_INTERIM: u32 = 16;

/// The status of who speaks another protocol from here on.
pub(crate) const SWITCHING: u16 = 101;

/// A whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Length of the body, without the framing of chunks.
    pub body_bytes: u64,
    /// The body is the one that it was compared with.
    pub same_body: bool,
    /// Another request may be sent on this connection.
    pub keeps_alive: bool,
}

/// What came is no HTTP/1.1 answer; the text says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// What follows from some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The answer goes on.
    More,
    /// It is whole after this many of the bytes.
    Done(usize, Answer),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    /// Bytes that are still to come.
    Length(u64),
    /// Until the connection is closed.
    ToEnd,
    ChunkSize,
    Chunk(u64),
    /// The line end behind a chunk: how many of its bytes came.
    ChunkEnd(u8),
    Trailer,
}

/// Reads one answer after the other.
#[derive(Debug, Clone)]
pub struct Reader {
    state: State,
    /// The head or line that hasn't come whole.
    held: Vec<u8>,
    interim: u32,
    /// The request was `HEAD`: no body follows, whatever the head says.
    head_only: bool,
    /// The request asked to speak another protocol from here on.
    switches: bool,
    answer: Answer,
}

/// Takes the body of an answer, piece by piece.
pub trait Body {
    /// The next bytes of it, which come after `before` others. Whether they are as they should be.
    fn take(&mut self, before: u64, bytes: &[u8]) -> bool;
    /// Whether a body of this length is as it should be.
    fn end(&mut self, length: u64) -> bool;
}

impl Reader {
    /// For answers to requests whose method is `HEAD`, or another.
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

    /// For the answer to a request that asks to speak another protocol: status 101 is a whole answer.
    pub fn switching() -> Reader {
        Reader {
            switches: true,
            ..Reader::new(false)
        }
    }

    /// Forgets what came of an answer that won't come whole.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.held.clear();
        self.interim = 0;
        self.answer = EMPTY;
    }

    /// The next bytes.
    ///
    /// # Errors
    /// [`Malformed`]: nothing on this connection can be understood any more.
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
                        return Err(Malformed("a chunk is longer than it says"));
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

    /// The connection was closed. `None` if no answer is whole by that.
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

    /// Bytes of the head that were taken; `None` if it isn't whole.
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
        // No further than a head may be long: the rest may be a body of any length.
        let room = (MOST_HEAD + 1 - before.min(MOST_HEAD)).min(bytes.len());
        self.hold(&bytes[..room], MOST_HEAD + 1)?;
        // A head that trickles is parsed again only when a line has ended, which it must.
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
            Err(_) => return Err(Malformed("the head is no HTTP/1.1 head")),
        };
        let status = response.code.unwrap_or(0);
        let framing = Framing::of(response.headers, response.version == Some(1))?;
        self.answer = Answer {
            status,
            keeps_alive: framing.keeps_alive,
            ..EMPTY
        };
        if status == SWITCHING && !self.switches {
            return Err(Malformed("it switches to another protocol, unasked"));
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

    /// A whole line without its end, and the bytes of it that came now.
    fn line(&mut self, bytes: &[u8]) -> Result<Option<(usize, Vec<u8>)>, Malformed> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |at| at + 1);
        if self.held.len() + taken > MOST_LINE {
            return Err(Malformed("a line of the chunks is longer than 8 KiB"));
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

/// What the head says of the body and the connection.
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
