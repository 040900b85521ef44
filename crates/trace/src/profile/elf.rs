//! Which function is at a byte of a file?
//!
//! Files are those of the programs that were traced: nothing in them is trusted.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::fd::FromRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use object::read::ReadCache;
use object::{
    Architecture, Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind,
};

use super::go_table::GoTable;
use super::spin;
use super::symbol_table::{Parsed, Table};

/// Bytes of a table of symbols: eleven million of them.
const LARGEST_TABLE: u64 = 256 << 20;

/// A part of a file that is loaded: from which byte, how many, and to which address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    offset: u64,
    length: u64,
    address: u64,
}

/// An executable or library.
#[derive(Debug)]
pub(super) struct Elf {
    file: File,
    /// Whether it is of this machine's kind, so that its code can be read.
    native: bool,
    /// Whether it is the C library.
    is_libc: bool,
}

impl Elf {
    /// `None` for what can't be read, and where another file has the place of that with this inode
    /// by now, or in this process's view of the file system.
    pub(super) fn open(path: &str, inode: u64) -> Option<Self> {
        let file = open(Path::new(path))?;
        let same = file.metadata().ok()?.ino() == inode;
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_libc = name.starts_with("libc.so") || name.starts_with("libc-");
        same.then(|| Self {
            native: is_native(&file),
            is_libc,
            file,
        })
    }

    /// The page of calls that need no call, as the kernel maps it into each process of this
    /// machine's kind.
    pub(super) fn of_vdso() -> Option<Self> {
        // SAFETY: asks for a number of this process.
        let from = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
        let (begin, rest) = line.split_once('-')?;
        let (end, _) = rest.split_once(' ')?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (begin, end) = (hex(begin)?, hex(end)?);
        if begin != from || end <= begin {
            return None;
        }
        let length = usize::try_from(end - begin).ok()?;
        // SAFETY: the kernel has just said that these pages are mapped; they are never taken away.
        let code = unsafe { std::slice::from_raw_parts(from as *const u8, length) };
        // SAFETY: a new, private file in memory, owned by nobody else.
        let file = unsafe {
            let fd = libc::memfd_create(c"vdso".as_ptr(), libc::MFD_CLOEXEC);
            (fd >= 0).then(|| File::from_raw_fd(fd))?
        };
        file.write_all_at(code, 0).ok()?;
        Some(Self {
            file,
            native: true,
            is_libc: false,
        })
    }

    /// The functions at these bytes of the file, in the words of their authors; what has no name is
    /// left out.
    pub(super) fn functions_at(&self, offsets: &[u64]) -> HashMap<u64, String> {
        let cache = ReadCache::new(&self.file);
        let Some(parsed) = parse(&cache) else {
            return HashMap::new();
        };
        let addresses: Vec<(u64, u64)> = {
            let segments = segments(&parsed);
            let placed = |offset: &u64| Some((*offset, address(&segments, *offset)?));
            offsets.iter().filter_map(placed).collect()
        };
        let name_all = |table: &Table<'_, '_>| {
            let named = addresses.iter();
            named
                .filter_map(|(offset, address)| Some((*offset, table.function_at(*address)?)))
                .collect()
        };
        if let Some(table) = Table::whole(&parsed) {
            return name_all(&table);
        }
        if let Some(table) = go_table(&parsed) {
            let named = addresses.iter().filter_map(|(offset, address)| {
                Some((*offset, table.function_at(*address)?.name.to_owned()))
            });
            return named.collect();
        }
        // Debug symbols that were installed beside it.
        if let Some(debug) = parsed.build_id().ok().flatten().and_then(installed)
            && let cache = ReadCache::new(&debug)
            && let Some(parsed) = parse(&cache)
            && let Some(table) = Table::whole(&parsed)
        {
            return name_all(&table);
        }
        Table::exported(&parsed, self.is_libc).map_or_else(HashMap::new, |table| name_all(&table))
    }

