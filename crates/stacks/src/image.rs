//! Sections and segments of a file with code.
//!
//! The files belong to the traced programs: nothing in them is trusted.

use std::fs::File;
use std::ops::{Deref, Range};

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Architecture, Object, ObjectSection, ObjectSegment};

use crate::go_table::Module;
use crate::mapped::Mapped;

/// A file's bytes.
pub(crate) enum Bytes {
    Mapped(Mapped),
    Copied(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Copied(bytes) => bytes,
        }
    }
}

impl Bytes {
    pub(crate) fn of(file: &File) -> Option<Self> {
        Mapped::of(file).map(Self::Mapped)
    }

    /// Returns the page with calls that don't enter the kernel, as the kernel maps it into each native
    /// process.
    pub(crate) fn of_vdso() -> Option<Self> {
        // SAFETY: only reads a value of this process.
        let from = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps.lines().find(|line| line.ends_with(crate::VDSO))?;
        let (begin, rest) = line.split_once('-')?;
        let (end, _) = rest.split_once(' ')?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (begin, end) = (hex(begin)?, hex(end)?);
        if begin != from || end <= begin {
            return None;
        }
        let length = usize::try_from(end - begin).ok()?;
        // SAFETY: the kernel has just reported that these pages are mapped, and they are never unmapped.
        let code = unsafe { std::slice::from_raw_parts(from as *const u8, length) };
        Some(Self::Copied(code.to_vec()))
    }
}

/// Returns whether the machine code of a file is for this program's own processor and mode.
pub(crate) fn is_native(parsed: &object::File<'_>) -> bool {
    let own = match () {
        () if cfg!(target_arch = "x86_64") => Some(Architecture::X86_64),
        () if cfg!(target_arch = "aarch64") => Some(Architecture::Aarch64),
        () => None,
    };
    Some(parsed.architecture()) == own && parsed.is_little_endian() && parsed.is_64()
}

/// A loaded part of a file: its offset, its size and its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub offset: u64,
    pub length: u64,
    pub address: u64,
}

/// The loaded parts of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Vec<Segment>);

impl Segments {
    pub(crate) fn of(parsed: &object::File<'_>) -> Self {
        let segments = parsed.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            Segment {
                offset,
                length,
                address: segment.address(),
            }
        });
        Self(segments.collect())
    }

    /// Returns the address of a byte of the file, as used in the file's own tables.
    pub(crate) fn address(&self, offset: u64) -> Option<u64> {
        let within = |s: &&Segment| offset.checked_sub(s.offset).is_some_and(|at| at < s.length);
        let segment = self.0.iter().find(within)?;
        segment.address.checked_add(offset - segment.offset)
    }

    /// Returns the byte of the file at an address, and the number of bytes after it in its segment.
    pub(crate) fn offset(&self, address: u64) -> Option<(u64, u64)> {
        let at = |s: &Segment| address.checked_sub(s.address).filter(|at| *at < s.length);
        let (segment, at) = self.0.iter().find_map(|s| Some((s, at(s)?)))?;
        Some((segment.offset.checked_add(at)?, segment.length - at))
    }
}

/// A part of a file, and its load address.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub address: u64,
    range: Range<usize>,
}

/// The parts of a file that unwinding needs.
pub(crate) struct Image<B> {
    bytes: B,
    pub segments: Segments,
    pub eh_frame: Option<Section>,
    pub eh_frame_header: Option<Section>,
    pub debug_frame: Option<Section>,
    pub text: Option<Section>,
    /// Go's own table, and where its code begins.
    pub go_table: Option<(Section, u64)>,
}

