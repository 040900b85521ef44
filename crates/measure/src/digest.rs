//! Two digests of a command's output: exact, and without its numbers.
//!
//! A program that prints how long it took prints something different in each run. In the second digest, one
//! character replaces each sequence of digits. Both digests omit what a runtime prints about a variable that
//! it got: `Picked up JAVA_TOOL_OPTIONS: ...`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputDigest {
    /// SHA-256 of everything except the runtime's notices.
    pub exact: [u8; 32],
    /// The same with one character in place of each sequence of digits.
    pub but_for_numbers: [u8; 32],
}

impl OutputDigest {
    /// Returns the digests of these bytes.
    pub fn of(bytes: &[u8]) -> OutputDigest {
        let mut digesting = Digesting::new();
        digesting.add(bytes);
        digesting.finish()
    }

    /// Returns the digests of a regular file.
    ///
    /// # Errors
    /// If there is no such file, or it can't be read.
    pub fn of_file(path: &Path) -> io::Result<OutputDigest> {
        // Reading would block if the path is a pipe or device now.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut file = File::open(path)?;
        let mut digesting = Digesting::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(digesting.finish()),
                got => digesting.add(&buffer[..got]),
            }
        }
    }
}

/// Prefixes of the runtime's own lines.
const NOTICES: [&[u8]; 2] = [
    b"Picked up JAVA_TOOL_OPTIONS: ",
    b"Picked up _JAVA_OPTIONS: ",
];

/// Processes output in pieces.
struct Digesting {
    exact: Sha256,
    but_for_numbers: Sha256,
    in_number: bool,
    line: Line,
}

/// The position within a line.
enum Line {
    /// At the beginning of a line that may be a notice: these bytes are held back.
    Begins(Vec<u8>),
    /// Within a line that counts.
    Counts,
    /// Within a notice.
    Notice,
}

impl Digesting {
    fn new() -> Digesting {
        Digesting {
            exact: Sha256::new(),
            but_for_numbers: Sha256::new(),
            in_number: false,
            line: Line::Begins(Vec::new()),
        }
    }

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match &mut self.line {
                Line::Begins(held) => {
                    held.push(bytes[0]);
                    let may_be = NOTICES.iter().any(|notice| notice.starts_with(held));
                    if NOTICES.contains(&held.as_slice()) {
                        self.line = Line::Notice;
                    } else if !may_be {
                        let held = std::mem::take(held);
                        self.line = match held.last() {
                            Some(b'\n') => Line::Begins(Vec::new()),
                            _ => Line::Counts,
                        };
                        self.count(&held);
                    }
                    &bytes[1..]
                }
                Line::Counts | Line::Notice => {
                    let counts = matches!(self.line, Line::Counts);
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
                    if counts {
                        self.count(part);
                    }
                    if end.is_some() {
                        self.line = Line::Begins(Vec::new());
                    }
                    rest
                }
            };
        }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.exact.update(bytes);
        for piece in bytes.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
            let is_number = piece[0].is_ascii_digit();
            match is_number {
                // The sequence of digits has already been counted.
                true if self.in_number => (),
                true => self.but_for_numbers.update(b"0"),
                false => self.but_for_numbers.update(piece),
            }
            self.in_number = is_number;
        }
    }

    fn finish(mut self) -> OutputDigest {
        if let Line::Begins(held) = std::mem::replace(&mut self.line, Line::Counts) {
            self.count(&held);
        }
        OutputDigest {
            exact: self.exact.finalize().into(),
            but_for_numbers: self.but_for_numbers.finalize().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[&str]) -> OutputDigest {
        let mut digesting = Digesting::new();
        pieces
            .iter()
            .for_each(|piece| digesting.add(piece.as_bytes()));
        digesting.finish()
    }

    #[test]
    fn how_it_is_cut_makes_no_difference() {
        let whole = of(&["took 125 ms\nPicked up JAVA_TOOL_OPTIONS: -Xmx1g\nPick 7\n"]);
        let cut = of(&[
            "took 1",
            "25 ms",
            "\nPicked u",
            "p JAVA_TOOL_OPTIONS: -X",
            "mx1g\nPick",
            " 7\n",
        ]);
        assert_eq!(whole, cut);
        assert_eq!(whole, of(&["took 125 ms\nPick 7\n"]));
        assert_eq!(
            whole.exact,
            <[u8; 32]>::from(Sha256::digest("took 125 ms\nPick 7\n"))
        );
    }

    #[test]
    fn numbers_differ_in_one_digest_only() {
        let (a, b) = (of(&["in 9 ms"]), of(&["in 10 ms"]));
        assert_ne!(a.exact, b.exact);
        assert_eq!(a.but_for_numbers, b.but_for_numbers);
        assert_ne!(a.but_for_numbers, of(&["in ms"]).but_for_numbers);
    }

    #[test]
    fn a_begin_that_is_like_a_notice_counts() {
        let begun = of(&["Picked up"]);
        assert_eq!(begun.exact, <[u8; 32]>::from(Sha256::digest("Picked up")));
        assert_ne!(of(&["Picked up JAVA_TOOL_OPTIONS: "]).exact, begun.exact);
    }
}