    /// Whether who is at this byte of the file spins.
    pub(super) fn spins_at(&self, offset: u64) -> bool {
        if !self.native {
            return false;
        }
        let before = offset.min(spin::BEFORE);
        let mut code = [0; (spin::BEFORE + spin::BEHIND) as usize];
        let read = self.file.read_at(&mut code, offset - before);
        read.is_ok_and(|read| spin::spins(&code[..read], before as usize))
    }
}

/// A function's code and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// Byte of the file.
    pub offset: u64,
    /// Its instructions.
    pub code: Vec<u8>,
}

/// Bytes of a function that are read.
const LARGEST_FUNCTION: u64 = 64 << 10;

/// The functions of these names, of a program for this machine whose symbols are there.
pub(crate) fn functions_named(path: &Path, names: &[&str]) -> Vec<Code> {
    let Some(file) = open(path).filter(is_native) else {
        return Vec::new();
    };
    let cache = ReadCache::new(&file);
    let Some(parsed) = parse(&cache) else {
        return Vec::new();
    };
    let segments = segments(&parsed);
    let code = |(address, length): (u64, u64)| {
        let offset = offset(&segments, address)?;
        let mut code = vec![0; length.min(LARGEST_FUNCTION) as usize];
        file.read_exact_at(&mut code, offset).ok()?;
        Some(Code { offset, code })
    };
    let symbols = parsed.symbols().filter(|it| {
        it.kind() == SymbolKind::Text && it.name().is_ok_and(|name| names.contains(&name))
    });
    let places: Vec<(u64, u64)> = symbols.map(|it| (it.address(), it.size())).collect();
    let of_go = || {
        let all = go_table(&parsed).into_iter().flat_map(GoTable::all);
        let wanted = all.filter(|it| names.contains(&it.name));
        wanted.map(|it| (it.address, it.length)).collect()
    };
    let places = match places.is_empty() {
        true => of_go(),
        false => places,
    };
    places.into_iter().filter_map(code).collect()
}

/// The functions of a Go program whose symbols were taken out.
fn go_table<'d>(parsed: &Parsed<'d>) -> Option<GoTable<'d>> {
    let table = parsed.section_by_name(".gopclntab")?;
    let text = parsed.section_by_name(".text")?;
    GoTable::of(table.data().ok()?, text.address())
}

/// Whether its machine code is that of this program's own processor and mode.
fn is_native(file: &File) -> bool {
    let own = match () {
        () if cfg!(target_arch = "x86_64") => Architecture::X86_64,
        () if cfg!(target_arch = "aarch64") => Architecture::Aarch64,
        () => Architecture::Unknown,
    };
    let cache = ReadCache::new(file);
    let parsed = object::File::parse(&cache);
    parsed.is_ok_and(|parsed| parsed.architecture() == own && own != Architecture::Unknown)
}

/// `None` for what is no program, and for tables of a size that no compiler makes.
fn parse<'d>(cache: &'d ReadCache<&'d File>) -> Option<Parsed<'d>> {
    let parsed = object::File::parse(cache).ok()?;
    let is_table = |kind| matches!(kind, SectionKind::Metadata | SectionKind::Other);
    let sizes = parsed
        .sections()
        .filter(|section| is_table(section.kind()))
        .map(|section| section.size());
    (sizes.max().unwrap_or(0) <= LARGEST_TABLE).then_some(parsed)
}

fn segments(parsed: &Parsed<'_>) -> Vec<Segment> {
    let segments = parsed.segments().map(|segment| {
        let (offset, length) = segment.file_range();
        Segment {
            offset,
            length,
            address: segment.address(),
        }
    });
    segments.collect()
}

fn address(segments: &[Segment], offset: u64) -> Option<u64> {
    let within = |s: &&Segment| offset.checked_sub(s.offset).is_some_and(|at| at < s.length);
    let segment = segments.iter().find(within)?;
    segment.address.checked_add(offset - segment.offset)
}

