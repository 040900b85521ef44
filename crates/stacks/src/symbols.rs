//! What are the places of stacks called?

use std::collections::{BTreeMap, HashMap};

use object::Object;
use typed_arena::Arena;

use crate::dwarf::{Dwarf, Level};
use crate::go_table::GoTable;
use crate::image::{Bytes, Segments};
use crate::symbol_table::{self, Found};
use crate::{Files, Frame, Place, StackTree, Tree, VDSO};

/// The frames at each place, innermost first: more than one where functions were inlined.
pub fn named(files: &Files, places: impl IntoIterator<Item = Place>) -> HashMap<Place, Vec<Frame>> {
    let mut by_file: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
    for place in places {
        by_file.entry(place.file).or_default().push(place);
    }
    let mut named = HashMap::new();
    for (file, mut places) in by_file {
        places.sort_unstable_by_key(Place::inside);
        places.dedup();
        name_file(files, file, &places, &mut named);
    }
    named
}

/// The tree of frames of a tree of places, and for each node of that its node here.
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

fn name_file(files: &Files, file: u32, places: &[Place], named: &mut HashMap<Place, Vec<Frame>>) {
    let bytes = match files.name(file) {
        VDSO => Bytes::of_vdso(),
        _ => files.open(file).and_then(|file| Bytes::of(&file)),
    };
    let arena = Arena::new();
    let names = bytes
        .as_ref()
        .and_then(|bytes| Names::of(bytes, &arena, files.name(file), places));
    for place in places {
        let mut frames = match &names {
            Some(names) => names.at(place.inside()),
            None => Vec::new(),
        };
        if frames.is_empty() {
            frames.push(Frame {
                offset: Some(place.inside()),
                ..Frame::default()
            });
        }
        for frame in &mut frames {
            frame.binary = files.name(file).to_owned();
        }
        named.insert(*place, frames);
    }
}

/// The names of a file.
struct Names<'d> {
    segments: Segments,
    found: HashMap<u64, Found>,
    dwarf: Option<Dwarf<'d>>,
}

impl<'d> Names<'d> {
    fn of(
        bytes: &'d [u8],
        arena: &'d Arena<Vec<u8>>,
        name: &str,
        places: &[Place],
    ) -> Option<Self> {
        let parsed = object::File::parse(bytes).ok()?;
        let segments = Segments::of(&parsed);
        let mut addresses: Vec<u64> = places
            .iter()
            .filter_map(|place| segments.address(place.inside()))
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        let found = functions(&parsed, &addresses, is_libc(name));
        Some(Self {
            segments,
            found: addresses.into_iter().zip(found).collect(),
            dwarf: Dwarf::of(&parsed, arena),
        })
    }

    fn at(&self, offset: u64) -> Vec<Frame> {
        let Some(address) = self.segments.address(offset) else {
            return Vec::new();
        };
        let levels = self.dwarf.as_ref().map(|dwarf| dwarf.levels(address));
        let mut levels = levels.unwrap_or_default();
        if levels.is_empty() {
            levels.push(Level::default());
        }
        let found = self.found.get(&address).cloned().unwrap_or_default();
        let outer = levels.len() - 1;
        let frame = |(at, level): (usize, Level)| {
            let is_outer = at == outer;
            let function = match (is_outer, &found.function) {
                (true, Some(name)) => Some(name.clone()),
                _ => level.function,
            };
            Frame {
                offset: function.is_none().then_some(offset),
                after: found.after.clone().filter(|_| function.is_none()),
                function,
                source_file: level.source_file,
                line: level.line,
                inlined: !is_outer,
                ..Frame::default()
            }
        };
        levels.into_iter().enumerate().map(frame).collect()
    }
}

fn is_libc(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.starts_with("libc.so") || name.starts_with("libc-")
}

/// What the tables of a file say of each address.
fn functions(parsed: &object::File<'_>, addresses: &[u64], is_libc: bool) -> Vec<Found> {
    let whole = parsed.symbol_table();
    let whole = whole.and_then(|table| symbol_table::look_up(parsed, &table, addresses));
    whole
        .or_else(|| of_go(parsed, addresses))
        .or_else(|| {
            let table = parsed.dynamic_symbol_table()?;
            let mut found = symbol_table::look_up(parsed, &table, addresses)?;
            if is_libc {
                symbol_table::name_allocator(&table, addresses, &mut found);
            }
            Some(found)
        })
        .unwrap_or_else(|| vec![Found::default(); addresses.len()])
}

fn of_go(parsed: &object::File<'_>, addresses: &[u64]) -> Option<Vec<Found>> {
    let table = GoTable::of_file(parsed)?;
    let found = addresses.iter().map(|address| Found {
        function: table.function_at(*address).map(|it| it.name.to_owned()),
        after: None,
    });
    Some(found.collect())
}