impl<B: Deref<Target = [u8]>> Image<B> {
    /// Reads a file; `None` if it is not a program for this machine.
    pub(crate) fn of(bytes: B) -> Option<Self> {
        let parsed = object::File::parse(&*bytes).ok()?;
        if !is_native(&parsed) {
            return None;
        }
        let segments = Segments::of(&parsed);
        let at = |offset: u64, length: u64, address| {
            let from = usize::try_from(offset).ok()?;
            let to = from.checked_add(usize::try_from(length).ok()?)?;
            let range = from..to.min(bytes.len());
            (range.start < range.end).then_some(Section { address, range })
        };
        let whole = |section: object::Section<'_, '_>| {
            let range = section.compressed_file_range().ok()?;
            // A running program can't use compressed tables, so a compressed section isn't one.
            (range.format == object::CompressionFormat::None)
                .then(|| at(range.offset, range.uncompressed_size, section.address()))?
        };
        let section = |name: &str| whole(parsed.section_by_name(name)?);
        let go_table = Module::of(&parsed).and_then(|module| {
            let table = parsed.section_by_index(module.table).ok()?;
            Some((whole(table)?, module.text))
        });
        let loaded = |address: u64| {
            let (offset, length) = segments.offset(address)?;
            at(offset, length, address)
        };
        // The table is found as the loader finds it, which works even without a section table.
        let eh_frame_header = header_address(&parsed)
            .and_then(loaded)
            .or_else(|| section(".eh_frame_hdr"));
        let eh_frame = section(".eh_frame").or_else(|| {
            let header = eh_frame_header.as_ref()?;
            loaded(eh_frame_address(
                &bytes[header.range.clone()],
                header.address,
            )?)
        });
        Some(Self {
            eh_frame,
            eh_frame_header,
            debug_frame: section(".debug_frame"),
            text: section(".text"),
            go_table,
            segments,
            bytes,
        })
    }

    /// Returns whether the instruction before a byte of the file is a call, on this kind of machine.
    pub(crate) fn is_after_call(&self, offset: u64) -> bool {
        if !cfg!(target_arch = "x86_64") {
            return true;
        }
        let before = usize::try_from(offset)
            .ok()
            .and_then(|at| self.bytes.get(..at));
        let before = before.unwrap_or_default();
        let nth = |back: usize| before.len().checked_sub(back).map(|at| before[at]);
        // `call *operand`, with one to six bytes after the first.
        let indirect = |back: usize| {
            nth(back) == Some(0xff) && nth(back - 1).is_some_and(|it| it & 0x38 == 0x10)
        };
        nth(5) == Some(0xe8) || (2..=7).any(indirect)
    }

    pub(crate) fn bytes(&self, section: &Section) -> &[u8] {
        &self.bytes[section.range.clone()]
    }
}

/// Returns where the table of unwind information is according to the program headers.
fn header_address(parsed: &object::File<'_>) -> Option<u64> {
    let object::File::Elf64(elf) = parsed else {
        return None;
    };
    let endian = elf.elf_header().endian().ok()?;
    let headers = elf.elf_program_headers().iter();
    let mut wanted = headers.filter(|it| it.p_type(endian) == object::elf::PT_GNU_EH_FRAME);
    wanted.next().map(|it| it.p_vaddr(endian))
}

/// Returns where the unwind information is according to its header. Supports only the form that linkers
/// write: the distance from the field itself.
fn eh_frame_address(header: &[u8], address: u64) -> Option<u64> {
    let [1, 0x1b, _, _, distance @ ..] = header.get(..8)? else {
        return None;
    };
    let distance = i32::from_le_bytes(distance.try_into().ok()?);
    address.checked_add(4)?.checked_add_signed(distance.into())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_return_address_has_a_call_before_it() {
        let image = |code: &[u8]| Image {
            bytes: code.to_vec(),
            segments: Segments::default(),
            eh_frame: None,
            eh_frame_header: None,
            debug_frame: None,
            text: None,
            go_table: None,
        };
        // call distance; call *%rax; call *8(%rbx); call *(%rip); and moves, which aren't calls.
        for (code, is_call) in [
            (&[0xe8, 1, 2, 3, 4][..], true),
            (&[0xff, 0xd0], true),
            (&[0xff, 0x53, 8], true),
            (&[0xff, 0x15, 1, 2, 3, 4], true),
            (&[0x48, 0x89, 0xd8, 0x48, 0x89, 0xd8], false),
            (&[0xff], false),
            (&[], false),
        ] {
            assert_eq!(image(code).is_after_call(code.len() as u64), is_call);
        }
        assert!(!image(&[0xe8]).is_after_call(u64::MAX));
    }
}
