//! The ways through the code of two commands, laid over each other.

use std::collections::HashMap;

use fathom_model::{
    CodePath, CodePaths, Explanation, PathStep, PathsDifference, StepDifference, ThreadRole,
    TimeCategory,
};

/// A step below this part of the larger tree is its caller's: half a pixel of a picture.
const LEAST: f64 = 0.001;
/// Steps that are kept of a tree, the largest: more than anybody looks at.
const MOST: usize = 1_000;
/// Of 1,000 steps few may be called different by chance.
const LEVEL: f64 = 0.99;

/// What a step is known by below its caller.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum By {
    /// A function by its name; where one caller has two of that name also by the file that it is from.
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

struct Node {
    parent: Option<usize>,
    step: PathStep,
    /// In each observed run of A and of B.
    ns: [Vec<f64>; 2],
}

/// The trees of both, each the mean of its observed runs.
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
    let runs = [sides[0].len(), sides[1].len()];
    let mut nodes: Vec<Node> = Vec::new();
    let mut known: HashMap<(Option<usize>, By), usize> = HashMap::new();
    for (side, trees) in sides.iter().enumerate() {
        for (run, tree) in trees.iter().enumerate() {
            let Some(tree) = tree else {
                continue;
            };
            let mut numbers: Vec<Option<usize>> = Vec::with_capacity(tree.steps.len());
            let names = names(tree);
            for (at, step) in tree.steps.iter().enumerate() {
                let parent = step.parent.map(|parent| parent as usize);
                // A damaged tree has callers behind what they called.
                let above = parent.map(|parent| numbers.get(parent).copied().flatten());
                if above == Some(None) {
                    numbers.push(None);
                    continue;
                }
                let parent = above.flatten();
                let next = nodes.len();
                let by = by(
                    step,
                    names[&(step.parent, step.place.function.as_deref())] > 1,
                );
                let number = *known.entry((parent, by)).or_insert(next);
                if number == next {
                    let ns = runs.map(|runs| vec![0.0; runs]);
                    let step = step.clone();
                    nodes.push(Node { parent, step, ns });
                }
                nodes[number].ns[side][run] += step.ns as f64;
                // Lines and files are those of B, whose observed runs come last.
                nodes[number].step.place = tree.steps[at].place.clone();
                numbers.push(Some(number));
            }
        }
    }
    let whole = |side: usize| {
        let all = sides[side].iter().flatten().map(|tree| tree.ns as f64);
        all.sum::<f64>() / runs[side].max(1) as f64
    };
    let [a_ns, b_ns] = [whole(0), whole(1)];
    let steps = kept(nodes, a_ns.max(b_ns));
    (!steps.is_empty()).then_some(PathsDifference {
        of,
        a_ns: a_ns as u64,
        b_ns: b_ns as u64,
        steps,
    })
}

/// How many functions of a name each caller has.
fn names(tree: &CodePaths) -> HashMap<(Option<u32>, Option<&str>), usize> {
    let mut names = HashMap::new();
    for step in &tree.steps {
        let name = step.place.function.as_deref();
        *names.entry((step.parent, name)).or_default() += 1;
    }
    names
}

fn by(step: &PathStep, is_ambiguous: bool) -> By {
    let place = &step.place;
    let file = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
    match (step.kind, &place.function) {
        (Some(kind), _) => By::End(kind, step.call.clone(), step.object.clone(), step.role),
        (None, Some(name)) => {
            let from = place.source_file.as_ref().or(place.binary.as_ref());
            By::Function(name.clone(), from.filter(|_| is_ambiguous).map(file))
        }
        (None, None) => By::Place(
            place.binary.as_ref().map(file).unwrap_or_default(),
            place.offset,
        ),
    }
}

/// The largest steps, callers first. What is left out stays in its caller's time.
fn kept(nodes: Vec<Node>, whole: f64) -> Vec<StepDifference> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let means: Vec<[f64; 2]> = nodes
        .iter()
        .map(|node| [0, 1].map(|side| mean(&node.ns[side])))
        .collect();
    // A step is in no command larger than its caller, so that a caller of one that is kept is too.
    let size = |[a, b]: [f64; 2]| a.max(b);
    let mut sizes: Vec<f64> = means.iter().map(|means| size(*means)).collect();
    sizes.sort_by(|one, other| other.total_cmp(one));
    let least = sizes.get(MOST).map_or(0.0, |size| size * (1.0 + 1e-9));
    let least = least.max(LEAST * whole);
    let mut numbers: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    let mut steps = Vec::new();
    for (node, means) in nodes.into_iter().zip(means) {
        let parent = node.parent.map(|parent| numbers[parent]);
        if size(means) < least || parent == Some(None) {
            numbers.push(None);
            continue;
        }
        numbers.push(Some(steps.len() as u32));
        let [a_ns, b_ns] = means.map(|ns| ns as u64);
        steps.push(StepDifference {
            step: PathStep {
                parent: parent.flatten(),
                ns: a_ns + b_ns,
                ..node.step
            },
            a_ns,
            b_ns,
            is_clear: is_clear(&node.ns),
        });
    }
    steps
}

/// `None` where one of both was observed once, which has no spread.
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

    /// Caller, name, time of A and of B, whether it is clear.
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
        // Of one run of each nobody knows how much is chance.
        let wanted = [
            (None, "main", 100, 100, None),
            (Some(0), "run", 60, 60, None),
            (Some(0), "run", 40, 40, None),
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
