//! Where does a version of Python keep what?
//!
//! From 3.13 on the interpreter says so itself, in a table at the begin of `_PyRuntime` whose own form
//! is of that version; before, the places are those of the version's headers. They are the same from
//! one patch version to the next.

use super::word_at;

/// Places of members, in bytes from the begin of what they are members of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Of `_PyRuntime`: the first interpreter.
    pub(crate) interpreters: u64,
    /// Of an interpreter.
    pub(crate) next_interpreter: u64,
    pub(crate) threads: u64,
    /// Of a thread's state.
    pub(crate) next_thread: u64,
    pub(crate) native_thread: u64,
    /// Of a thread's state: its innermost frame, or what leads to it.
    pub frame: u64,
    /// Of what leads to it, where something does: the frame.
    pub through: Option<u64>,
    /// Of a frame.
    pub(crate) code: u64,
    /// Who called it.
    pub previous: u64,
    pub(crate) instruction: u64,
    pub(crate) owner: u64,
    /// Of a frame: whether it is the outermost one of a call of the evaluator. Where this isn't there
    /// such a call has a frame of its own.
    pub(crate) is_entry: Option<u64>,
    /// Of a code object.
    pub(crate) file: u64,
    pub(crate) name: u64,
    pub(crate) lines: u64,
    pub(crate) first_line: u64,
    pub(crate) instructions: u64,
    /// Bytes of a string's head: of ASCII, and of others.
    pub(crate) ascii: u64,
    pub(crate) other: u64,
}

/// Why frames can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// Older than 3.11, or newer than what is known: its numbers.
    Version(u8, u8),
    /// Threads run at once, and frames change while they are read.
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

/// Words of the interpreter's own table that are read.
pub(crate) const TABLE: usize = 81 * 8;

/// What the table begins with.
const COOKIE: &[u8] = b"xdebugpy";

/// Members are nowhere further behind: an interpreter has some 100 KiB.
const FARTHEST: u64 = 1 << 20;

impl Layout {
    /// Of this version, as `Py_Version` has it. `table`: what `_PyRuntime` begins with.
    ///
    /// # Errors
    /// [`Unsupported`], where frames can't be read.
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

    /// As the interpreter says itself.
    fn of_table(table: &[u8], is_14: bool, unknown: Unsupported) -> Result<Self, Unsupported> {
        let word = |at: usize| word_at(table, 8 * at as u64);
        if !table.starts_with(COOKIE) {
            return Err(unknown);
        }
        if word(2) != Some(0) {
            return Err(Unsupported::FreeThreaded);
        }
        // 3.14 has more of interpreters and of frames.
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
            // Behind it: the length and place of its form in UTF-8.
            other: ascii + 16,
        };
        Ok(layout)
    }
}
