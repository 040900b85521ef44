//! Overlays the call trees of two commands.

use crate::file_name::file_name;
use std::collections::{HashMap, HashSet};

use fathom_model::{
    CodePath, CodePaths, Explanation, PathStep, PathsDifference, StepDifference, ThreadRole,
    TimeCategory,
};

/// A step below this part of the larger tree is merged into its caller, because it would take half a pixel of
/// a chart.
const LEAST: f64 = 0.001;
/// The maximum number of steps of a tree to keep; the largest are kept.
const MOST: usize = 1_000;
/// The confidence level, at which only a few of 1,000 steps are reported as different by chance.
const LEVEL: f64 = 0.99;

/// The identity of a step below its caller.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum By {
    /// A function, by its name and the name of its file.
    Function(String, Option<String>),
    /// Code without a name.
    Place(String, Option<u64>),
    End(
        TimeCategory,
        Option<String>,
        Option<String>,
        Option<ThreadRole>,
    ),
}

/// A step of one command's tree.
struct Node {
    by: By,
    below: Vec<usize>,
    step: PathStep,
    /// The time in each observed run.
    ns: Vec<f64>,
}

/// The tree of one command, over all its observed runs.
#[derive(Default)]
struct Side {
    nodes: Vec<Node>,
    /// The outermost steps.
    roots: Vec<usize>,
    runs: usize,
}

/// A step of A, of B or of both, by its index in each tree.
#[derive(Clone, Copy)]
struct Pair {
    parent: Option<usize>,
    of: [Option<usize>; 2],
}

/// Returns the trees of both commands; each tree is the mean over the observed runs.
pub fn paths(sides: [&[Explanation]; 2]) -> Vec<PathsDifference> {
    [CodePath::Cpu, CodePath::Waits]
        .into_iter()
        .filter_map(|of| {
            let trees = sides.map(|side| side.iter().map(|one| tree(one, of)).collect());
            merged(of, trees)
        })
        .collect()
}

fn tree(explanation: &Explanation, of: CodePath) -> Option<&CodePaths> {
    explanation.paths.iter().find(|tree| tree.of == of)
}

fn merged(of: CodePath, sides: [Vec<Option<&CodePaths>>; 2]) -> Option<PathsDifference> {
    let whole = sides.each_ref().map(|trees| {
        let all = trees.iter().flatten().map(|tree| tree.ns as f64);
        all.sum::<f64>() / trees.len().max(1) as f64
    });
    let sides = sides.map(|trees| Side::of(&trees));
    let steps = kept(&sides, &pairs(&sides), whole[0].max(whole[1]));
    let [a_ns, b_ns] = whole.map(|ns| ns as u64);
    (!steps.is_empty()).then_some(PathsDifference {
        of,
        a_ns,
        b_ns,
        steps,
    })
}

impl Side {
    fn of(trees: &[Option<&CodePaths>]) -> Side {
        let mut side = Side {
            runs: trees.len(),
            ..Side::default()
        };
        let mut known: HashMap<(Option<usize>, By), usize> = HashMap::new();
        for (run, tree) in trees.iter().enumerate() {
            let mut numbers: Vec<Option<usize>> = Vec::new();
            for step in tree.iter().flat_map(|tree| &tree.steps) {
                let parent = step.parent.map(|parent| parent as usize);
                // In a damaged tree, a caller may come after its callees.
                let above = parent.map(|parent| numbers.get(parent).copied().flatten());
                if above == Some(None) {
                    numbers.push(None);
                    continue;
                }
                let parent = above.flatten();
                let next = side.nodes.len();
                let number = *known.entry((parent, by(step))).or_insert(next);
                if number == next {
                    side.add(parent, step);
                }
                side.nodes[number].ns[run] += step.ns as f64;
                numbers.push(Some(number));
            }
        }
        side
    }

    fn add(&mut self, parent: Option<usize>, step: &PathStep) {
        let number = self.nodes.len();
        self.nodes.push(Node {
            by: by(step),
            below: Vec::new(),
            step: step.clone(),
            ns: vec![0.0; self.runs],
        });
        match parent {
            Some(parent) => self.nodes[parent].below.push(number),
            None => self.roots.push(number),
        }
    }

    /// Returns the callees of a step, or the outermost steps.
    fn below(&self, pair: Option<Option<usize>>) -> &[usize] {
        match pair {
            None => &self.roots,
            Some(None) => &[],
            Some(Some(at)) => &self.nodes[at].below,
        }
    }
}

