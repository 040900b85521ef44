//! Names the places of stacks.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use object::Object;

use crate::cfi::Tables;
use crate::debug_files::{self, Opened};
use crate::dwarf::{Costs, Dwarf};
use crate::go_table::GoTable;
use crate::image::{Image, Segments};
use crate::plt::Stubs;
use crate::probes;
use crate::symbol_table::{self, Found};
use crate::tree::Level;
use crate::{Files, Frame, Place, StackTree, Tree};

/// Returns the frames at each place, innermost first: several if functions were inlined. Each file is opened
/// once and closed.
pub fn named(files: &Files, places: impl IntoIterator<Item = Place>) -> HashMap<Place, Vec<Frame>> {
    let mut by_file: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
    for place in places {
        by_file.entry(place.file).or_default().push(place);
    }
    let mut named = HashMap::new();
    for (file, mut places) in by_file {
        places.sort_unstable_by_key(|place| (place.inside(), place.returns));
        places.dedup();
        let mut offsets: Vec<u64> = places.iter().map(Place::inside).collect();
        offsets.dedup();
        let frames = name_file(files, file, &offsets, Detail::Lines);
        for place in places {
            named.insert(place, frames[&place.inside()].clone());
        }
    }
    named
}

/// Returns the functions at these bytes of a file, without lines and inlined functions. Functions without a
/// name are omitted.
pub fn functions_at(
    files: &Files,
    file: u32,
    offsets: impl IntoIterator<Item = u64>,
) -> HashMap<u64, String> {
    let mut offsets: Vec<u64> = offsets.into_iter().collect();
    offsets.sort_unstable();
    offsets.dedup();
    let frames = name_file(files, file, &offsets, Detail::Functions);
    let named = frames.into_iter();
    named
        .filter_map(|(offset, mut frames)| Some((offset, frames.pop()?.function?)))
        .collect()
}

/// Returns the tree of frames for a tree of places, and the new node of each of its nodes.
pub fn named_tree(files: &Files, places: &Tree<Place>) -> (StackTree, Vec<u32>) {
    let frames = named(files, places.frames.iter().copied());
    let mut tree = StackTree::default();
    let mut nodes: Vec<u32> = Vec::with_capacity(places.nodes.len());
    for node in &places.nodes {
        let mut at = node.parent.map(|parent| nodes[parent as usize]);
        for frame in frames[&places.frames[node.frame as usize]].iter().rev() {
            at = Some(tree.add_below(at, frame.clone()));
        }
        nodes.extend(at);
    }
    (tree, nodes)
}

/// Returns the frames at these sorted bytes of a file.
fn name_file(
    files: &Files,
    file: u32,
    offsets: &[u64],
    detail: Detail,
) -> HashMap<u64, Vec<Frame>> {
    let binary = files.name(file);
    let unnamed = |offset: u64| Frame {
        binary: binary.to_owned(),
        offset: Some(offset),
        ..Frame::default()
    };
    if files.maker(file).is_some() {
        let frame = |offset: &u64| {
            let frame = match (files.made(file, *offset), detail) {
                (Some(name), Detail::Lines) => name.frame(binary),
                (Some(name), Detail::Functions) => Frame {
                    binary: binary.to_owned(),
                    function: Some(name.short()),
                    ..Frame::default()
                },
                // The address differs between runs, so it says nothing.
                (None, _) => Frame {
                    offset: None,
                    ..unnamed(*offset)
                },
            };
            (*offset, vec![frame])
        };
        return offsets.iter().map(frame).collect();
    }
    let (opened, costs) = (Opened::new(), Costs::default());
    let bytes = files.bytes(file);
    let names = bytes
        .as_deref()
        .and_then(|bytes| Names::of(bytes, Path::new(binary), offsets, detail, &opened, &costs));
    let frames = offsets.iter().map(|offset| {
        let frames = names.as_ref().and_then(|names| names.at(*offset));
        let mut frames = frames.unwrap_or_else(|| vec![unnamed(*offset)]);
        for frame in &mut frames {
            binary.clone_into(&mut frame.binary);
        }
        (*offset, frames)
    });
    frames.collect()
}

/// The requested detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Functions,
    Lines,
}

/// The names of a file.
pub(crate) struct Names<'d> {
    segments: Segments,
    found: HashMap<u64, Found>,
    dwarf: Option<Dwarf<'d>>,
    go: Option<GoTable<'d>>,
    /// The unwind tables, which tell where functions without a name begin.
    tables: Option<Tables<&'d [u8]>>,
    /// Functions identified by probes, by their beginning.
    probed: HashMap<u64, &'static str>,
}