fn offset(segments: &[Segment], address: u64) -> Option<u64> {
    let within = |s: &&Segment| {
        address
            .checked_sub(s.address)
            .is_some_and(|at| at < s.length)
    };
    let segment = segments.iter().find(within)?;
    segment.offset.checked_add(address - segment.address)
}

/// Opens a regular file; what is in its place by now must not hold us up.
pub(super) fn open(path: &Path) -> Option<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn installed(build_id: &[u8]) -> Option<File> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug");
    open(Path::new(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    #[unsafe(no_mangle)]
    extern "C" fn fathom_test_marker(number: u64) -> u64 {
        std::hint::black_box(number) + 1
    }

    /// The byte of this test program at which this address of it lies.
    fn offset_of(address: u64) -> u64 {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let found = maps.lines().find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let (from, to) = words.next()?.split_once('-')?;
            let hex = |text: &str| u64::from_str_radix(text, 16).ok();
            let (from, to) = (hex(from)?, hex(to)?);
            let offset = hex(words.nth(1)?)?;
            (from..to)
                .contains(&address)
                .then(|| address - from + offset)
        });
        found.expect("the program is mapped")
    }

    #[test]
    fn a_function_is_known_by_any_byte_of_it() {
        assert_eq!(fathom_test_marker(1), 2);
        let own = std::env::current_exe().expect("this program");
        let inode = own.metadata().expect("it is there").ino();
        let own = own.to_str().expect("UTF-8");
        let elf = Elf::open(own, inode).expect("opens");
        assert!(elf.native && Elf::open(own, inode + 1).is_none());
        let at = offset_of(fathom_test_marker as *const () as u64);
        let named = elf.functions_at(&[at, at + 1]);
        for offset in [at, at + 1] {
            let name = named.get(&offset).map(String::as_str);
            assert_eq!(name, Some("fathom_test_marker"));
        }
        assert!(elf.functions_at(&[0, u64::MAX]).is_empty());
    }

    #[test]
    fn what_is_no_program_has_no_functions() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("text");
        // A head of a program, cut off.
        std::fs::write(&path, b"\x7fELF\x02\x01\x01").expect("written");
        let inode = path.metadata().expect("it is there").ino();
        let elf = Elf::open(path.to_str().expect("UTF-8"), inode).expect("opens");
        assert!(elf.functions_at(&[0, 4096]).is_empty());
        assert!(!elf.spins_at(0) && !elf.spins_at(u64::MAX));
        assert!(Elf::open("/dev/null", 0).is_none());
        assert!(Elf::open("/no/such/file", 0).is_none());
    }

    #[test]
    fn the_kernels_page_has_clocks() {
        // Some machines have none.
        let Some(elf) = Elf::of_vdso() else { return };
        let offsets: Vec<u64> = (0..8192).step_by(8).collect();
        let named = elf.functions_at(&offsets);
        assert!(named.values().any(|name| name.contains("clock_gettime")));
    }

    #[test]
    fn no_file_makes_it_panic() {
        let vdso = Elf::of_vdso().expect("every process has one");
        let length = vdso.file.metadata().expect("a file in memory").len();
        let mut whole = vec![0; length as usize];
        vdso.file.read_exact_at(&mut whole, 0).expect("all of it");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mutated");
        let name = path.to_str().expect("a path of text");
        crate::mutations::survives(&[whole], 1 << 20, |bytes| {
            std::fs::write(&path, bytes).expect("it can be written");
            let inode = std::fs::metadata(&path).expect("just written").ino();
            if let Some(elf) = Elf::open(name, inode) {
                _ = elf.functions_at(&[0, 0x400, 0x800, 0xa00, u64::MAX]);
                _ = elf.spins_at(0x800);
            }
            _ = functions_named(&path, &["__vdso_time", "clock_gettime"]);
        });
    }
}
