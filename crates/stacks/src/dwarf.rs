//! Which functions did the compiler put into one another at an address, and from which lines?

use std::borrow::Cow;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{EndianSlice, RunTimeEndian};
use object::{Object, ObjectSection};
use typed_arena::Arena;

use crate::demangle::demangled;

type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// A function at an address, as the compiler recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub function: Option<String>,
    pub source_file: Option<String>,
    pub line: Option<u32>,
}

/// Debug information of a file.
pub(crate) struct Dwarf<'d> {
    context: Context<Reader<'d>>,
}

impl<'d> Dwarf<'d> {
    /// `None` for a file that has none, or none that can be read.
    pub(crate) fn of(parsed: &object::File<'d>, arena: &'d Arena<Vec<u8>>) -> Option<Self> {
        parsed.section_by_name(".debug_info")?;
        let load = |id: gimli::SectionId| Ok::<_, gimli::Error>(section(parsed, id.name(), arena));
        let dwarf = gimli::Dwarf::load(load).ok()?;
        let context = Context::from_dwarf(dwarf).ok()?;
        Some(Self { context })
    }

    /// Innermost first; empty where nothing is known.
    pub(crate) fn levels(&self, address: u64) -> Vec<Level> {
        let mut found = self.context.find_frames(address);
        let frames = loop {
            found = match found {
                LookupResult::Output(frames) => break frames,
                LookupResult::Load { load, continuation } => continuation.resume(self.split(&load)),
            };
        };
        let mut levels = Vec::new();
        let Ok(mut frames) = frames else {
            return levels;
        };
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|it| it.raw_name().ok());
            let location = frame.location.as_ref();
            levels.push(Level {
                function: name.map(|name| demangled(&name)),
                source_file: location.and_then(|it| it.file).map(str::to_owned),
                line: location.and_then(|it| it.line).filter(|line| *line > 0),
            });
        }
        levels
    }

    fn split(
        &self,
        _load: &SplitDwarfLoad<Reader<'d>>,
    ) -> Option<std::sync::Arc<gimli::Dwarf<Reader<'d>>>> {
        None
    }
}

fn section<'d>(parsed: &object::File<'d>, name: &str, arena: &'d Arena<Vec<u8>>) -> Reader<'d> {
    let endian = match parsed.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    };
    let data = parsed.section_by_name(name).and_then(|section| {
        match section.uncompressed_data().ok()? {
            Cow::Borrowed(data) => Some(data),
            Cow::Owned(data) => Some(&**arena.alloc(data)),
        }
    });
    EndianSlice::new(data.unwrap_or_default(), endian)
}
