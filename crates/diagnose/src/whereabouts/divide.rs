//! Divides the samples of one kind of time into rows by location in the code.
//!
//! The rows are a partition: each sample is in exactly one row. A function that holds nearly all samples is
//! not informative, so its callees become rows. If one callee holds nearly all of a function's samples, the
//! callee is the location instead of the function. What is left of a function after its callees got rows of
//! their own is a row as well. Below one caller, library functions with the same purpose count as one callee,
//! and so do functions of one library that are too small by themselves.

use std::collections::BTreeMap;

use fathom_model::CodePlace;

use super::route::{Key, Step};
use crate::runtimes::{group_of, library_of, shown_name};

/// A function with this share of all samples is not informative; a callee with this share of its caller is
/// the location instead of the caller.
const NEARLY_ALL: f64 = 0.8;
/// The share of its caller's time above which the library function through which own code entered the library
/// has its own row.
const MOST: f64 = 0.5;

/// A weight at the end of a route.
#[derive(Debug, Clone)]
pub(super) struct Sample<'a> {
    pub route: Vec<Step<'a>>,
    pub ns: f64,
    pub count: f64,
    /// The number of stacks that the weight represents; `None` if the location is known without stacks.
    pub stacks: Option<u64>,
}

impl Sample<'_> {
    /// Returns whether the route ends with this step, inside a library. Only samples of own code are
    /// described by purpose, because a call already has a name.
    fn ends_in_library(&self, depth: usize) -> bool {
        let is_last = depth + 1 == self.route.len();
        is_last && self.stacks.is_some() && !self.route[depth].is_own
    }
}

/// Samples that ended at one place.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The function; empty if no frame is known.
    pub place: CodePlace,
    /// The callers, nearest first.
    pub callers: Vec<CodePlace>,
    /// The common purpose of several functions, of which the place is the one with the most time.
    pub group: Option<String>,
    pub ns: f64,
    pub count: f64,
}

/// The minimum that a place needs to get a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    pub ns: f64,
    /// The minimum number of sampled stacks; with fewer, the place is uncertain.
    pub stacks: u64,
}