/// Returns all steps of both trees, callers first.
fn pairs(sides: &[Side; 2]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut callers: Vec<Option<usize>> = vec![None];
    while let Some(parent) = callers.pop() {
        let below = [0, 1].map(|side| {
            let of = parent.map(|parent| pairs[parent].of[side]);
            sides[side].below(of)
        });
        for of in matched(sides, below) {
            callers.push(Some(pairs.len()));
            pairs.push(Pair { parent, of });
        }
    }
    pairs
}

/// Pairs the callees of one caller in A and B. First, equal functions from files of the same name are paired.
/// Of the rest, functions whose name occurs once in each are paired, because two scripts or programs have the
/// same functions in different files.
fn matched(sides: &[Side; 2], below: [&[usize]; 2]) -> Vec<[Option<usize>; 2]> {
    let by = |side: usize, at: usize| &sides[side].nodes[at].by;
    let in_b: HashMap<&By, usize> = below[1].iter().map(|at| (by(1, *at), *at)).collect();
    let mut found: Vec<[Option<usize>; 2]> = Vec::new();
    let mut left: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for a in below[0] {
        match in_b.get(by(0, *a)) {
            Some(b) => found.push([Some(*a), Some(*b)]),
            None => left[0].push(*a),
        }
    }
    let taken: HashSet<usize> = found.iter().filter_map(|pair| pair[1]).collect();
    left[1].extend(below[1].iter().filter(|at| !taken.contains(at)));
    let named = |side: usize, at: usize| match by(side, at) {
        By::Function(name, _) => Some(name.as_str()),
        _ => None,
    };
    let only = |side: usize, name: &str| {
        let mut all = left[side]
            .iter()
            .filter(|at| named(side, **at) == Some(name));
        let first = all.next().copied();
        first.filter(|_| all.next().is_none())
    };
    let partner = |side: usize, at: usize| {
        let name = named(side, at)?;
        only(side, name)?;
        only(1 - side, name)
    };
    found.extend(left[0].iter().map(|a| [Some(*a), partner(0, *a)]));
    let alone = left[1].iter().filter(|b| partner(1, **b).is_none());
    found.extend(alone.map(|b| [None, Some(*b)]));
    found
}

fn by(step: &PathStep) -> By {
    let place = &step.place;
    let file = |path: &String| file_name(path).to_owned();
    match (step.kind, &place.function) {
        (Some(kind), _) => By::End(kind, step.call.clone(), step.object.clone(), step.role),
        (None, Some(name)) => {
            let from = place.source_file.as_ref().or(place.binary.as_ref());
            By::Function(name.clone(), from.map(file))
        }
        (None, None) => By::Place(
            place.binary.as_ref().map(file).unwrap_or_default(),
            place.offset,
        ),
    }
}

/// Returns the largest steps, callers first. The time of steps that are omitted stays with their callers.
fn kept(sides: &[Side; 2], pairs: &[Pair], whole: f64) -> Vec<StepDifference> {
    let values = |pair: &Pair| -> [Vec<f64>; 2] {
        [0, 1].map(|side| match pair.of[side] {
            Some(at) => sides[side].nodes[at].ns.clone(),
            None => vec![0.0; sides[side].runs],
        })
    };
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let means = |pair: &Pair| values(pair).each_ref().map(mean);
    // In each command, a step is no larger than its caller, so the caller of a kept step is kept too.
    let size = |[a, b]: [f64; 2]| a.max(b);
    let mut sizes: Vec<f64> = pairs.iter().map(|pair| size(means(pair))).collect();
    sizes.sort_by(|one, other| other.total_cmp(one));
    let least = sizes.get(MOST).map_or(0.0, |size| size * (1.0 + 1e-9));
    let least = least.max(LEAST * whole);
    let mut numbers: Vec<Option<u32>> = Vec::with_capacity(pairs.len());
    let mut steps = Vec::new();
    for pair in pairs {
        let parent = pair.parent.map(|parent| numbers[parent]);
        let means = means(pair);
        let [a, b] = pair.of;
        let node = b.map(|b| &sides[1].nodes[b]);
        let node = node.or(a.map(|a| &sides[0].nodes[a]));
        let Some(node) = node.filter(|_| size(means) >= least && parent != Some(None)) else {
            numbers.push(None);
            continue;
        };
        numbers.push(Some(steps.len() as u32));
        let [a_ns, b_ns] = means.map(|ns| ns as u64);
        steps.push(StepDifference {
            step: PathStep {
                parent: parent.flatten(),
                ns: a_ns + b_ns,
                ..node.step.clone()
            },
            a_ns,
            b_ns,
            is_clear: is_clear(&values(pair)),
        });
    }
    steps
}

