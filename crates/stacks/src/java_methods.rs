//! Names the methods that a JVM interprets.
//!
//! Its map contains only compiled methods. All others run in one piece of generated code, whose stack frames hold the
//! address of the method. A JVM exports where the members of its structures are, for debuggers (`gHotSpotVMStructs`).

use object::{Object, ObjectSymbol};

use crate::image::{Segments, is_native};
use crate::python::Memory;
use crate::{Files, Mapping};

/// The size of an entry of each table.
const STRUCT_ENTRY: usize = 48;
const TYPE_ENTRY: usize = 40;
/// The maximum number of entries; JDK 17 has 3,000.
const MOST_ENTRIES: usize = 1 << 14;
/// The number of bytes that are read at once.
const AT_ONCE: usize = 240 << 6;
/// The maximum length of a name of a class or a method.
const LONGEST: u16 = 512;

/// Where an interpreter's frame keeps things, in bytes before its frame pointer, on x86-64 and AArch64.
const SENDER: u64 = 8;
const LAST_POINTER: u64 = 16;
const METHOD: u64 = 24;
/// The maximum size of an interpreter's frame, in bytes: at most 65,535 local variables and operands.
const LARGEST_FRAME: u64 = 1 << 20;

/// The members of a JVM's structures, in bytes from their beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JavaMethods {
    of_method: u64,
    constants: u64,
    name_index: u64,
    holder: u64,
    length: u64,
    class_name: u64,
    symbol_length: u64,
    symbol_body: u64,
    pool_size: u64,
}

/// Returns whether a file is a JVM, by its name.
fn is_jvm(path: &str) -> bool {
    path.ends_with("/libjvm.so")
}

impl JavaMethods {
    /// Returns the members for the JVM that a process has in this mapping; `None` if it has none.
    pub fn of(files: &Files, space: &[Mapping], memory: &impl Memory) -> Option<Self> {
        let mapping = space.iter().find(|it| is_jvm(files.name(it.file)))?;
        let bytes = files.bytes(mapping.file)?;
        let parsed = object::File::parse(&*bytes).ok().filter(is_native)?;
        let segments = Segments::of(&parsed);
        let begin = segments.address(mapping.offset)?;
        let here = |address: u64| address.wrapping_sub(begin).wrapping_add(mapping.from);
        let table = |name: &str| {
            let mut symbols = parsed.dynamic_symbols();
            let symbol = symbols.find(|symbol| symbol.name() == Ok(name))?;
            memory.word(here(symbol.address()))
        };
        // The texts are constants of the file.
        let text = |entry: &[u8], at: usize| {
            let there = word(entry, at)?
                .wrapping_sub(mapping.from)
                .wrapping_add(begin);
            let at = usize::try_from(segments.offset(there)?.0).ok()?;
            let text = bytes.get(at..)?.split(|byte| *byte == 0).next()?;
            std::str::from_utf8(text).ok()
        };
        let mut found = Self::default();
        entries::<STRUCT_ENTRY>(memory, table("gHotSpotVMStructs")?, |entry| {
            let place = match (text(entry, 0)?, text(entry, 8)?) {
                ("Method", "_constMethod") => &mut found.of_method,
                ("ConstMethod", "_constants") => &mut found.constants,
                ("ConstMethod", "_name_index") => &mut found.name_index,
                ("ConstantPool", "_pool_holder") => &mut found.holder,
                ("ConstantPool", "_length") => &mut found.length,
                ("Klass", "_name") => &mut found.class_name,
                ("Symbol", "_length") => &mut found.symbol_length,
                ("Symbol", "_body" | "_body[0]") => &mut found.symbol_body,
                _ => return None,
            };
            *place = word(entry, 32)?;
            Some(())
        })?;
        entries::<TYPE_ENTRY>(memory, table("gHotSpotVMTypes")?, |entry| {
            if text(entry, 0)? == "ConstantPool" {
                found.pool_size = word(entry, 32)?;
            }
            Some(())
        })?;
        let needed = [
            found.of_method,
            found.constants,
            found.holder,
            found.symbol_body,
        ];
        (found.pool_size > 0 && needed.iter().all(|it| *it > 0)).then_some(found)
    }

    /// Returns the name of the method at an address, with its class; `None` if there is none.
    pub fn name(&self, memory: &impl Memory, method: u64) -> Option<String> {
        let pointer = |at: u64| memory.word(at).filter(|to| *to != 0 && to % 8 == 0);
        let constant = pointer(method.wrapping_add(self.of_method))?;
        let constants = pointer(constant.wrapping_add(self.constants))?;
        let index = half(memory, constant.wrapping_add(self.name_index))?;
        let mut length = [0; 4];
        memory.read(constants.wrapping_add(self.length), &mut length)?;
        if u32::from(index) >= u32::from_ne_bytes(length) {
            return None;
        }
        let names = constants.wrapping_add(self.pool_size);
        let name = pointer(names.wrapping_add(8 * u64::from(index)))?;
        let holder = pointer(constants.wrapping_add(self.holder))?;
        let class = pointer(holder.wrapping_add(self.class_name))?;
        let (class, name) = (self.text(memory, class)?, self.text(memory, name)?);
        Some(format!("{}.{name}", class.replace('/', ".")))
    }

