//! Where the time goes: the objects on which it is spent, and the locations in the code.
//!
//! The account of the critical path is cut into atoms, each of which has a kind of time, a call, an object
//! and a route through the code. Rows are atoms that are grouped by object and, within an object, by
//! location. The rows of a kind never exceed the corresponding part of the account, so unknown parts are
//! omitted and nothing is counted twice.

mod atoms;
mod divide;
mod entries;
mod findings;
mod locks;
mod objects;
mod paths;
mod route;
mod sites;
#[cfg(test)]
mod tests;
mod whose;

use std::collections::BTreeMap;

use fathom_model::{CodePaths, CodePlace, ThreadRole, TimeCategory, WhereRow};

use crate::analysis::Analysis;
use atoms::{Atom, Source};
use divide::{Least, Sample};

pub(crate) use entries::Entries;
pub(crate) use findings::name_places;
pub(crate) use route::Routes;
pub(crate) use sites::own_code_sites;
pub(crate) use whose::is_system_library;

/// The share of the wall time above which a place has a row; a smaller one belongs to its caller. The part of
/// other programs is excluded from the wall time here and below, so that rows don't depend on their load.
const SPLIT: f64 = 0.05;
/// Rows below this share of the wall time are omitted.
const LEAST: f64 = 0.01;
/// The maximum number of rows to keep.
const MOST_ROWS: usize = 100;
/// The minimum number of sampled stacks; with fewer, the place is uncertain.
const FEWEST_STACKS: u64 = 4;

/// Parts of the account without a location: time when other programs had the CPU, and unknown time.
const NOWHERE: [TimeCategory; 4] = [
    TimeCategory::Ready,
    TimeCategory::Throttled,
    TimeCategory::Stolen,
    TimeCategory::Unaccounted,
];

/// What the atoms of one row have in common, apart from their location in the code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    kind: TimeCategory,
    call: Option<String>,
    object: Option<String>,
    role: Option<ThreadRole>,
    changed_by: &'static [String],
}

/// Returns the largest pieces of the account, those with the most time first, and the routes of the whole
/// account.
pub(crate) fn rows_and_paths(analysis: &Analysis<'_>) -> (Vec<WhereRow>, Vec<CodePaths>) {
    let source = Source::new(analysis);
    let atoms = fitted(analysis, source.atoms());
    let paths = paths::paths(&atoms);
    (rows(analysis, atoms), paths)
}

fn rows(analysis: &Analysis<'_>, atoms: Vec<Atom<'_>>) -> Vec<WhereRow> {
    let wall = analysis.account.wall_ns as f64;
    let mut rows = Vec::new();
    for (subject, samples) in by_subject(atoms) {
        let least = Least {
            ns: SPLIT * analysis.wall_ns,
            stacks: FEWEST_STACKS,
        };
        let counted = samples.iter().all(|(_, counted)| *counted);
        let samples: Vec<Sample<'_>> = samples.into_iter().map(|(sample, _)| sample).collect();
        let before = rows.len();
        for place in divide::divide(&samples, least) {
            let row = WhereRow {
                share: (place.ns / wall.max(1.0)).clamp(0.0, 1.0),
                ns: place.ns as u64,
                kind: subject.kind,
                call: subject.call.clone(),
                object: subject.object.clone(),
                place: place.place,
                group: place.group,
                callers: place.callers,
                count: (counted && place.count >= 0.5).then(|| match subject.call {
                    Some(_) => analysis.shown_calls(place.count),
                    None => place.count.round() as u64,
                }),
                role: subject.role,
                changed_by: subject.changed_by.to_vec(),
            };
            // Routes that differ only further out form one row; otherwise, the row would appear twice.
            match rows[before..]
                .iter_mut()
                .find(|known| same_place(known, &row))
            {
                Some(known) => add(known, &row),
                None => rows.push(row),
            }
        }
    }
    rows.retain(|row| row.ns as f64 >= LEAST * analysis.wall_ns);
    rows.sort_by(|one, other| {
        let size = other.ns.cmp(&one.ns);
        size.then_with(|| {
            (one.kind, &one.call, &one.object).cmp(&(other.kind, &other.call, &other.object))
        })
    });
    rows.truncate(MOST_ROWS);
    rows
}

/// Returns whether two rows of a subject read the same, that is, have the same place and the same displayed
/// caller.
fn same_place(one: &WhereRow, other: &WhereRow) -> bool {
    (&one.place, &one.group) == (&other.place, &other.group)
        && shown_caller(one) == shown_caller(other)
}

/// Returns the nearest caller with a name, or if there is none, the nearest caller.
fn shown_caller(row: &WhereRow) -> Option<&CodePlace> {
    let named = row.callers.iter().find(|caller| caller.function.is_some());
    named.or(row.callers.first())
}

fn add(known: &mut WhereRow, row: &WhereRow) {
    known.share = (known.share + row.share).min(1.0);
    known.ns += row.ns;
    known.count = known.count.zip(row.count).map(|(known, more)| known + more);
}

/// Scales the atoms of each kind down to the account's part if they exceed it. They can exceed it because
/// weights apply to whole threads.
fn fitted<'a>(analysis: &Analysis<'_>, mut atoms: Vec<Atom<'a>>) -> Vec<Atom<'a>> {
    atoms.retain(|atom| !NOWHERE.contains(&atom.kind) && atom.ns > 0.0);
    // If the run was stopped at its calls, the account has a single part for the whole kernel.
    let part_of = |kind| match kind == TimeCategory::PageFaults && analysis.by_stops() {
        true => TimeCategory::Kernel,
        false => kind,
    };
    let mut sums: BTreeMap<TimeCategory, f64> = BTreeMap::new();
    for atom in &atoms {
        *sums.entry(part_of(atom.kind)).or_default() += atom.ns;
    }
    for atom in &mut atoms {
        let kind = part_of(atom.kind);
        let part = analysis.account.ns(kind) as f64;
        atom.ns *= (part / sums[&kind].max(1.0)).min(1.0);
    }
    atoms
}

/// Groups atoms by subject; each comes with a flag whether its count is known. Small objects are merged by
/// folder.
fn by_subject(atoms: Vec<Atom<'_>>) -> BTreeMap<Subject, Vec<(Sample<'_>, bool)>> {
    let mut by_call: BTreeMap<(TimeCategory, Option<&str>), Vec<Atom<'_>>> = BTreeMap::new();
    for atom in atoms {
        by_call
            .entry((atom.kind, atom.call))
            .or_default()
            .push(atom);
    }
    let mut subjects: BTreeMap<Subject, Vec<(Sample<'_>, bool)>> = BTreeMap::new();
    for ((kind, call), atoms) in by_call {
        let objects: Vec<_> = atoms
            .iter()
            .map(|atom| (atom.object.clone(), atom.ns))
            .collect();
        for (atom, object) in atoms.into_iter().zip(objects::grouped(&objects)) {
            let subject = Subject {
                kind,
                call: call.map(str::to_owned),
                object,
                role: atom.work.map(|work| work.role),
                changed_by: atom.work.map_or(&[], |work| work.changed_by.as_slice()),
            };
            let sample = Sample {
                route: atom.route,
                ns: atom.ns,
                count: atom.count.unwrap_or(0.0),
                stacks: atom.stacks,
            };
            let of_subject = subjects.entry(subject).or_default();
            of_subject.push((sample, atom.count.is_some()));
        }
    }
    subjects
}
