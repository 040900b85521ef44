//! Finds functions of stripped programs by the tracer probes inside them.
//!
//! A probe is an instruction that does nothing, with a note that names its provider and itself: the code
//! around `python:gc__start` collects garbage. Format: `UserSpaceProbeImplementation` in the SystemTap wiki.

use object::{Architecture, Object, ObjectSection};

/// Provider, probe, and the function that contains it.
const KNOWN: [(&str, &str, &str); 1] = [("python", "gc__start", "gc_collect_main")];

/// The maximum number of notes that are read.
const MOST: usize = 4_096;
/// The size of each field of a note's header: the length of its name, the length of its content, and its
/// kind. All fields are padded to a multiple of this size.
const WORD: usize = 4;
/// The total size of a note's addresses: the probe, the section `.stapsdt.base`, and a counter.
const PLACES: usize = 24;

/// Returns addresses inside known functions. A compiler may move a rarely used probe out of line and add a
/// jump back after it. In that case both places belong to the function.
pub(crate) fn functions(parsed: &object::File<'_>) -> Vec<(u64, &'static str)> {
    let notes = parsed.section_by_name(".note.stapsdt");
    let Some(notes) = notes.and_then(|section| section.data().ok()) else {
        return Vec::new();
    };
    if !parsed.is_64() || !parsed.is_little_endian() {
        return Vec::new();
    }
    let base = parsed.section_by_name(".stapsdt.base");
    let base = base.map(|section| section.address());
    let found = all(notes).filter_map(|(at, of_base, provider, name)| {
        let is_it = |known: &&(&str, &str, &str)| (known.0, known.1) == (provider, name);
        let (.., function) = KNOWN.iter().find(is_it)?;
        // A program that changed the layout after linking may have moved the probes.
        let moved = base.map_or(0, |base| base.wrapping_sub(of_base));
        Some((at.wrapping_add(moved), *function))
    });
    let mut found: Vec<(u64, &str)> = found.collect();
    let back: Vec<(u64, &str)> = found
        .iter()
        .filter_map(|(at, function)| Some((jump_behind(parsed, *at)?, *function)))
        .collect();
    found.extend(back);
    found
}

/// Returns address, base, provider and name of each note.
fn all(mut notes: &[u8]) -> impl Iterator<Item = (u64, u64, &str, &str)> {
    let next = move || {
        let number = |at: usize| {
            let bytes = notes.get(at..at + WORD)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes) as usize)
        };
        let padded = |length: usize| length.checked_next_multiple_of(WORD);
        let begin = padded(number(0)?)?.checked_add(3 * WORD)?;
        let end = begin.checked_add(padded(number(WORD)?)?)?;
        let content = notes.get(begin..end)?;
        notes = &notes[end..];
        Some(content)
    };
    std::iter::from_fn(next).take(MOST).filter_map(|content| {
        let place = |at: usize| {
            Some(u64::from_le_bytes(
                content.get(at..at + 8)?.try_into().ok()?,
            ))
        };
        let mut texts = content.get(PLACES..)?.split(|byte| *byte == 0);
        let mut text = || std::str::from_utf8(texts.next()?).ok();
        Some((place(0)?, place(8)?, text()?, text()?))
    })
}

/// Returns the target of the jump after a probe.
fn jump_behind(parsed: &object::File<'_>, at: u64) -> Option<u64> {
    let bytes = |at: u64, length: u64| {
        let mut sections = parsed.sections();
        sections.find_map(|section| section.data_range(at, length).ok().flatten())
    };
    match parsed.architecture() {
        // A one-byte `nop`, and `jmp rel32`.
        Architecture::X86_64 => {
            let code = bytes(at, 6)?;
            let distance = i32::from_le_bytes(code[2..].try_into().ok()?);
            (code[..2] == [0x90, 0xe9])
                .then(|| at.wrapping_add(6).wrapping_add_signed(distance.into()))
        }
        // A `nop`, and `b` with a 26-bit word offset.
        Architecture::Aarch64 => {
            let code = bytes(at + 4, 4)?;
            let code = u32::from_le_bytes(code.try_into().ok()?);
            let distance = i64::from((code << 6) as i32 >> 6) * 4;
            (code >> 26 == 0b00_0101).then(|| (at + 4).wrapping_add_signed(distance))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(at: u64, base: u64, texts: &str) -> Vec<u8> {
        let mut content: Vec<u8> = [at, base, 0]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        content.extend(texts.as_bytes());
        let mut note: Vec<u8> = [8, content.len() as u32, 3]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        note.extend(b"stapsdt\0");
        note.extend(&content);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    #[test]
    fn notes_are_read_one_after_another_and_damaged_ones_end_it() {
        let mut notes = note(0x10, 0x99, "libc\0setjmp\0-8@%rdi\0");
        notes.extend(note(0x20, 0x98, "python\0gc__start\0-4@112(%rsp)\0"));
        let read: Vec<_> = all(&notes).collect();
        assert_eq!(
            read,
            [
                (0x10, 0x99, "libc", "setjmp"),
                (0x20, 0x98, "python", "gc__start")
            ]
        );
        for length in 0..notes.len() {
            assert!(all(&notes[..length]).count() < 2);
        }
        let mut long = notes.clone();
        long[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(all(&long).count(), 0);
    }

    /// Debian's Python is stripped, and has probes.
    #[test]
    fn the_collector_of_a_stripped_python_is_found() {
        let found = std::fs::read("/usr/bin/python3").ok().and_then(|bytes| {
            let parsed = object::File::parse(&*bytes).ok()?;
            parsed.section_by_name(".note.stapsdt")?;
            Some(functions(&parsed))
        });
        match found {
            Some(found) => {
                assert!(!found.is_empty());
                assert!(found.iter().all(|(_, name)| *name == "gc_collect_main"));
            }
            None => fathom_test_log::skipped("no Python with probes is here"),
        }
    }
}
