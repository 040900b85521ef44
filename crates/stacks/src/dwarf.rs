//! Finds the functions that were inlined at an address, and their lines.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Reader, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};

use crate::bounded::{Bounded, Budget};
use crate::build_notes;
use crate::debug_files::{self, MOST_DECOMPRESSED, Opened};
use crate::demangle::demangled;
use crate::image::Bytes;
use crate::tree::Level;

/// The maximum number of levels of inlining: compilers stop long before.
const MOST_LEVELS: usize = 256;

/// The maximum number of files with split debug information that are opened for one program.
const MOST_SPLIT: u32 = 4_096;

/// The debug information of a file.
pub(crate) struct Dwarf<'d> {
    context: Context<Bounded<'d>>,
    package: Option<gimli::DwarfPackage<Bounded<'d>>>,
    sections: Sections<'d>,
    split_files: Cell<u32>,
    /// For each unit, whether it was compiled without optimization.
    unoptimised: RefCell<HashMap<usize, bool>>,
}

/// Reads the sections of files.
#[derive(Clone, Copy)]
struct Sections<'d> {
    opened: &'d Opened,
    budget: &'d Budget,
    decompressed: &'d Cell<u64>,
}

/// The cost of reading debug information: the remaining budget, and the decompressed bytes.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    budget: Budget,
    decompressed: Cell<u64>,
}

impl Costs {
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl<'d> Dwarf<'d> {
    /// Opens a file's debug information; `None` if there is none, or it can't be read. `path` is the path of
    /// the program.
    pub(crate) fn of(
        parsed: &object::File<'d>,
        path: &Path,
        opened: &'d Opened,
        costs: &'d Costs,
    ) -> Option<Self> {
        parsed.section_by_name(".debug_info")?;
        let sections = Sections {
            opened,
            budget: &costs.budget,
            decompressed: &costs.decompressed,
        };
        let mut dwarf = gimli::Dwarf::load(|id| sections.of(parsed, Some(id.name()), id)).ok()?;
        if let Some(common) = debug_files::common(parsed, opened) {
            let load = |id: SectionId| sections.of(&common, Some(id.name()), id);
            dwarf.load_sup(load).ok()?;
        }
        costs.budget.renew();
        Some(Self {
            context: Context::from_dwarf(dwarf).ok()?,
            package: sections.package(path),
            sections,
            split_files: Cell::new(0),
            unoptimised: RefCell::default(),
        })
    }

    /// Returns the functions at an address, innermost first; empty if unknown.
    pub(crate) fn levels(&self, address: u64) -> Vec<Level> {
        self.sections.budget.renew();
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
        while levels.len() < MOST_LEVELS
            && let Ok(Some(frame)) = frames.next()
        {
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

    /// Returns whether the code at an address was compiled without optimization, according to the notes in
    /// the program's own file.
    pub(crate) fn is_unoptimised(&self, address: u64) -> bool {
        self.sections.budget.renew();
        let LookupResult::Output(Some(unit)) = self.context.find_dwarf_and_unit(address) else {
            return false;
        };
        let number = std::ptr::from_ref(unit.unit).addr();
        let mut known = self.unoptimised.borrow_mut();
        *known
            .entry(number)
            .or_insert_with(|| build_notes::is_unoptimised(unit))
    }

    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "addr2line takes nothing else"
    )]
    /// Loads the part of a unit that `-gsplit-dwarf` put into another file.
    fn split(&self, load: &SplitDwarfLoad<Bounded<'d>>) -> Option<Arc<gimli::Dwarf<Bounded<'d>>>> {
        if let Some(package) = &self.package
            && let Ok(Some(unit)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(unit));
        }
        let opened = self.split_files.replace(self.split_files.get() + 1);
        if opened >= MOST_SPLIT {
            return None;
        }
        let path_of = |bytes: &Option<Bounded<'d>>| {
            let bytes = bytes.as_ref()?.to_slice().ok()?;
            Some(PathBuf::from(OsStr::from_bytes(&bytes)))
        };
        let path = path_of(&load.comp_dir).unwrap_or_default();
        let path = path.join(path_of(&load.path)?);
        let file = debug_files::open(&path, self.sections.opened)?;
        let section = |id: SectionId| self.sections.of(&file, id.dwo_name(), id);
        let mut dwarf = gimli::Dwarf::load(section).ok()?;
        let header = dwarf.units().next().ok()??;
        let same = dwarf.unit(header).ok()?.dwo_id == Some(load.dwo_id);
        dwarf.make_dwo(&load.parent);
        same.then(|| Arc::new(dwarf))
    }
}

impl<'d> Sections<'d> {
    fn of(
        self,
        file: &object::File<'d>,
        name: Option<&'static str>,
        id: SectionId,
    ) -> Result<Bounded<'d>, gimli::Error> {
        let endian = match file.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        // Variables, macros and types are never needed.
        let unused = matches!(
            id,
            SectionId::DebugLoc
                | SectionId::DebugLocLists
                | SectionId::DebugMacinfo
                | SectionId::DebugMacro
                | SectionId::DebugNames
                | SectionId::DebugTypes
        );
        let name = name.filter(|_| !unused);
        let data = name.and_then(|name| self.data(file, name));
        Ok(Bounded::new(
            data.unwrap_or_default(),
            id,
            endian,
            self.budget,
        ))
    }

    fn data(self, file: &object::File<'d>, name: &str) -> Option<&'d [u8]> {
        let section = file.section_by_name(name)?;
        let range = section.compressed_file_range().ok()?;
        if range.format != object::CompressionFormat::None {
            let sum = self
                .decompressed
                .get()
                .checked_add(range.uncompressed_size)?;
            self.decompressed.set(sum);
            if sum > MOST_DECOMPRESSED || range.uncompressed_size / 1_100 > range.compressed_size {
                return None;
            }
        }
        match section.uncompressed_data().ok()? {
            Cow::Borrowed(data) => Some(data),
            Cow::Owned(data) => Some(&**self.opened.alloc(Bytes::Copied(data))),
        }
    }

    /// Opens the split parts of a program, collected in one file by `dwp`.
    fn package(self, path: &Path) -> Option<gimli::DwarfPackage<Bounded<'d>>> {
        let mut name = path.file_name()?.to_owned();
        name.push(".dwp");
        let file = debug_files::open(&path.with_file_name(name), self.opened)?;
        let empty = Bounded::new(
            &[],
            SectionId::DebugInfo,
            RunTimeEndian::Little,
            self.budget,
        );
        gimli::DwarfPackage::load(|id| self.of(&file, id.dwo_name(), id), empty).ok()
    }
}
