//! The functions of a Go program, from the table that its runtime needs, which remains in stripped programs.
//!
//! Layout: `pcHeader`, `functab` and `_func` of Go's `runtime/symtab.go`, from Go 1.18 on. Nothing in it is
//! trusted.

use object::read::SectionIndex;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::bounded::Budget;
use crate::tree::Level;

/// Offsets in the header: number of functions, beginning of the code, names, and the functions' descriptions.
const FUNCTIONS: usize = 8;
const TEXT: usize = 24;
const NAMES: usize = 32;
const UNITS: usize = 40;
const SOURCES: usize = 48;
const STEPS: usize = 56;
const DESCRIPTIONS: usize = 64;

/// Offsets in a function's description: the steps of its frame size, the steps of its source files, the steps
/// of its lines, the number of other step tables, and the source files of its unit.
const FRAME_STEPS: usize = 16;
const SOURCE_STEPS: usize = 20;
const LINE_STEPS: usize = 24;
const TABLES: usize = 28;
const UNIT: usize = 32;
/// The offset of the flags in a description, from Go 1.20 on, and the length of a description. Other step
/// tables and data follow it.
const MARKS: usize = 41;
const DESCRIPTION: usize = 44;

/// The index of the step table that contains the numbers of inlined functions, the index of the data that
/// describes these functions, and the size of each description in bytes.
const INLINED_TABLE: usize = 2;
const INLINED_DATA: usize = 3;
const INLINED_CALL: usize = 16;

/// The maximum number of levels of inlining.
const MOST_LEVELS: usize = 256;

/// Offsets in the runtime's description of the program: the beginning of its code, and the functions' data.
const MODULE_TEXT: u64 = 176;
const MODULE_DATA: u64 = 320;

/// The flag of a function without a caller.
const IS_OUTERMOST: u8 = 1;
/// The flag of a function that sets the stack pointer arbitrarily.
const SETS_STACK: u8 = 2;

/// The magic numbers of the table: for Go 1.18 and 1.19, and from 1.20 on.
const MAGICS: [u32; 2] = [GO_1_18, 0xffff_fff1];
const GO_1_18: u32 = 0xffff_fff0;

/// The length of every instruction is a multiple of this, in bytes.
const INSTRUCTION_UNIT: u64 = if cfg!(target_arch = "x86_64") { 1 } else { 4 };

/// The maximum number of bytes of a name that are read.
const LONGEST_NAME: usize = crate::demangle::LONGEST_NAME;

/// A function in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function<'d> {
    /// Its first address.
    pub address: u64,
    /// Bytes up to the next function.
    pub length: u64,
    pub name: &'d str,
}

/// The frame of a function at one of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameAt {
    /// Bytes between the stack pointer and the return address.
    pub bytes: u32,
    /// Whether the function has no caller.
    pub is_outermost: bool,
}

/// The table of functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoTable<'d> {
    data: &'d [u8],
    text: u64,
    functions: usize,
    names: usize,
    units: usize,
    sources: usize,
    steps: usize,
    descriptions: usize,
    /// Offset of the flags in a function's description.
    marks: usize,
    /// The functions' data; empty if its location is unknown.
    inlined: &'d [u8],
    /// The allowed cost of scanning step tables.
    budget: &'d Budget,
}

/// A function's entry in the table.
#[derive(Clone, Copy, Debug)]
struct Described<'d> {
    fields: &'d [u8],
}

impl Described<'_> {
    fn word(&self, at: usize) -> Option<u32> {
        word(self.fields, at)
    }
}

/// The location of a program's table, and facts that the table lacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module {
    /// The section of the table.
    pub table: SectionIndex,
    /// Where Go's code begins; C code may precede it.
    pub text: u64,
    inlined: Option<u64>,
}

