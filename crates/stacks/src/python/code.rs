//! Reads the name of a code object, and the line of one of its instructions.

use std::sync::Arc;

use super::lines::{INSTRUCTION, line_at};
use super::{Interpreter, Memory, word_at};
use crate::demangle::LONGEST_NAME;

/// Bytes of a code object before its instructions, in all versions.
const HEAD: usize = 256;
/// The maximum size of a line table that is read, in bytes: the tables of the longest functions have about 10
/// KiB.
const LONGEST_TABLE: u64 = 1 << 16;
/// The maximum length of a file name in bytes.
const LONGEST_PATH: usize = 1_024;

/// Offsets of every object's type, and of the length and content of `bytes`.
const TYPE: u64 = 8;
const LENGTH: u64 = 16;
const BYTES: u64 = 32;
/// Offsets of a string's length in characters and of its form.
const STATE: u64 = 32;

/// A Python function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    /// The name as qualified by Python: `Parser.parse`, `main.<locals>.<lambda>`, `<module>`.
    pub function: String,
    /// The file name given at compilation, or a text such as `<string>`.
    pub file: String,
}

/// A code object in a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeObject {
    /// The function.
    pub code: Arc<Code>,
    first_line: i32,
    table: Vec<u8>,
    /// Where its instructions begin, and their size in bytes.
    instructions: u64,
    length: u64,
    /// Identifies its parts, since another code object may be at the same address later.
    parts: [u64; 4],
}

impl Interpreter {
    /// Reads the code object at an address; `None` if there is none, or it can't be read. `known` is the code
    /// object that was read there before.
    pub fn code(
        &self,
        memory: &impl Memory,
        at: u64,
        known: Option<&CodeObject>,
    ) -> Option<CodeObject> {
        let layout = &self.layout;
        let mut head = [0; HEAD];
        memory.read(at, &mut head)?;
        let word = |member: u64| word_at(&head, member);
        if word(TYPE)? != self.code_type {
            return None;
        }
        let (file, name, table) = (word(layout.file)?, word(layout.name)?, word(layout.lines)?);
        let first_line = word(layout.first_line)? as u32 as i32;
        let parts = [file, name, table, first_line as u64];
        if let Some(known) = known.filter(|known| known.parts == parts) {
            return Some(known.clone());
        }
        let code = Code {
            function: self.text(memory, name, LONGEST_NAME)?,
            file: self.text(memory, file, LONGEST_PATH)?,
        };
        Some(CodeObject {
            code: Arc::new(code),
            first_line,
            table: bytes(memory, table).unwrap_or_default(),
            instructions: at.wrapping_add(layout.instructions),
            length: word(LENGTH)?.saturating_mul(INSTRUCTION),
            parts,
        })
    }

    /// Reads a string of at most `most` bytes; the rest is cut off.
    fn text(&self, memory: &impl Memory, at: u64, most: usize) -> Option<String> {
        let length = usize::try_from(memory.word(at.wrapping_add(LENGTH))?).ok()?;
        let state = memory.word(at.wrapping_add(STATE))?;
        let (size, is_compact, is_ascii) = (state >> 2 & 7, state >> 5 & 1, state >> 6 & 1);
        if is_compact == 0 {
            return None;
        }
        let begin = match is_ascii {
            1 => self.layout.ascii,
            _ => self.layout.other,
        };
        let size = match size {
            1 | 2 | 4 => size as usize,
            _ => return None,
        };
        let mut bytes = vec![0; length.min(most / size) * size];
        memory.read(at.wrapping_add(begin), &mut bytes)?;
        let character = |bytes: &[u8]| {
            let number = bytes
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u32::from(*byte));
            char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        Some(bytes.chunks_exact(size).map(character).collect())
    }
}

fn bytes(memory: &impl Memory, at: u64) -> Option<Vec<u8>> {
    let length = memory.word(at.wrapping_add(LENGTH))?;
    let length = usize::try_from(length)
        .ok()
        .filter(|it| *it as u64 <= LONGEST_TABLE)?;
    let mut bytes = vec![0; length];
    memory.read(at.wrapping_add(BYTES), &mut bytes)?;
    Some(bytes)
}

impl CodeObject {
    /// Returns the line of the instruction at an address. It is 0 if the instruction has no line, and `None`
    /// if the instruction belongs to another code object, because this one was replaced. The frame of a
    /// function that has just been called is at the instruction before the first.
    pub fn line(&self, instruction: u64) -> Option<u32> {
        let at = instruction.wrapping_add(INSTRUCTION);
        let at = at.checked_sub(self.instructions)?;
        if at > self.length {
            return None;
        }
        let line = line_at(&self.table, self.first_line, at.saturating_sub(INSTRUCTION));
        Some(line.or(u32::try_from(self.first_line).ok()).unwrap_or(0))
    }
}
