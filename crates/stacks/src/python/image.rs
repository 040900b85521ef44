//! Finds the interpreter of a process, and its threads.

use object::{Object, ObjectSymbol};

use super::layout::TABLE;
use super::{Layout, Memory, Unsupported};
use crate::image::{Segments, is_native};
use crate::{Files, Mapping};

/// The maximum numbers of interpreters and threads that are read, since the data may contain cycles.
const MOST_INTERPRETERS: usize = 64;
const MOST_THREADS: usize = 4_096;

/// A running interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The layout of its data.
    pub layout: Layout,
    /// Address of `_PyRuntime`, and the type of code objects.
    pub(super) runtime: u64,
    pub(crate) code_type: u64,
}

/// Exported addresses of the file that contains an interpreter, relative to the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Exported {
    runtime: u64,
    version: u64,
    code_type: u64,
}

impl Interpreter {
    /// Returns the interpreter that a process has in this mapping. `None` if there is none, or it isn't
    /// initialized yet.
    pub fn of(
        files: &Files,
        space: &[Mapping],
        memory: &impl Memory,
    ) -> Option<Result<Self, Unsupported>> {
        let mut mappings = space.iter().filter(|it| is_pythons(files.name(it.file)));
        mappings.find_map(|mapping| Self::at(files, mapping, memory))
    }

    fn at(
        files: &Files,
        mapping: &Mapping,
        memory: &impl Memory,
    ) -> Option<Result<Self, Unsupported>> {
        let bytes = files.bytes(mapping.file)?;
        let parsed = object::File::parse(&*bytes).ok().filter(is_native)?;
        let exported = Exported::of(&parsed)?;
        let begin = Segments::of(&parsed).address(mapping.offset)?;
        let here = |address: u64| address.wrapping_sub(begin).wrapping_add(mapping.from);
        let mut version = [0; 4];
        memory.read(here(exported.version), &mut version)?;
        let mut table = [0; TABLE];
        memory.read(here(exported.runtime), &mut table)?;
        let layout = Layout::of(u32::from_le_bytes(version), &table);
        Some(layout.map(|layout| Self {
            layout,
            runtime: here(exported.runtime),
            code_type: here(exported.code_type),
        }))
    }

    /// Returns the interpreter's threads: the kernel's ID and the address of the state of each one.
    pub fn threads(&self, memory: &impl Memory) -> Vec<(u64, u64)> {
        let (mut found, layout) = (Vec::new(), &self.layout);
        let word = |at: u64, member: u64| memory.word(at.wrapping_add(member)).unwrap_or(0);
        let mut interpreter = word(self.runtime, layout.interpreters);
        for _ in 0..MOST_INTERPRETERS {
            if interpreter == 0 {
                break;
            }
            let mut thread = word(interpreter, layout.threads);
            while thread != 0 && found.len() < MOST_THREADS {
                found.push((word(thread, layout.native_thread), thread));
                thread = word(thread, layout.next_thread);
            }
            interpreter = word(interpreter, layout.next_interpreter);
        }
        found
    }
}

impl Exported {
    fn of(parsed: &object::File<'_>) -> Option<Self> {
        let mut found = Self::default();
        for symbol in parsed.dynamic_symbols().chain(parsed.symbols()) {
            let place = match symbol.name_bytes() {
                Ok(b"_PyRuntime") => &mut found.runtime,
                Ok(b"Py_Version") => &mut found.version,
                Ok(b"PyCode_Type") => &mut found.code_type,
                _ => continue,
            };
            *place = symbol.address();
            if found.is_whole() {
                return Some(found);
            }
        }
        None
    }

    fn is_whole(&self) -> bool {
        self.runtime != 0 && self.version != 0 && self.code_type != 0
    }
}

/// Returns whether a file may contain an interpreter, by its name.
pub fn is_pythons(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("python3") || name.starts_with("libpython3") || name == "python"
}
