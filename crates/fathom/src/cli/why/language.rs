//! What a program is written in, told by what its compiler leaves in it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use fathom_diagnose::Language;

/// As much of a program as is looked at; compilers leave their marks in the read-only data, which
/// lies early in the file.
const LOOKED_AT_BYTES: u64 = 64 << 20;

/// The language of the program in this file; `None` for scripts, and where nothing tells it (the
/// interpreter's name does then).
pub fn language_of(program: &Path) -> Option<Language> {
    let mut content = Vec::new();
    File::open(program)
        .ok()?
        .take(LOOKED_AT_BYTES)
        .read_to_end(&mut content)
        .ok()?;
    told_by(&content)
}

fn told_by(content: &[u8]) -> Option<Language> {
    if !content.starts_with(b"\x7fELF") {
        return None;
    }
    // Rust leaves the path of its own sources in panics; Go writes the magic of its build information.
    if contains(content, b"/rustc/") {
        return Some(Language::Rust);
    }
    if contains(content, b"\xff Go buildinf:") {
        return Some(Language::Go);
    }
    None
}

fn contains(content: &[u8], mark: &[u8]) -> bool {
    content.windows(mark.len()).any(|window| window == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_marks() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(
            language_of(&own),
            Some(Language::Rust),
            "this test is written in Rust"
        );
        assert_eq!(
            told_by(b"\x7fELF...\xff Go buildinf:\x08"),
            Some(Language::Go)
        );
        assert_eq!(told_by(b"\x7fELF plain C"), None);
        assert_eq!(told_by(b"#!/bin/sh # /rustc/"), None);
        assert_eq!(language_of(Path::new("/no/such/file")), None);
    }
}
