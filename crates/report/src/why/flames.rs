//! What the page's flame graphs are drawn from.

use std::collections::HashMap;

use fathom_model::{CodePath, CodePaths, Explanation};
use serde::Serialize;

use super::page_data::Limits;
use super::profile::name;
use crate::text::bounded as safe;

/// One graph.
#[derive(Serialize)]
pub(super) struct Flame {
    title: &'static str,
    /// What its functions are drawn as.
    kind: &'static str,
    ns: u64,
    /// Caller or -1, time with what it called, number of the name, part of the account.
    steps: Vec<(i64, u64, usize, Option<usize>)>,
    names: Vec<String>,
}

/// The graphs of an explanation, of the largest steps.
pub(super) fn of(explanation: &Explanation, limits: &Limits) -> Vec<Flame> {
    let trees = explanation.paths.iter();
    let trees = trees.filter(|tree| !tree.steps.is_empty());
    trees.map(|tree| flame(tree, limits)).collect()
}

fn flame(tree: &CodePaths, limits: &Limits) -> Flame {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::new();
    let mut kept: Vec<Option<i64>> = Vec::new();
    let mut steps = Vec::new();
    // As many as rows: a step is no larger than its caller, so that whole ways are left out.
    let mut sizes: Vec<u64> = tree.steps.iter().map(|step| step.ns).collect();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    let least = sizes.get(limits.rows * 2).map_or(0, |size| size + 1);
    for step in &tree.steps {
        let parent = match step.parent {
            None => Some(-1),
            Some(parent) => kept.get(parent as usize).copied().flatten(),
        };
        let Some(parent) = parent.filter(|_| step.ns >= least) else {
            kept.push(None);
            continue;
        };
        let text = safe(&name(step), limits.text);
        let number = *numbers.entry(text).or_insert_with_key(|text| {
            names.push(text.clone());
            names.len() - 1
        });
        kept.push(Some(steps.len() as i64));
        steps.push((parent, step.ns, number, step.kind.map(|kind| kind as usize)));
    }
    Flame {
        title: match tree.of {
            CodePath::Cpu => "CPU time by function",
            CodePath::Waits => "Waits by what was waited for",
        },
        kind: match tree.of {
            CodePath::Cpu => "code",
            CodePath::Waits => "waits",
        },
        ns: tree.ns.max(1),
        steps,
        names,
    }
}