/// Reports whether the difference is clear; returns `None` if either command was observed only once, because
/// the spread is then unknown.
fn is_clear([a, b]: &[Vec<f64>; 2]) -> Option<bool> {
    let known = fathom_stats::mean_difference(a, b, LEVEL)?;
    (known.level > 0.0).then_some(known.low > 0.0 || known.high < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::CodePlace;

    fn step(parent: Option<u32>, name: &str, file: &str, ns: u64) -> PathStep {
        PathStep {
            parent,
            ns,
            place: CodePlace {
                function: Some(name.to_owned()),
                source_file: Some(file.to_owned()),
                ..CodePlace::default()
            },
            ..PathStep::default()
        }
    }

    fn tree(steps: Vec<PathStep>) -> CodePaths {
        CodePaths {
            of: CodePath::Cpu,
            ns: steps
                .iter()
                .filter(|it| it.parent.is_none())
                .map(|it| it.ns)
                .sum(),
            steps,
        }
    }

    fn of(a: &[CodePaths], b: &[CodePaths]) -> PathsDifference {
        let sides = [a, b].map(|side| side.iter().map(Some).collect());
        merged(CodePath::Cpu, sides).expect("there are steps")
    }

    /// The caller, the name, the times of A and of B, and whether the difference is clear.
    type Shown<'a> = (Option<u32>, &'a str, u64, u64, Option<bool>);

    fn shown(of: &PathsDifference) -> Vec<Shown<'_>> {
        let steps = of.steps.iter();
        steps
            .map(|it| {
                let name = it.step.place.function.as_deref().unwrap_or("");
                (it.step.parent, name, it.a_ns, it.b_ns, it.is_clear)
            })
            .collect()
    }

    #[test]
    fn ways_of_both_are_one_whatever_file_they_are_from_and_each_is_the_mean_of_its_runs() {
        let a = |more: u64| {
            tree(vec![
                step(None, "main", "a.py", 900 + more),
                step(Some(0), "parse", "a.py", 600 + more),
                step(Some(0), "load", "a.py", 300),
            ])
        };
        let b = |more: u64| {
            tree(vec![
                step(None, "main", "b.py", 1_600),
                step(Some(0), "check", "b.py", 1_000 - more),
                step(Some(0), "parse", "b.py", 600 + more),
            ])
        };
        let both = of(&[a(0), a(6), a(3)], &[b(0), b(8), b(4)]);
        assert_eq!((both.a_ns, both.b_ns), (903, 1_600));
        let wanted = [
            (None, "main", 903, 1_600, Some(true)),
            (Some(0), "parse", 603, 604, Some(false)),
            (Some(0), "load", 300, 0, Some(true)),
            (Some(0), "check", 0, 996, Some(true)),
        ];
        assert_eq!(shown(&both), wanted);
        let main = &both.steps[0].step;
        assert_eq!(main.ns, 2_503);
        assert_eq!(main.place.source_file.as_deref(), Some("b.py"));
    }

    #[test]
    fn two_functions_of_a_name_below_one_caller_stay_two() {
        let both = || {
            tree(vec![
                step(None, "main", "/1/m.py", 100),
                step(Some(0), "run", "/1/x.py", 60),
                step(Some(0), "run", "/1/y.py", 40),
            ])
        };
        let difference = of(&[both()], &[both()]);
        // With only one run of each, it is unknown how much of the difference is chance.
        let wanted = [
            (None, "main", 100, 100, None),
            (Some(0), "run", 60, 60, None),
            (Some(0), "run", 40, 40, None),
        ];
        assert_eq!(shown(&difference), wanted);
    }

    /// Tests a shell's `main` and a script's `main`: the script's one appears once in each tree, whatever the
    /// file is called.
    #[test]
    fn of_two_functions_of_a_name_those_of_one_file_are_one_and_the_others_too() {
        let both = |script: &str, ns| {
            tree(vec![
                step(None, "main", "/bin/bash", 100),
                step(None, "main", script, ns),
                step(Some(1), "parse", script, ns),
            ])
        };
        let difference = of(&[both("/1/a.py", 500)], &[both("/1/b.py", 700)]);
        let wanted = [
            (None, "main", 100, 100, None),
            (None, "main", 500, 700, None),
            (Some(1), "parse", 500, 700, None),
        ];
        assert_eq!(shown(&difference), wanted);
    }

    #[test]
    fn what_is_small_in_both_and_what_a_damaged_tree_has_are_left_out() {
        let a = tree(vec![
            step(None, "main", "a", 100_000),
            step(Some(0), "rare", "a", 50),
            step(Some(9), "ahead", "a", 90_000),
        ]);
        let difference = of(std::slice::from_ref(&a), &[]);
        assert_eq!(shown(&difference), [(None, "main", 100_000, 0, None)]);
        assert!(paths([&[], &[]]).is_empty());
    }
}
