//! Samples of one kind of time to rows by place in the code.
//!
//! The rows are a partition: each sample is in one row. A function that holds nearly all says
//! nothing, so that its callees are rows; a function of which one callee has nearly all isn't the
//! place either. What remains of a function after its callees got rows of their own is its row.

use std::collections::BTreeMap;

use fathom_model::CodePlace;

use super::route::{Key, Step};
use crate::runtimes::shown_name;

/// A function that has so much of all says nothing, and one that has so much of its caller is the
/// place in its stead.
const NEARLY_ALL: f64 = 0.8;
/// The function of a library by which own code enters it has a row of its own from this part of
/// its caller's time on.
const MOST: f64 = 0.5;

/// A weight at the end of a way.
#[derive(Debug, Clone)]
pub(super) struct Sample<'a> {
    pub route: Vec<Step<'a>>,
    pub ns: f64,
    pub count: f64,
    /// How many stacks it stands for; `None` where its place is known without.
    pub stacks: Option<u64>,
}

/// Samples that ended at one place.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The function; nothing where no frame is known.
    pub place: CodePlace,
    /// The nearest first.
    pub callers: Vec<CodePlace>,
    pub ns: f64,
    pub count: f64,
}

/// What a place needs to have a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    pub ns: f64,
    /// Of sampled stacks: fewer than this may be anywhere.
    pub stacks: u64,
}

/// The places of all samples, most time first.
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

struct Dividing {
    least: Least,
    total: f64,
    found: Vec<Place>,
}

impl Dividing {
    /// Of samples that have their first `depth` steps in common.
    fn divide<'a>(&mut self, samples: Vec<&Sample<'a>>, depth: usize) {
        let whole = ns_of(&samples);
        let mut below: BTreeMap<Key<'a>, Vec<&Sample<'a>>> = BTreeMap::new();
        let mut rest = Vec::new();
        for sample in samples {
            match sample.route.get(depth) {
                Some(step) => below.entry(step.key()).or_default().push(sample),
                None => rest.push(sample),
            }
        }
        let says_nothing = depth == 0 || whole >= NEARLY_ALL * self.total;
        let is_own = |group: &[&Sample<'a>]| group.iter().all(|sample| sample.route[depth].is_own);
        let dominates = |group: &Vec<&Sample<'a>>| {
            let part = if is_own(group) { NEARLY_ALL } else { MOST };
            ns_of(group) >= part * whole
        };
        let splits = says_nothing || below.values().any(dominates);
        for group in below.into_values() {
            match splits && self.is_enough(&group) {
                true => self.divide(group, depth + 1),
                false => rest.extend(group),
            }
        }
        if !rest.is_empty() {
            self.found.push(place(&rest, depth));
        }
    }

    fn is_enough(&self, samples: &[&Sample<'_>]) -> bool {
        let stacks: Option<u64> = samples.iter().map(|sample| sample.stacks).sum();
        let known = stacks.is_none_or(|stacks| stacks >= self.least.stacks);
        known && ns_of(samples) >= self.least.ns
    }
}

/// The place that samples with `depth` common steps are at.
fn place(samples: &[&Sample<'_>], depth: usize) -> Place {
    let mut steps = (0..depth).rev().map(|at| heaviest(samples, at));
    Place {
        place: steps.next().unwrap_or_default(),
        callers: steps.collect(),
        ns: ns_of(samples),
        count: samples.iter().map(|sample| sample.count).sum(),
    }
}

/// A common step with the line that most of the time is at.
fn heaviest(samples: &[&Sample<'_>], at: usize) -> CodePlace {
    let mut by_place: BTreeMap<CodePlace, f64> = BTreeMap::new();
    for sample in samples {
        *by_place.entry(code_place(sample.route[at])).or_default() += sample.ns;
    }
    let most = by_place.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.map(|(place, _)| place).unwrap_or_default()
}

pub(super) fn code_place(Step { frame, is_own }: Step<'_>) -> CodePlace {
    CodePlace {
        function: frame.function.as_deref().map(shown_name),
        // Nobody looks for a cause in a library's lines.
        source_file: frame.source_file.clone().filter(|_| is_own),
        line: frame.line.filter(|line| is_own && *line > 0),
        binary: (!frame.binary.is_empty()).then(|| frame.binary.clone()),
        offset: frame.offset,
        after: frame.after.clone(),
        symbols_in: None,
    }
}
