//! The data for the page's flame graphs.

use std::collections::HashMap;

use fathom_model::{CodePath, CodePaths, Explanation, PathStep, PathsDifference};
use serde::Serialize;

use super::page_data::Limits;
use super::profile::name;
use crate::text::bounded as safe;

/// One graph.
#[derive(Serialize)]
pub(super) struct Flame {
    title: &'static str,
    /// The kind of the tree, `code` or `waits`, which determines how it is drawn.
    kind: &'static str,
    ns: u64,
    /// For each step: the index of its caller or -1, its time including callees, the index of its name, and
    /// its part of the account.
    steps: Vec<(i64, u64, usize, Option<usize>)>,
    names: Vec<String>,
}

/// One graph for two commands.
#[derive(Serialize)]
pub(super) struct DifferenceFlame {
    title: &'static str,
    a_ns: u64,
    b_ns: u64,
    /// For each step: the index of its caller or -1, its times in A and in B, the index of its name, and
    /// whether the times differ clearly, if known.
    steps: Vec<(i64, u64, u64, usize, Option<bool>)>,
    names: Vec<String>,
}

/// Returns the graphs of an explanation, with the largest steps.
pub(super) fn of(explanation: &Explanation, limits: &Limits) -> Vec<Flame> {
    let trees = explanation.paths.iter();
    let trees = trees.filter(|tree| !tree.steps.is_empty());
    trees.map(|tree| flame(tree, limits)).collect()
}

/// Returns the graphs for two commands.
pub(super) fn of_difference(paths: &[PathsDifference], limits: &Limits) -> Vec<DifferenceFlame> {
    let trees = paths.iter().filter(|tree| !tree.steps.is_empty());
    trees.map(|tree| difference(tree, limits)).collect()
}

fn flame(tree: &CodePaths, limits: &Limits) -> Flame {
    let sizes: Vec<u64> = tree.steps.iter().map(|step| step.ns).collect();
    let mut kept = Kept::of(sizes, limits);
    let mut steps = Vec::new();
    for step in &tree.steps {
        if let Some((parent, number)) = kept.add(step, step.ns) {
            steps.push((parent, step.ns, number, step.kind.map(|kind| kind as usize)));
        }
    }
    Flame {
        title: title(tree.of),
        kind: match tree.of {
            CodePath::Cpu => "code",
            CodePath::Waits => "waits",
        },
        ns: tree.ns.max(1),
        steps,
        names: kept.names,
    }
}

fn difference(tree: &PathsDifference, limits: &Limits) -> DifferenceFlame {
    let sizes = tree.steps.iter().map(|step| step.a_ns.max(step.b_ns));
    let mut kept = Kept::of(sizes.collect(), limits);
    let mut steps = Vec::new();
    for one in &tree.steps {
        if let Some((parent, number)) = kept.add(&one.step, one.a_ns.max(one.b_ns)) {
            steps.push((parent, one.a_ns, one.b_ns, number, one.is_clear));
        }
    }
    DifferenceFlame {
        title: title(tree.of),
        a_ns: tree.a_ns,
        b_ns: tree.b_ns,
        steps,
        names: kept.names,
    }
}

fn title(of: CodePath) -> &'static str {
    match of {
        CodePath::Cpu => "CPU time by function",
        CodePath::Waits => "Waits by the object waited for",
    }
}

/// The largest steps of a tree, with each name once.
struct Kept {
    least: u64,
    text: usize,
    /// The index in the picture of each step of the tree.
    numbers: Vec<Option<i64>>,
    count: i64,
    names: Vec<String>,
    known: HashMap<String, usize>,
}

impl Kept {
    fn of(mut sizes: Vec<u64>, limits: &Limits) -> Kept {
        // The number of rows is limited. A step is never larger than its caller, so whole routes are omitted.
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        Kept {
            least: sizes.get(limits.rows * 2).map_or(0, |size| size + 1),
            text: limits.text,
            numbers: Vec::new(),
            count: 0,
            names: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Adds a step. Returns the index of its caller, or -1, and the index of its name; `None` if the step is
    /// omitted.
    fn add(&mut self, step: &PathStep, size: u64) -> Option<(i64, usize)> {
        let parent = match step.parent {
            None => Some(-1),
            Some(parent) => self.numbers.get(parent as usize).copied().flatten(),
        };
        let Some(parent) = parent.filter(|_| size >= self.least) else {
            self.numbers.push(None);
            return None;
        };
        self.numbers.push(Some(self.count));
        self.count += 1;
        let text = safe(&name(step), self.text);
        let number = *self.known.entry(text).or_insert_with_key(|text| {
            self.names.push(text.clone());
            self.names.len() - 1
        });
        Some((parent, number))
    }
}
