//! Layouts of Python's data, by version.
//!
//! From 3.13 on, the interpreter describes itself in a table at the beginning of `_PyRuntime`. The form of
//! this table depends on the version. Before 3.13, the layout comes from the version's headers. It doesn't
//! change between patch versions.

use super::word_at;

/// Offsets of members in bytes, from the beginning of their structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In `_PyRuntime`: the first interpreter.
    pub(crate) interpreters: u64,
    /// In an interpreter: the next interpreter, and the first thread.
    pub(crate) next_interpreter: u64,
    pub(crate) threads: u64,
    /// In a thread's state: the next thread, and the kernel's ID.
    pub(crate) next_thread: u64,
    pub(crate) native_thread: u64,
    /// In a thread's state: its innermost frame, or the structure that leads to it.
    pub frame: u64,
    /// In that structure, if there is one: the frame.
    pub through: Option<u64>,
    /// In a frame: its code object.
    pub(crate) code: u64,
    /// In a frame: the caller's frame, the instruction and the owner.
    pub previous: u64,
    pub(crate) instruction: u64,
    pub(crate) owner: u64,
    /// In a frame: whether it is the outermost one of an evaluator call. `None` if such a call has a separate
    /// frame instead.
    pub(crate) is_entry: Option<u64>,
    /// In a code object: its file, its name, the table of lines, the first line and the instructions.
    pub(crate) file: u64,
    pub(crate) name: u64,
    pub(crate) lines: u64,
    pub(crate) first_line: u64,
    pub(crate) instructions: u64,
    /// The size of a string's header in bytes, for ASCII strings and for others.
    pub(crate) ascii: u64,
    pub(crate) other: u64,
}

/// Why frames can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// The version is older than 3.11, or newer than the known ones.
    Version(u8, u8),
    /// Threads run concurrently, and frames change while they are read.
    FreeThreaded,
}

const V311: Layout = Layout {
    interpreters: 40,
    next_interpreter: 0,
    threads: 16,
    next_thread: 8,
    native_thread: 160,
    frame: 56,
    through: Some(8),
    code: 32,
    previous: 48,
    instruction: 56,
    owner: 69,
    is_entry: Some(68),
    file: 112,
    name: 128,
    lines: 136,
    first_line: 72,
    instructions: 184,
    ascii: 48,
    other: 72,
};

const V312: Layout = Layout {
    threads: 72,
    native_thread: 144,
    through: Some(0),
    code: 0,
    previous: 8,
    owner: 70,
    is_entry: None,
    first_line: 68,
    instructions: 192,
    ascii: 40,
    other: 56,
    ..V311
};

/// The number of bytes read of the interpreter's own table.
pub(crate) const TABLE: usize = 81 * 8;

/// The magic text at the beginning of the table.
const COOKIE: &[u8] = b"xdebugpy";

/// The maximum offset of a member: an interpreter has about 100 KiB.
const FARTHEST: u64 = 1 << 20;

impl Layout {
    /// Returns the layout of a version. `version` has the form of `Py_Version`; `table` is the beginning of
    /// `_PyRuntime`.
    ///
    /// # Errors
    /// [`Unsupported`], if frames can't be read.
    pub fn of(version: u32, table: &[u8]) -> Result<Self, Unsupported> {
        let [major, minor, ..] = version.to_be_bytes();
        let unknown = Unsupported::Version(major, minor);
        match (major, minor) {
            (3, 11) => Ok(V311),
            (3, 12) => Ok(V312),
            (3, 13 | 14) => Self::of_table(table, minor == 14, unknown),
            _ => Err(unknown),
        }
    }

    /// Reads the layout from the interpreter's own table.
    fn of_table(table: &[u8], is_14: bool, unknown: Unsupported) -> Result<Self, Unsupported> {
        let word = |at: usize| word_at(table, 8 * at as u64);
        if !table.starts_with(COOKIE) {
            return Err(unknown);
        }
        if word(2) != Some(0) {
            return Err(Unsupported::FreeThreaded);
        }
        // 3.14 has more members in interpreters and frames.
        let (thread, frame, code, string) = match is_14 {
            false => (19, 28, 34, 67),
            true => (22, 31, 39, 77),
        };
        let at = |at: usize| word(at).filter(|it| *it < FARTHEST).ok_or(unknown);
        let ascii = at(string + 3)?;
        let layout = Self {
            interpreters: at(5)?,
            next_interpreter: at(8)?,
            threads: at(9)?,
            next_thread: at(thread + 2)?,
            frame: at(thread + 4)?,
            native_thread: at(thread + 6)?,
            through: None,
            previous: at(frame + 1)?,
            code: at(frame + 2)?,
            instruction: at(frame + 3)?,
            owner: at(frame + 5)?,
            is_entry: None,
            file: at(code + 1)?,
            name: at(code + 3)?,
            lines: at(code + 4)?,
            first_line: at(code + 5)?,
            instructions: at(code + 9)?,
            ascii,
            // In other strings, the header is followed by the length and address of the UTF-8 form.
            other: ascii + 16,
        };
        Ok(layout)
    }
}