impl Module {
    pub(crate) fn of(parsed: &object::File<'_>) -> Option<Self> {
        let names = [".gopclntab", ".data.rel.ro.gopclntab"];
        let table = names.iter().find_map(|name| parsed.section_by_name(name))?;
        // From Go 1.26 on, a separate section contains the runtime's description of the program. Before that,
        // symbols give the same information.
        let module = parsed.section_by_name(".go.module");
        let in_module = |at: u64| {
            let module = module.as_ref()?;
            let place = module.address().checked_add(at)?;
            let written = number(module.data().ok()?, at as usize).filter(|it| *it != 0);
            // In a position-independent program, the number is in a relocation.
            let relocated = || {
                let mut relocations = parsed.dynamic_relocations()?;
                let (_, relocation) = relocations.find(|(to, _)| *to == place)?;
                u64::try_from(relocation.addend()).ok()
            };
            written.or_else(relocated)
        };
        let symbol = |name| parsed.symbol_by_name(name).map(|it| it.address());
        let text = in_module(MODULE_TEXT).or_else(|| symbol("runtime.text"));
        Some(Self {
            table: table.index(),
            text: text.or_else(|| Some(parsed.section_by_name(".text")?.address()))?,
            inlined: in_module(MODULE_DATA).or_else(|| symbol("go:func.*")),
        })
    }
}

impl<'d> GoTable<'d> {
    /// Reads the table from the bytes of `.gopclntab`. `text` is the address of the code section, for tables
    /// that don't contain it.
    pub(crate) fn of(data: &'d [u8], text: u64, budget: &'d Budget) -> Option<Self> {
        let pointers_of_8 = data.get(7) == Some(&8);
        if !MAGICS.contains(&word(data, 0)?) || !pointers_of_8 {
            return None;
        }
        let reported = number(data, TEXT)?;
        let at = |field| usize::try_from(number(data, field)?).ok();
        Some(Self {
            data,
            text: if reported == 0 { text } else { reported },
            functions: at(FUNCTIONS)?,
            names: at(NAMES)?,
            units: at(UNITS)?,
            sources: at(SOURCES)?,
            steps: at(STEPS)?,
            descriptions: at(DESCRIPTIONS)?,
            // From Go 1.20 on, a line number precedes the flags.
            marks: if word(data, 0)? == GO_1_18 { 37 } else { MARKS },
            inlined: &[],
            budget,
        })
    }

    /// Returns the table of a file, if it has one.
    pub(crate) fn of_file(parsed: &object::File<'d>, budget: &'d Budget) -> Option<Self> {
        let module = Module::of(parsed)?;
        let section = parsed.section_by_index(module.table).ok()?;
        let inlined = module.inlined.and_then(|from| {
            let holds = |it: &object::Section<'d, '_>| {
                from.checked_sub(it.address())
                    .is_some_and(|at| at < it.size())
            };
            let section = parsed.sections().find(holds)?;
            section
                .data()
                .ok()?
                .get((from - section.address()) as usize..)
        });
        Some(Self {
            inlined: inlined.unwrap_or_default(),
            ..Self::of(section.data().ok()?, module.text, budget)?
        })
    }