    fn text(&self, memory: &impl Memory, symbol: u64) -> Option<String> {
        let length = half(memory, symbol.wrapping_add(self.symbol_length))?;
        let mut text = vec![0; usize::from(length.min(LONGEST))];
        memory.read(symbol.wrapping_add(self.symbol_body), &mut text)?;
        let text = String::from_utf8(text).ok()?;
        let is_name = !text.is_empty() && !text.contains(|c: char| c.is_control() || c == ' ');
        is_name.then_some(text)
    }
}

/// Returns the method that is interpreted in the frame with this frame pointer, if it can be an interpreter's frame.
/// `word` reads the copy of the stack.
pub fn interpreted_in(frame: u64, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let at = |before: u64| word(frame.checked_sub(before)?);
    let method = at(METHOD)?;
    let is_above = |to: u64| to > frame && to - frame < LARGEST_FRAME;
    let is_below = |to: u64| to < frame && frame - to < LARGEST_FRAME;
    let is_frame = method > 4096
        && method % 8 == 0
        && is_above(at(SENDER)?)
        && matches!(at(LAST_POINTER)?, to if to == 0 || is_below(to));
    is_frame.then_some(method)
}

/// Returns everything in the copy of a stack that may be the address of an interpreted method. `from` is the address of
/// its first byte.
pub fn may_be_interpreted(from: u64, stack: &[u8]) -> impl Iterator<Item = u64> {
    let word_at =
        move |address: u64| word(stack, usize::try_from(address.checked_sub(from)?).ok()?);
    let frames = (from.next_multiple_of(8)..from.saturating_add(stack.len() as u64)).step_by(8);
    frames.filter_map(move |frame| {
        // The caller's frame is farther out; the first one has none.
        let outer = word_at(frame)?;
        (outer == 0 || outer > frame).then(|| interpreted_in(frame, word_at))?
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

fn half(memory: &impl Memory, at: u64) -> Option<u16> {
    let mut half = [0; 2];
    memory.read(at, &mut half)?;
    Some(u16::from_ne_bytes(half))
}

/// Calls `look` with each entry of a table, which ends with an entry of zeros.
fn entries<const SIZE: usize>(
    memory: &impl Memory,
    table: u64,
    mut look: impl FnMut(&[u8]) -> Option<()>,
) -> Option<()> {
    let mut bytes = [0; AT_ONCE];
    for piece in 0..(MOST_ENTRIES * SIZE).div_ceil(AT_ONCE) {
        let at = table.wrapping_add((piece * AT_ONCE) as u64);
        // The rest of the table may be shorter than a piece.
        let read = (0..4).find_map(|part| {
            let length = (AT_ONCE >> part) / SIZE * SIZE;
            memory.read(at, &mut bytes[..length])?;
            Some(length)
        })?;
        for entry in bytes[..read].chunks_exact(SIZE) {
            if word(entry, 0)? == 0 {
                return Some(());
            }
            look(entry);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that begins at 0x10000.
    struct Bytes(Vec<u8>);

    impl Memory for Bytes {
        fn read(&self, address: u64, to: &mut [u8]) -> Option<()> {
            let at = usize::try_from(address.checked_sub(0x10000)?).ok()?;
            to.copy_from_slice(self.0.get(at..at.checked_add(to.len())?)?);
            Some(())
        }
    }

    const LAYOUT: JavaMethods = JavaMethods {
        of_method: 8,
        constants: 8,
        name_index: 16,
        holder: 8,
        length: 16,
        class_name: 8,
        symbol_length: 0,
        symbol_body: 2,
        pool_size: 24,
    };

    /// Returns the memory of `a.Main.run`, whose method is at 0x10000.
    fn program() -> Bytes {
        let mut bytes = vec![0; 0x300];
        let mut put = |at: usize, data: &[u8]| bytes[at..at + data.len()].copy_from_slice(data);
        let to = |at: u64| (0x10000 + at).to_ne_bytes();
        put(8, &to(0x40));
        put(0x48, &to(0x80));
        put(0x50, &1u16.to_ne_bytes());
        put(0x88, &to(0x100));
        put(0x90, &2u32.to_ne_bytes());
        put(0x80 + 24 + 8, &to(0x140));
        put(0x108, &to(0x180));
        put(0x140, &3u16.to_ne_bytes());
        put(0x142, b"run");
        put(0x180, &6u16.to_ne_bytes());
        put(0x182, b"a/Main");
        Bytes(bytes)
    }

    #[test]
    fn a_method_has_the_name_of_its_class_and_its_own() {
        let name = LAYOUT.name(&program(), 0x10000);
        assert_eq!(name.as_deref(), Some("a.Main.run"));
        for other in [0x10008, 0x10040, 0x20000, u64::MAX - 7] {
            assert_eq!(LAYOUT.name(&program(), other), None);
        }
    }

    #[test]
    fn only_frames_of_an_interpreter_hold_a_method() {
        let from = 0x7000_u64;
        let of = |words: [u64; 6]| {
            let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_ne_bytes()).collect();
            may_be_interpreted(from, &bytes).collect::<Vec<u64>>()
        };
        // The frame pointer is 0x7018; before it are the method, the pointer to the last call, and the caller's.
        let frame = [0x10000, 0, 0x7028, 0x7100, 0x40_0000, 0];
        assert_eq!(of(frame), [0x10000]);
        for (at, wrong) in [(0, 3), (1, 0x7fff_0000), (2, 0x7010), (3, 0x7008)] {
            let mut words = frame;
            words[at] = wrong;
            assert!(of(words).is_empty(), "{at}");
        }
    }
}