impl<'d> Names<'d> {
    pub(crate) fn of(
        bytes: &'d [u8],
        path: &Path,
        offsets: &[u64],
        detail: Detail,
        opened: &'d Opened,
        costs: &'d Costs,
    ) -> Option<Self> {
        let parsed = object::File::parse(bytes).ok()?;
        let segments = Segments::of(&parsed);
        let mut addresses: Vec<u64> = offsets
            .iter()
            .filter_map(|offset| segments.address(*offset))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        let go = GoTable::of_file(&parsed, costs.budget());
        let is_gos = |address: &u64| go.is_some_and(|go| go.function_at(*address).is_some());
        // Go's own table contains the same information, and is not compressed.
        let wanted = detail == Detail::Lines && !addresses.iter().all(is_gos);
        let of = |file| wanted.then(|| Dwarf::of(file, path, opened, costs))?;
        let mut dwarf = of(&parsed);
        let whole = parsed.symbol_table().is_some();
        let split_off = match wanted && dwarf.is_none() || !whole && go.is_none() {
            true => debug_files::split_off(&parsed, path, opened),
            false => None,
        };
        if let Some(split_off) = split_off.as_ref().filter(|_| dwarf.is_none()) {
            dwarf = of(split_off);
        }
        let found = of_symbols(&parsed, &addresses)
            .or_else(|| go.map(|go| of_go(go, &addresses)))
            .or_else(|| of_symbols(split_off.as_ref()?, &addresses))
            .unwrap_or_else(|| exported(&parsed, path, &addresses, opened));
        let mut found: HashMap<u64, Found> = addresses.into_iter().zip(found).collect();
        name_stubs(&parsed, &mut found);
        let tables = Image::of(bytes).map(Tables::of);
        let probed = match found.values().all(|found| found.function.is_some()) {
            true => Vec::new(),
            false => probes::functions(&parsed),
        };
        let begin = |at: u64| tables.as_ref()?.begin(at);
        let probed = probed.into_iter();
        let probed = probed.filter_map(|(at, name)| Some((begin(at)?, name)));
        Some(Self {
            segments,
            found,
            dwarf,
            go,
            probed: probed.collect(),
            tables,
        })
    }

    /// Returns the frames at a byte of the file, innermost first; `None` for a byte that isn't loaded.
    pub(crate) fn at(&self, offset: u64) -> Option<Vec<Frame>> {
        let address = self.segments.address(offset)?;
        let found = self.found.get(&address)?;
        let mut levels = self.go.map_or_else(Vec::new, |go| go.levels(address));
        if let Some(dwarf) = self.dwarf.as_ref().filter(|_| levels.is_empty()) {
            levels = dwarf.levels(address);
        }
        if levels.is_empty() {
            levels.push(Level::default());
        }
        let outer = levels.len() - 1;
        let unoptimised = self
            .dwarf
            .as_ref()
            .is_some_and(|it| it.is_unoptimised(address));
        let frame = |(at, level): (usize, Level)| {
            let is_outer = at == outer;
            let function = match (is_outer, &found.function) {
                (true, Some(name)) => Some(name.clone()),
                _ => level.function,
            };
            let function = function.or_else(|| self.by_probe(address));
            let unnamed = function.is_none();
            Frame {
                offset: unnamed.then(|| self.begin(address).unwrap_or(offset)),
                after: found.after.clone().filter(|_| unnamed),
                function,
                source_file: level.source_file,
                line: level.line,
                inlined: !is_outer,
                unoptimised,
                ..Frame::default()
            }
        };
        Some(levels.into_iter().enumerate().map(frame).collect())
    }

    /// Returns the name known from a probe in the function at an address.
    fn by_probe(&self, address: u64) -> Option<String> {
        let begin = self.tables.as_ref()?.begin(address)?;
        self.probed.get(&begin).map(|name| (*name).to_owned())
    }

    /// Returns the byte at which the function at an address begins, according to the unwind tables.
    fn begin(&self, address: u64) -> Option<u64> {
        let begin = self.tables.as_ref()?.begin(address)?;
        Some(self.segments.offset(begin)?.0)
    }
}

fn of_symbols(parsed: &object::File<'_>, addresses: &[u64]) -> Option<Vec<Found>> {
    symbol_table::look_up(parsed, &parsed.symbol_table()?, addresses)
}

fn of_go(table: GoTable<'_>, addresses: &[u64]) -> Vec<Found> {
    let found = addresses.iter().map(|address| Found {
        function: table.function_at(*address).map(|it| it.name.to_owned()),
        after: None,
    });
    found.collect()
}

/// Looks up exported symbols, and the symbols of an embedded compressed table.
fn exported(
    parsed: &object::File<'_>,
    path: &Path,
    addresses: &[u64],
    opened: &Opened,
) -> Vec<Found> {
    let mut found = vec![Found::default(); addresses.len()];
    let Some(table) = parsed.dynamic_symbol_table() else {
        return found;
    };
    if let Some(exported) = symbol_table::look_up(parsed, &table, addresses) {
        found = exported;
    }
    let embedded = debug_files::embedded(parsed, opened);
    if let Some(others) = embedded.and_then(|file| of_symbols(&file, addresses)) {
        for (found, other) in found.iter_mut().zip(others) {
            found.function = found.function.take().or(other.function);
        }
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("libc.so") || name.starts_with("libc-") {
        symbol_table::name_allocator(&table, addresses, &mut found);
    }
    found
}

fn name_stubs(parsed: &object::File<'_>, found: &mut HashMap<u64, Found>) {
    if found.values().all(|found| found.function.is_some()) {
        return;
    }
    let Some(stubs) = Stubs::of(parsed) else {
        return;
    };
    let unnamed = found.iter_mut().filter(|(_, it)| it.function.is_none());
    for (address, found) in unnamed {
        if let Some(name) = stubs.name_at(*address) {
            found.function = Some(format!("{name}@plt"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_page_has_clocks() {
        // Some machines have no vDSO.
        let Some(bytes) = crate::image::Bytes::of_vdso() else {
            return;
        };
        let mut files = Files::default();
        let file = files.number(crate::VDSO, 0, 1);
        let named = functions_at(&files, file, (0..bytes.len() as u64).step_by(8));
        assert!(named.values().any(|name| name.contains("clock_gettime")));
    }
}