    /// Returns the function at an address.
    pub(crate) fn function_at(&self, address: u64) -> Option<Function<'d>> {
        self.function(self.index_of(address)?)
            .filter(|it| address - it.address < it.length)
    }

    /// Returns the frame at an address, if its size is known.
    pub(crate) fn frame_at(&self, address: u64) -> Option<FrameAt> {
        self.budget.renew();
        let (function, at) = self.described(address)?;
        let marks = *function.fields.get(self.marks)?;
        let is_outermost = marks & IS_OUTERMOST != 0;
        if marks & SETS_STACK != 0 && !is_outermost {
            return None;
        }
        let bytes = match is_outermost {
            true => 0,
            false => self.step(function.word(FRAME_STEPS)?, at)?,
        };
        Some(FrameAt {
            bytes: u32::try_from(bytes).ok()?,
            is_outermost,
        })
    }

    /// Returns the functions at an address, innermost first, including inlined ones. The last function is the
    /// one that contains the others; it has no name here. Empty if there is no function.
    pub(crate) fn levels(&self, address: u64) -> Vec<Level> {
        self.budget.renew();
        let mut levels = Vec::new();
        let Some((function, mut at)) = self.described(address) else {
            return levels;
        };
        while levels.len() < MOST_LEVELS {
            let source = self.source(&function, at);
            let inlined = self.inlined_at(&function, at);
            levels.push(Level {
                function: inlined.map(|(name, _)| name.to_owned()),
                source_file: source.map(|(file, _)| file.to_owned()),
                line: source.map(|(_, line)| line),
            });
            match inlined {
                Some((_, caller)) => at = caller,
                None => break,
            }
        }
        levels
    }

    /// Returns the description of the function at an address, and the offset of the address in it.
    fn described(&self, address: u64) -> Option<(Described<'d>, u64)> {
        let index = self.index_of(address)?;
        let (from, description) = self.entry(index)?;
        let (to, _) = self.entry(index + 1)?;
        let from_text = address.checked_sub(self.text)?;
        let at = from_text.checked_sub(from.into())?;
        let description = self.descriptions.checked_add(description as usize)?;
        let fields = self.data.get(description..)?;
        (from_text < to.into()).then_some((Described { fields }, at))
    }

    fn source(&self, function: &Described<'d>, at: u64) -> Option<(&'d str, u32)> {
        let value = |table| u32::try_from(self.step(function.word(table)?, at)?).ok();
        let line = value(LINE_STEPS)?;
        let index = function.word(UNIT)?.checked_add(value(SOURCE_STEPS)?)? as usize;
        let name = word(self.data, self.units.checked_add(index.checked_mul(4)?)?)?;
        Some((self.text_at(self.sources, name)?, line))
    }

    /// Returns the function inlined at byte `at` of another function: its name, and where in that function it
    /// is called.
    fn inlined_at(&self, function: &Described<'d>, at: u64) -> Option<(&'d str, u64)> {
        if self.marks != MARKS {
            return None;
        }
        let tables = function.word(TABLES)? as usize;
        let table = DESCRIPTION.checked_add(4 * INLINED_TABLE)?;
        let kinds = usize::from(*function.fields.get(MARKS + 2)?);
        if tables <= INLINED_TABLE || kinds <= INLINED_DATA {
            return None;
        }
        let calls = function.word(DESCRIPTION + 4 * (tables + INLINED_DATA))? as usize;
        let index = usize::try_from(self.step(function.word(table)?, at)?).ok()?;
        let call = calls.checked_add(index.checked_mul(INLINED_CALL)?)?;
        let call = self.inlined.get(call..call.checked_add(INLINED_CALL)?)?;
        let name = self.text_at(self.names, word(call, 4)?)?;
        Some((name, word(call, 8)?.into()))
    }

    fn text_at(&self, table: usize, at: u32) -> Option<&'d str> {
        let text = self.data.get(table.checked_add(at as usize)?..)?;
        let end = text.iter().take(LONGEST_NAME).position(|byte| *byte == 0)?;
        std::str::from_utf8(&text[..end]).ok()
    }

    /// Returns the value of a step table at a byte of its function.
    fn step(&self, table: u32, at: u64) -> Option<i32> {
        // 0 means that there is no table.
        let from = self
            .steps
            .checked_add(table as usize)
            .filter(|_| table > 0)?;
        let mut bytes = self.data.get(from..)?.iter();
        let mut number = || {
            let mut value = 0u32;
            for shift in (0..32).step_by(7) {
                let byte = *bytes.next()?;
                value |= u32::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return Some(value);
                }
            }
            None
        };
        let (mut value, mut end) = (-1i32, 0u64);
        loop {
            self.budget.pay()?;
            let change = number()?;
            if change == 0 && end > 0 {
                return None;
            }
            // Zigzag: the sign is the last bit.
            value = value.wrapping_add((change >> 1) as i32 ^ -((change & 1) as i32));
            end += u64::from(number()?) * INSTRUCTION_UNIT;
            if at < end {
                return Some(value);
            }
        }
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.text)?;
        let (mut low, mut high) = (0, self.functions);
        while low < high {
            let middle = low + (high - low) / 2;
            match u64::from(self.entry(middle)?.0) <= offset {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low.checked_sub(1)
    }

    /// Returns all functions that can be read.
    pub(crate) fn all(self) -> impl Iterator<Item = Function<'d>> {
        (0..self.functions).map_while(move |index| self.function(index))
    }

    fn function(&self, index: usize) -> Option<Function<'d>> {
        let (from, description) = self.entry(index)?;
        let (to, _) = self.entry(index + 1)?;
        let name = word(
            self.data,
            self.descriptions.checked_add(description as usize + 4)?,
        )?;
        Some(Function {
            address: self.text.checked_add(from.into())?,
            length: to.checked_sub(from)?.into(),
            name: self.text_at(self.names, name)?,
        })
    }

    /// Returns where a function begins, relative to the beginning of the code, and where its description is.
    /// The entry after the last function says where the code ends.
    fn entry(&self, index: usize) -> Option<(u32, u32)> {
        let at = self.descriptions.checked_add(index.checked_mul(8)?)?;
        let end = index == self.functions;
        Some((
            word(self.data, at)?,
            if end { 0 } else { word(self.data, at + 4)? },
        ))
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn number(data: &[u8], at: usize) -> Option<u64> {
    let bytes = data.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two functions at 0x1000 and 0x1040; the code ends at 0x1060.
    fn table(text: u64) -> Vec<u8> {
        let mut data = 0xffff_fff1u32.to_ne_bytes().to_vec();
        data.extend([0, 0, 1, 8]);
        let (names, descriptions) = (72u64, 96u64);
        for number in [2, 1, text, names, 0, 0, 0, descriptions] {
            data.extend(number.to_ne_bytes());
        }
        data.extend(b"main.main\0sync.wait\0");
        data.resize(descriptions as usize, 0);
        // Entries and the end of the code, then two descriptions: beginning and name.
        for word in [0u32, 20, 0x40, 28, 0x60, 0, 0, 0x40, 10] {
            data.extend(word.to_ne_bytes());
        }
        data
    }

    #[test]
    fn functions_are_known_by_any_of_their_addresses() {
        for (reported, section) in [(0x1000, 0), (0, 0x1000)] {
            let data = table(reported);
            let budget = Budget::default();
            let table = GoTable::of(&data, section, &budget).expect("it is one");
            let name = |address| table.function_at(address).map(|it| it.name);
            assert_eq!(name(0x1000), Some("main.main"));
            assert_eq!(name(0x103f), Some("main.main"));
            assert_eq!(name(0x1040), Some("sync.wait"));
            assert_eq!(name(0x1060), None);
            assert_eq!(name(0xfff), None);
            let all: Vec<_> = table.all().map(|it| (it.address, it.length)).collect();
            assert_eq!(all, [(0x1000, 0x40), (0x1040, 0x20)]);
        }
    }

    #[test]
    fn cut_or_foreign_bytes_are_no_table_and_never_panic() {
        let whole = table(0x1000);
        let budget = Budget::default();
        for length in 0..whole.len() {
            if let Some(table) = GoTable::of(&whole[..length], 0, &budget) {
                _ = table.function_at(0x1041);
                _ = table.all().count();
            }
        }
        let mut wild = whole.clone();
        wild[8..16].fill(0xff);
        if let Some(table) = GoTable::of(&wild, 0, &budget) {
            _ = table.function_at(u64::MAX);
            assert!(table.all().count() < 10);
        }
        assert!(GoTable::of(b"\x7fELF", 0, &budget).is_none());
    }

    #[test]
    fn no_bytes_make_it_panic() {
        fathom_test_memory::survives(&[table(0x1000), table(0)], 1 << 10, |data| {
            let budget = Budget::default();
            if let Some(table) = GoTable::of(data, 0x1000, &budget) {
                for address in [0, 0x1041, u64::MAX] {
                    _ = table.function_at(address);
                    _ = table.frame_at(address);
                    _ = table.levels(address);
                }
                assert!(table.all().count() <= data.len());
            }
        });
    }
}
