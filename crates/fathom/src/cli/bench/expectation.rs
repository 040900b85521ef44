//! `--expect-stdout`: a file's content, or a hash.

use std::fs::File;
use std::io::{self, Write};

use fathom_measure::Expectation;
use sha2::{Digest, Sha256};

use crate::cli::failure::Failure;

/// Reads the file, or accepts 64 hexadecimal digits (with or without `sha256:`) as a hash.
///
/// # Errors
/// If it is neither a hash nor a readable file.
pub(super) fn read(given: &str) -> Result<Expectation, Failure> {
    if let Some(sha256) = hash(given) {
        return Ok(Expectation {
            sha256,
            length: None,
            given: given.to_string(),
        });
    }
    let mut counter = Counter {
        hasher: Sha256::new(),
        length: 0,
    };
    File::open(given).and_then(|mut file| io::copy(&mut file, &mut counter)).map_err(|error| {
        Failure::Usage(format!(
            "--expect-stdout: {given} is neither a SHA-256 hash (64 hexadecimal digits) nor a readable file: {error}"
        ))
    })?;
    Ok(Expectation {
        sha256: counter.hasher.finalize().into(),
        length: Some(counter.length),
        given: given.to_string(),
    })
}

fn hash(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

struct Counter {
    hasher: Sha256,
    length: u64,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_told_from_a_file() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(read(empty).unwrap().length, None);
        assert_eq!(read(&format!("sha256:{empty}")).unwrap().sha256[0], 0xe3);
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = read(file.path().to_str().unwrap()).unwrap();
        assert_eq!((read.length, hash(empty)), (Some(0), Some(read.sha256)));
    }

    #[test]
    fn neither_is_an_error() {
        assert!(
            read("/no/such/file")
                .unwrap_err()
                .to_string()
                .contains("neither")
        );
    }
}
