//! Converts any input to UTF-8 without a byte order mark. This is needed because PowerShell's `>` writes
//! UTF-16.

use std::io::{BufRead, BufReader, Cursor, Read};

/// Returns the same bytes without a byte order mark; input that begins as UTF-16 is converted to UTF-8.
pub fn decoded<'a>(mut input: impl BufRead + 'a) -> std::io::Result<Box<dyn BufRead + 'a>> {
    let mut start = Vec::new();
    input.by_ref().take(4).read_to_end(&mut start)?;
    let (mark, big) = match start[..] {
        [0xef, 0xbb, 0xbf, ..] => (3, None),
        [0xff, 0xfe, ..] => (2, Some(false)),
        [0xfe, 0xff, ..] => (2, Some(true)),
        // Input without a byte order mark is recognised because results begin with two ASCII characters.
        [first, 0, second, 0] if first > 0 && second > 0 => (0, Some(false)),
        [0, first, 0, second] if first > 0 && second > 0 => (0, Some(true)),
        _ => (0, None),
    };
    start.drain(..mark);
    let input = Cursor::new(start).chain(input);
    Ok(match big {
        None => Box::new(input),
        Some(big) => Box::new(BufReader::new(Utf16 {
            input,
            big,
            rest: Vec::new(),
            text: Cursor::new(Vec::new()),
        })),
    })
}

struct Utf16<R> {
    input: R,
    /// Whether the high byte comes first.
    big: bool,
    /// Bytes of an incomplete character.
    rest: Vec<u8>,
    text: Cursor<Vec<u8>>,
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let length = self.text.read(buffer)?;
            if length > 0 || buffer.is_empty() || !self.more()? {
                return Ok(length);
            }
        }
    }
}

impl<R: BufRead> Utf16<R> {
    /// Decodes the buffered bytes; returns false at the end.
    fn more(&mut self) -> std::io::Result<bool> {
        let bytes = self.input.fill_buf()?;
        let (read, ends) = (bytes.len(), bytes.is_empty());
        self.rest.extend_from_slice(bytes);
        self.input.consume(read);
        let unit = |pair: &[u8]| match self.big {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        };
        let mut units: Vec<u16> = self.rest.chunks_exact(2).map(unit).collect();
        // The first half of a surrogate pair is kept until the second one arrives.
        let halved = units
            .last()
            .is_some_and(|last| (0xd800..0xdc00).contains(last));
        if halved && !ends {
            units.pop();
        }
        self.rest.drain(..2 * units.len());
        let more = !units.is_empty();
        let text: String = char::decode_utf16(units)
            .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        self.text = Cursor::new(text.into_bytes());
        Ok(more || !ends)
    }
}
