//! WebSocket frames, parsed incrementally in bounded memory.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use crate::response::Malformed;

/// Maximum length of a message.
const MOST_MESSAGE: usize = 16 << 20;
/// Maximum payload of a control frame, by the standard.
const MOST_CONTROL: usize = 125;
/// The omitted end of every compressed message.
const DEFLATE_END: [u8; 4] = [0, 0, 0xff, 0xff];

const CONTINUATION: u8 = 0;
/// Opcode of text.
pub(super) const TEXT: u8 = 1;
const BINARY: u8 = 2;
/// Opcode of a close frame.
pub(super) const CLOSE: u8 = 8;
const PING: u8 = 9;
/// Opcode of the response to a ping.
pub(super) const PONG: u8 = 10;

/// A message from the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Text or binary data.
    Data(Vec<u8>),
    /// A ping, to be answered with the same payload.
    Ping(Vec<u8>),
    /// The response to a ping.
    Pong,
    /// The peer closes the connection.
    Close,
}

/// Reads frames, masked or not.
#[derive(Debug, Default)]
pub struct Frames {
    held: Vec<u8>,
    /// The parts of an incomplete message, and whether it is compressed.
    parts: Option<(Vec<u8>, bool)>,
    deflate: bool,
}

impl Frames {
    /// Creates a reader. `deflate`: both sides agreed on `permessage-deflate` without context takeover.
    pub fn new(deflate: bool) -> Frames {
        Frames {
            deflate,
            ..Frames::default()
        }
    }

    /// Adds received bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// Returns the next complete message.
    ///
    /// # Errors
    /// [`Malformed`]: the rest of this connection can't be parsed.
    pub fn next_message(&mut self) -> Result<Option<Message>, Malformed> {
        loop {
            let Some((first, payload)) = self.next_frame()? else {
                return Ok(None);
            };
            let (last, compressed, opcode) = (first & 0x80 != 0, first & 0x40 != 0, first & 0xf);
            if first & 0x30 != 0 || (compressed && !self.deflate) {
                return Err(Malformed(
                    "a frame uses an extension that was not negotiated",
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
                    None => {
                        return Err(Malformed(
                            "a continuation frame does not belong to a message",
                        ));
                    }
                },
                TEXT | BINARY => return Err(Malformed("a message begins within another")),
                _ => return Err(Malformed("a frame is of an unknown kind")),
            }
            if last && let Some((parts, compressed)) = self.parts.take() {
                let data = if compressed { inflate(parts)? } else { parts };
                return Ok(Some(Message::Data(data)));
            }
        }
    }

    /// Returns the first byte and the payload of the next complete frame.
    fn next_frame(&mut self) -> Result<Option<(u8, Vec<u8>)>, Malformed> {
        let held = &self.held;
        let [first, second, ..] = held[..] else {
            return Ok(None);
        };
        let (masked, short) = (second & 0x80 != 0, usize::from(second & 0x7f));
        let is_control = first & 0x8 != 0;
        if is_control && (short > MOST_CONTROL || first & 0x80 == 0) {
            return Err(Malformed("a control frame is too long or fragmented"));
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

/// Appends a frame with a complete message; clients pass a `mask`.
pub fn write_frame(opcode: u8, payload: &[u8], mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
    write(0x80 | opcode, payload, mask, out);
}

/// Appends a frame with a compressed message.
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
    // Reserve room for incompressible data and its framing.
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
