//! Reads text line by line; the length of a line is bounded.

use std::io::BufRead;

use crate::error::{Error, malformed};

/// The maximum length of a line, in bytes; a longer one is not part of a result file.
pub(crate) const LONGEST: usize = 1 << 20;

/// Calls a function for each line, without its line end. Lines of any length are consumed, but those above 1
/// MB are refused.
pub(crate) fn each(
    input: &mut dyn BufRead,
    mut line: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut kept = Vec::new();
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return if kept.is_empty() {
                Ok(())
            } else {
                line(trimmed(&kept))
            };
        }
        let mut rest = buffer;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if kept.is_empty() {
                line(trimmed(&rest[..end]))?;
            } else {
                kept.extend_from_slice(&rest[..end]);
                line(trimmed(&kept))?;
                kept.clear();
            }
            rest = &rest[end + 1..];
        }
        if kept.len() + rest.len() > LONGEST {
            return Err(malformed("a line is longer than 1 MB"));
        }
        kept.extend_from_slice(rest);
        let used = buffer.len();
        input.consume(used);
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the lines of a document.
pub(crate) fn of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').map(trimmed)
}

pub(crate) fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, word)
}

/// Returns a text for display; invalid UTF-8 is replaced.
pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parses a finite number with or without thousands separators.
pub(crate) fn number(text: &str) -> Option<f64> {
    let value: f64 = if text.contains(',') {
        text.replace(',', "").parse()
    } else {
        text.parse()
    }
    .ok()?;
    value.is_finite().then_some(value)
}

/// Parses a number followed by its unit: `1.53ms`, `1.35k`, `30.9 µs`.
pub(crate) fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|char: char| !(char.is_ascii_digit() || ".,+-".contains(char)))
        .unwrap_or(text.len());
    Some((number(&text[..end])?, text[end..].trim()))
}

/// Returns the size of a unit of time in nanoseconds.
pub(crate) fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-3,
        "ns" => 1.0,
        // These are three spellings of micro, and the two-byte one as decoded with code pages 1252, 437, 850
        // and 936, which is how it comes out of a PowerShell pipe.
        "us" | "µs" | "μs" | "Âµs" | "┬╡s" | "┬Ás" | "碌s" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 6e10,
        "h" => 3.6e12,
        _ => return None,
    })
}

/// Parses a time such as `1.53ms`, in a unit of `unit` nanoseconds.
pub(crate) fn time(text: &str, unit: f64) -> Option<f64> {
    let (value, written) = quantity(text)?;
    Some(value * (nanoseconds(written)? / unit))
}
