//! The functions of a Go program, by the table that its runtime needs: it stays where symbols were
//! taken out.
//!
//! Layout: `pcHeader`, `functab` and `_func` of Go's `runtime/symtab.go`, from Go 1.18 on. Nothing
//! in it is trusted.

use object::{Object, ObjectSection};

/// Where the numbers of the header lie: functions, beginning of the code, names, and functions'
/// descriptions.
const FUNCTIONS: usize = 8;
const TEXT: usize = 24;
const NAMES: usize = 32;
const STEPS: usize = 56;
const DESCRIPTIONS: usize = 64;

/// Where in a function's description the steps of its frame's size begin, and how its last part is
/// laid out: its kind, marks, and two more bytes.
const FRAME_STEPS: usize = 16;
/// The mark of a function that nobody called.
const IS_OUTERMOST: u8 = 1;
/// The mark of a function that sets the stack pointer as it likes.
const SETS_STACK: u8 = 2;

/// What the table begins with: of Go 1.18 and 1.19, and from 1.20 on.
const MAGICS: [u32; 2] = [GO_1_18, 0xffff_fff1];
const GO_1_18: u32 = 0xffff_fff0;

/// Instructions are as long as a multiple of this.
const INSTRUCTION_UNIT: u64 = if cfg!(target_arch = "x86_64") { 1 } else { 4 };

/// Bytes of a name that are read.
const LONGEST_NAME: usize = crate::demangle::LONGEST_NAME;

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function<'d> {
    /// Its first address.
    pub address: u64,
    /// Bytes up to the next one.
    pub length: u64,
    pub name: &'d str,
}

/// The frame of a function at one of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameAt {
    /// Bytes between the stack pointer and the return address.
    pub bytes: u32,
    /// Whether nobody called it.
    pub is_outermost: bool,
}

/// The table of functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoTable<'d> {
    data: &'d [u8],
    text: u64,
    functions: usize,
    names: usize,
    steps: usize,
    descriptions: usize,
    /// Where in a function's description its marks lie.
    marks: usize,
}

impl<'d> GoTable<'d> {
    /// The table in the bytes of `.gopclntab`. `text`: where the code section lies, for those that
    /// don't say.
    pub(crate) fn of(data: &'d [u8], text: u64) -> Option<Self> {
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
            steps: at(STEPS)?,
            descriptions: at(DESCRIPTIONS)?,
            // From Go 1.20 on a line number is before them.
            marks: if word(data, 0)? == GO_1_18 { 37 } else { 41 },
        })
    }

    /// The table of a file that has one.
    pub(crate) fn of_file(parsed: &object::File<'d>) -> Option<Self> {
        let names = [".gopclntab", ".data.rel.ro.gopclntab"];
        let section = names.iter().find_map(|name| parsed.section_by_name(name))?;
        let text = parsed.section_by_name(".text")?.address();
        Self::of(section.data().ok()?, text)
    }

    /// The function at an address.
    pub(crate) fn function_at(&self, address: u64) -> Option<Function<'d>> {
        self.function(self.index_of(address)?)
            .filter(|it| address - it.address < it.length)
    }

    /// The frame at an address, where it is of a known size.
    pub(crate) fn frame_at(&self, address: u64) -> Option<FrameAt> {
        let index = self.index_of(address)?;
        let (from, description) = self.entry(index)?;
        let description = self.descriptions.checked_add(description as usize)?;
        let marks = *self.data.get(description.checked_add(self.marks)?)?;
        let is_outermost = marks & IS_OUTERMOST != 0;
        if marks & SETS_STACK != 0 && !is_outermost {
            return None;
        }
        let at = address.checked_sub(self.text)?.checked_sub(from.into())?;
        let bytes = match is_outermost {
            true => 0,
            false => self.step(word(self.data, description + FRAME_STEPS)?, at)?,
        };
        Some(FrameAt {
            bytes: u32::try_from(bytes).ok()?,
            is_outermost,
        })
    }

    /// The value of a table of steps at a byte of its function.
    fn step(&self, table: u32, at: u64) -> Option<i32> {
        // 0 stands for no table.
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

    #[cfg(test)]
    /// All of them, as far as they can be read.
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
        let name = self.data.get(self.names.checked_add(name as usize)?..)?;
        let end = name.iter().take(LONGEST_NAME).position(|byte| *byte == 0)?;
        Some(Function {
            address: self.text.checked_add(from.into())?,
            length: to.checked_sub(from)?.into(),
            name: std::str::from_utf8(&name[..end]).ok()?,
        })
    }

    /// Where a function begins, from the beginning of the code, and where its description lies;
    /// behind the last one where the code ends.
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

    /// Two functions at 0x1000 and 0x1040, the code ending at 0x1060.
    fn table(text: u64) -> Vec<u8> {
        let mut data = 0xffff_fff1u32.to_ne_bytes().to_vec();
        data.extend([0, 0, 1, 8]);
        let (names, descriptions) = (72u64, 96u64);
        for number in [2, 1, text, names, 0, 0, 0, descriptions] {
            data.extend(number.to_ne_bytes());
        }
        data.extend(b"main.main\0sync.wait\0");
        data.resize(descriptions as usize, 0);
        // Entries and where the code ends, then two descriptions: beginning and name.
        for word in [0u32, 20, 0x40, 28, 0x60, 0, 0, 0x40, 10] {
            data.extend(word.to_ne_bytes());
        }
        data
    }

    #[test]
    fn functions_are_known_by_any_of_their_addresses() {
        for (reported, section) in [(0x1000, 0), (0, 0x1000)] {
            let data = table(reported);
            let table = GoTable::of(&data, section).expect("it is one");
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
        for length in 0..whole.len() {
            if let Some(table) = GoTable::of(&whole[..length], 0) {
                _ = table.function_at(0x1041);
                _ = table.all().count();
            }
        }
        let mut wild = whole.clone();
        wild[8..16].fill(0xff);
        if let Some(table) = GoTable::of(&wild, 0) {
            _ = table.function_at(u64::MAX);
            assert!(table.all().count() < 10);
        }
        assert!(GoTable::of(b"\x7fELF", 0).is_none());
    }

    #[test]
    fn no_bytes_make_it_panic() {
        crate::mutations::survives(&[table(0x1000), table(0)], 1 << 10, |data| {
            if let Some(table) = GoTable::of(data, 0x1000) {
                for address in [0, 0x1041, u64::MAX] {
                    _ = table.function_at(address);
                }
                assert!(table.all().count() <= data.len());
            }
        });
    }
}
