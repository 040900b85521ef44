//! Parses executables just enough to find their loader.

/// What an ELF file says about its startup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elf {
    /// Whether it requests no dynamic loader.
    pub is_static: bool,
    /// The dynamic loader; `None` for a static program, or if its name is not among the first bytes.
    pub loader: Option<String>,
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const PT_INTERP: u32 = 3;

/// Parses the first bytes of a file (4 KiB are enough for any linker's output); `None` if it isn't a 64-bit
/// little-endian ELF file.
pub(crate) fn parse(start: &[u8]) -> Option<Elf> {
    let header = start.get(..HEADER)?;
    if !header.starts_with(&[0x7f, b'E', b'L', b'F', 2, 1]) {
        return None;
    }
    let at = word(start, 32)? as usize;
    let size = usize::from(half(start, 54)?);
    let count = usize::from(half(start, 56)?);
    let (mut is_static, mut loader) = (true, None);
    for index in 0..count {
        let from = at.checked_add(index.checked_mul(size)?)?;
        let Some(entry) = start.get(from..from.checked_add(PROGRAM_HEADER)?) else {
            break;
        };
        if u32::from_le_bytes(entry[..4].try_into().ok()?) == PT_INTERP {
            is_static = false;
            loader = text(start, word(entry, 8)? as usize, word(entry, 32)? as usize);
        }
    }
    Some(Elf { is_static, loader })
}

fn text(start: &[u8], from: usize, length: usize) -> Option<String> {
    let bytes = start.get(from..from.checked_add(length)?)?;
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_program_has_an_entry_and_perhaps_a_loader() {
        let mut start = std::fs::read("/proc/self/exe").unwrap();
        start.truncate(4096);
        let elf = parse(&start).unwrap();
        assert!(elf.is_static || elf.loader.is_some());
        if let Some(loader) = elf.loader {
            assert!(std::path::Path::new(&loader).exists(), "{loader}");
        }
    }

    #[test]
    fn what_is_no_program_is_refused_and_nonsense_is_survived() {
        assert_eq!(parse(b"#!/bin/sh\n"), None);
        assert_eq!(parse(&[]), None);
        let mut nonsense = vec![0xff; 64];
        nonsense[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        assert_eq!(parse(&nonsense), None);
    }

    #[test]
    fn changed_headers_are_refused_or_name_a_loader_of_their_own_bytes() {
        let mut start = std::fs::read("/proc/self/exe").unwrap();
        start.truncate(1024);
        let mut accepted = 0;
        for bytes in crate::mutated::mutated(&start) {
            let Some(elf) = parse(&bytes) else { continue };
            accepted += 1;
            assert!(bytes.len() >= HEADER && bytes.starts_with(b"\x7fELF"));
            if let Some(loader) = elf.loader {
                assert!(!elf.is_static);
                // An invalid byte becomes a character of three bytes.
                assert!(loader.len() <= 3 * bytes.len());
            }
        }
        assert!(accepted > 0);
    }
}