/// Returns the places of all samples, those with the most time first.
pub(super) fn divide(samples: &[Sample<'_>], least: Least) -> Vec<Place> {
    let all: Vec<&Sample<'_>> = samples.iter().collect();
    let mut dividing = Dividing {
        least,
        total: ns_of(&all),
        found: Vec::new(),
    };
    dividing.divide(all, 0);
    let mut found = dividing.found;
    found.sort_by(|one, other| other.ns.total_cmp(&one.ns));
    found
}

fn ns_of(samples: &[&Sample<'_>]) -> f64 {
    samples.iter().map(|sample| sample.ns).sum()
}

/// The next step of samples whose routes are the same up to here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Callee<'a> {
    Function(Key<'a>),
    /// Library functions with the same purpose.
    Group(&'static str),
    /// Small functions of one library.
    Library(&'a str),
}

impl<'a> Callee<'a> {
    fn of(sample: &Sample<'a>, depth: usize) -> Option<Self> {
        let step = sample.route.get(depth)?;
        let group = step.group.filter(|_| sample.ends_in_library(depth));
        Some(group.map_or_else(|| Self::Function(step.key()), Self::Group))
    }

    /// Returns a description of the group, unless the functions' own names already say the same.
    fn group(&self, samples: &[&Sample<'_>], depth: usize) -> Option<String> {
        match self {
            Self::Function(_) => None,
            Self::Library(name) => Some(format!("functions of {name}")),
            Self::Group(name) => {
                let steps = || samples.iter().map(|sample| sample.route[depth]);
                let first = samples[0].route[depth].key();
                let is_one = steps().all(|step| step.key() == first);
                let says_it = steps().all(|step| group_of(step.frame) == Some(*name));
                (!is_one || !says_it).then(|| (*name).to_owned())
            }
        }
    }
}

struct Dividing {
    least: Least,
    total: f64,
    found: Vec<Place>,
}

impl Dividing {
    /// Divides samples that have their first `depth` steps in common.
    fn divide<'a>(&mut self, samples: Vec<&Sample<'a>>, depth: usize) {
        let whole = ns_of(&samples);
        let mut below: BTreeMap<Callee<'a>, Vec<&Sample<'a>>> = BTreeMap::new();
        let mut rest = Vec::new();
        for sample in samples {
            match Callee::of(sample, depth) {
                Some(callee) => below.entry(callee).or_default().push(sample),
                None => rest.push(sample),
            }
        }
        let mut below = self.with_small_ones_by_library(below, depth);
        let says_nothing = depth == 0 || whole >= NEARLY_ALL * self.total;
        let is_own = |group: &[&Sample<'a>]| group.iter().all(|sample| sample.route[depth].is_own);
        let dominates = |group: &Vec<&Sample<'a>>| {
            let part = if is_own(group) { NEARLY_ALL } else { MOST };
            ns_of(group) >= part * whole
        };
        let splits = says_nothing || below.values().any(dominates);
        if !splits {
            let mut all: Vec<&Sample<'a>> = below.into_values().flatten().collect();
            all.append(&mut rest);
            return self.without_group(all, depth);
        }
        while let Some((callee, group)) = below.pop_first() {
            match self.is_enough(&group) {
                true if matches!(callee, Callee::Function(_)) => self.divide(group, depth + 1),
                true => self.found.push(Place {
                    group: callee.group(&group, depth),
                    ..place(&group, depth + 1)
                }),
                false => rest.extend(group),
            }
        }
        if !rest.is_empty() {
            self.found.push(place(&rest, depth));
        }
    }

    /// Adds a function as the place of its callees. Library functions with a common purpose are excepted:
    /// they are grouped regardless of their callers below the function, because a recursion that throws
    /// exceptions does so at every depth.
    fn without_group(&mut self, mut samples: Vec<&Sample<'_>>, depth: usize) {
        let whole = ns_of(&samples);
        let group_of = |sample: &Sample<'_>| {
            let last = sample.route.len().checked_sub(1)?;
            let ends = last >= depth && sample.ends_in_library(last);
            sample.route[last].group.filter(|_| ends)
        };
        let mut groups: BTreeMap<&str, Vec<&Sample<'_>>> = BTreeMap::new();
        for sample in &samples {
            if let Some(group) = group_of(sample) {
                groups.entry(group).or_default().push(sample);
            }
        }
        let most = groups
            .into_iter()
            .max_by(|a, b| ns_of(&a.1).total_cmp(&ns_of(&b.1)));
        let rules = |group: &[&Sample<'_>]| ns_of(group) >= MOST * whole && self.is_enough(group);
        if let Some((name, group)) = most.filter(|(_, group)| rules(group)) {
            let heaviest = group.iter().max_by(|a, b| a.ns.total_cmp(&b.ns));
            let last = heaviest.and_then(|sample| sample.route.last());
            let at = place(&group, depth);
            let here = std::iter::once(at.place).filter(|_| depth > 0);
            self.found.push(Place {
                place: last.map(|step| code_place(*step)).unwrap_or_default(),
                callers: here.chain(at.callers).collect(),
                group: Some(name.to_owned()),
                ..at
            });
            samples.retain(|sample| group_of(sample) != Some(name));
        }
        if !samples.is_empty() {
            self.found.push(place(&samples, depth));
        }
    }

    /// Merges library functions that have no row of their own into a row for their library, if the library
    /// has one.
    fn with_small_ones_by_library<'s, 'a>(
        &self,
        below: BTreeMap<Callee<'a>, Vec<&'s Sample<'a>>>,
        depth: usize,
    ) -> BTreeMap<Callee<'a>, Vec<&'s Sample<'a>>> {
        let ends = |group: &[&Sample<'_>]| group.iter().all(|it| it.ends_in_library(depth));
        let (small, mut below): (BTreeMap<_, _>, BTreeMap<_, _>) = below
            .into_iter()
            .partition(|(_, group)| ends(group) && !self.is_enough(group));
        let mut libraries: BTreeMap<&str, BTreeMap<_, Vec<&Sample<'a>>>> = BTreeMap::new();
        for (callee, group) in small {
            let library = library_of(group[0].route[depth].frame);
            libraries.entry(library).or_default().insert(callee, group);
        }
        for (library, small) in libraries {
            let all: Vec<&Sample<'a>> = small.values().flatten().copied().collect();
            match small.len() > 1 && self.is_enough(&all) {
                true => drop(below.insert(Callee::Library(library), all)),
                false => below.extend(small),
            }
        }
        below
    }

    fn is_enough(&self, samples: &[&Sample<'_>]) -> bool {
        let stacks: Option<u64> = samples.iter().map(|sample| sample.stacks).sum();
        let known = stacks.is_none_or(|stacks| stacks >= self.least.stacks);
        known && ns_of(samples) >= self.least.ns
    }
}

/// Returns the place of samples that have the first `depth` steps in common.
fn place(samples: &[&Sample<'_>], depth: usize) -> Place {
    let mut steps = (0..depth).rev().map(|at| heaviest(samples, at));
    Place {
        place: steps.next().unwrap_or_default(),
        callers: steps.collect(),
        group: None,
        ns: ns_of(samples),
        count: samples.iter().map(|sample| sample.count).sum(),
    }
}

/// Returns a common step, with the line that has most of the time.
fn heaviest(samples: &[&Sample<'_>], at: usize) -> CodePlace {
    let mut by_place: BTreeMap<CodePlace, f64> = BTreeMap::new();
    for sample in samples {
        *by_place.entry(code_place(sample.route[at])).or_default() += sample.ns;
    }
    let most = by_place.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(place, _)| place).unwrap_or_default()
}

pub(super) fn code_place(Step { frame, is_own, .. }: Step<'_>) -> CodePlace {
    CodePlace {
        function: frame.function.as_deref().map(shown_name),
        // Lines inside a library don't help to find a cause.
        source_file: frame.source_file.clone().filter(|_| is_own),
        line: frame.line.filter(|line| is_own && *line > 0),
        source_text: None,
        binary: (!frame.binary.is_empty()).then(|| frame.binary.clone()),
        offset: frame.offset,
        after: frame.after.clone(),
        symbols_in: None,
    }
}
