//! Frames of WebSocket, read as they come, in bounded memory.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use crate::response::Malformed;

/// Longest message.
const MOST_MESSAGE: usize = 16 << 20;
/// Longest payload of a control frame, by the standard.
const MOST_CONTROL: usize = 125;
/// What every compressed message ends with, and leaves out.
const DEFLATE_END: [u8; 4] = [0, 0, 0xff, 0xff];

const CONTINUATION: u8 = 0;
/// Text.
pub(super) const TEXT: u8 = 1;
const BINARY: u8 = 2;
/// The end.
pub(super) const CLOSE: u8 = 8;
const PING: u8 = 9;
/// The answer to a ping.
pub(super) const PONG: u8 = 10;

/// What the other side sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Text or binary data.
    Data(Vec<u8>),
    /// To be answered with the same.
    Ping(Vec<u8>),
    /// An answer to a ping.
    Pong,
    /// No more will come.
    Close,
}

/// Reads frames, masked or not.
#[derive(Debug, Default)]
pub struct Frames {
    held: Vec<u8>,
    /// The parts of a message that goes on; whether it is compressed.
    parts: Option<(Vec<u8>, bool)>,
    deflate: bool,
}

impl Frames {
    /// `deflate`: both sides agreed on `permessage-deflate` without context takeover.
    pub fn new(deflate: bool) -> Frames {
        Frames {
            deflate,
            ..Frames::default()
        }
    }

    /// Bytes that came.
    pub fn add(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// The next whole message.
    ///
    /// # Errors
    /// [`Malformed`]: nothing on this connection can be understood any more.
    pub fn next_message(&mut self) -> Result<Option<Message>, Malformed> {
        loop {
            let Some((first, payload)) = self.next_frame()? else {
                return Ok(None);
            };
            let (last, compressed, opcode) = (first & 0x80 != 0, first & 0x40 != 0, first & 0xf);
            if first & 0x30 != 0 || (compressed && !self.deflate) {
                return Err(Malformed(
                    "a frame uses an extension that was not agreed on",
                ));
            }
            match opcode {
                CLOSE => return Ok(Some(Message::Close)),
                PING => return Ok(Some(Message::Ping(payload))),
                PONG => return Ok(Some(Message::Pong)),
                TEXT | BINARY if self.parts.is_none() => {
                    self.parts = Some((payload, compressed));
                }
                CONTINUATION => match &mut self.parts {
                    Some((parts, _)) if parts.len() + payload.len() <= MOST_MESSAGE => {
                        parts.extend_from_slice(&payload);
                    }
                    Some(_) => return Err(Malformed("a message is longer than 16 MiB")),
                    None => return Err(Malformed("a part of no message")),
                },
                TEXT | BINARY => return Err(Malformed("a message begins within another")),
                _ => return Err(Malformed("a frame of an unknown kind")),
            }
            if last && let Some((parts, compressed)) = self.parts.take() {
                let data = if compressed { inflate(parts)? } else { parts };
                return Ok(Some(Message::Data(data)));
            }
        }
    }

    /// First byte and payload of the next whole frame.
    fn next_frame(&mut self) -> Result<Option<(u8, Vec<u8>)>, Malformed> {
        let held = &self.held;
        let [first, second, ..] = held[..] else {
            return Ok(None);
        };
        let (masked, short) = (second & 0x80 != 0, usize::from(second & 0x7f));
        let is_control = first & 0x8 != 0;
        if is_control && (short > MOST_CONTROL || first & 0x80 == 0) {
            return Err(Malformed("a control frame is too long or in parts"));
        }
        let (length, mut begin) = match short {
            126 => match held.get(2..4) {
                Some(bytes) => (u64::from(u16::from_be_bytes([bytes[0], bytes[1]])), 4),
                None => return Ok(None),
            },
            127 => match held.get(2..10).map(<[u8; 8]>::try_from) {
                Some(Ok(bytes)) => (u64::from_be_bytes(bytes), 10),
                _ => return Ok(None),
            },
            short => (short as u64, 2),
        };
        if length > MOST_MESSAGE as u64 {
            return Err(Malformed("a message is longer than 16 MiB"));
        }
        let mask = match masked {
            true => match held.get(begin..begin + 4).map(<[u8; 4]>::try_from) {
                Some(Ok(mask)) => mask,
                _ => return Ok(None),
            },
            false => [0; 4],
        };
        begin += if masked { 4 } else { 0 };
        let end = begin + length as usize;
        let Some(payload) = held.get(begin..end) else {
            return Ok(None);
        };
        let payload = payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask);
        let payload = payload.collect();
        self.held.drain(..end);
        Ok(Some((first, payload)))
    }
}

/// Appends a frame with a whole message; `mask` of a client's.
pub fn write_frame(opcode: u8, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    write(0x80 | opcode, payload, mask, out);
}

/// The same with a compressed message.
pub(super) fn write_compressed(payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    write(0xc0 | TEXT, &deflate(payload), mask, out);
}

fn write(first: u8, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    let masked = if mask.is_some() { 0x80 } else { 0 };
    out.push(first);
    match payload.len() {
        short @ 0..=125 => out.push(masked | short as u8),
        middle @ 126..=0xffff => {
            out.push(masked | 126);
            out.extend_from_slice(&(middle as u16).to_be_bytes());
        }
        long => {
            out.push(masked | 127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(mask.as_ref().map_or(&[], |mask| &mask[..]));
    let mask = mask.unwrap_or_default();
    out.extend(
        payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask),
    );
}

fn deflate(payload: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::fast(), false);
    let mut out = Vec::with_capacity(payload.len() + 64);
    // Room is there for what can't be compressed, and its framing.
    out.reserve(payload.len() / 100);
    let done = compress.compress_vec(payload, &mut out, FlushCompress::Sync);
    if done.is_ok() && out.ends_with(&DEFLATE_END) {
        out.truncate(out.len() - DEFLATE_END.len());
    }
    out
}

fn inflate(mut bytes: Vec<u8>) -> Result<Vec<u8>, Malformed> {
    bytes.extend_from_slice(&DEFLATE_END);
    let mut decompress = Decompress::new(false);
    let mut out = Vec::with_capacity(bytes.len() * 4 + 256);
    loop {
        let (read, written) = (decompress.total_in(), decompress.total_out());
        let rest = &bytes[read as usize..];
        let done = decompress.decompress_vec(rest, &mut out, FlushDecompress::Sync);
        done.map_err(|_| Malformed("a compressed message can't be read"))?;
        if decompress.total_in() == bytes.len() as u64 && out.len() < out.capacity() {
            return Ok(out);
        }
        if out.len() >= MOST_MESSAGE {
            return Err(Malformed("a message is longer than 16 MiB"));
        }
        if (decompress.total_in(), decompress.total_out()) == (read, written) {
            return Err(Malformed("a compressed message can't be read"));
        }
        if out.len() == out.capacity() {
            out.reserve(out.len().min(MOST_MESSAGE));
        }
    }
}
