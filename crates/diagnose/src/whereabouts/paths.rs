//! The routes through the code as trees, one for time on a CPU and one for waits.
//!
//! They are built from the same atoms as the rows, so that the two agree: a tree is never larger than its
//! parts of the account.

use std::collections::HashMap;

use fathom_model::{CodePath, CodePaths, PathStep, ThreadRole, TimeCategory};

use super::atoms::Atom;
use super::divide::code_place;
use super::route::{Key, Step};

/// The share of its tree below which a step is counted as part of its caller, because it would take half a
/// pixel of a picture.
const LEAST: f64 = 0.001;
/// The maximum number of steps of a tree to keep, largest first; this is more than a reader will look at.
const MOST: usize = 1_000;

/// What identifies a step below its caller.
#[derive(Clone, PartialEq, Eq, Hash)]
enum By<'a> {
    Function(Key<'a>),
    End(
        TimeCategory,
        Option<&'a str>,
        Option<String>,
        Option<ThreadRole>,
    ),
}

#[derive(Default)]
struct Node<'a> {
    parent: Option<usize>,
    step: PathStep,
    ns: f64,
    /// The time and the step, by the line of the function that was executed.
    lines: HashMap<Option<u32>, (f64, Option<Step<'a>>)>,
}

/// Returns both trees; a tree is missing if nothing is known about its kind of time.
pub(super) fn paths(atoms: &[Atom<'_>]) -> Vec<CodePaths> {
    let waits = TimeCategory::WaitingForInput..=TimeCategory::OtherWait;
    [CodePath::Cpu, CodePath::Waits]
        .into_iter()
        .filter_map(|of| {
            let is_of = |atom: &&Atom<'_>| waits.contains(&atom.kind) == (of == CodePath::Waits);
            tree(of, atoms.iter().filter(is_of))
        })
        .collect()
}

fn tree<'a>(of: CodePath, atoms: impl Iterator<Item = &'a Atom<'a>>) -> Option<CodePaths> {
    let mut nodes: Vec<Node<'a>> = Vec::new();
    let mut known: HashMap<(Option<usize>, By<'a>), usize> = HashMap::new();
    let mut whole = 0.0;
    for atom in atoms {
        whole += atom.ns;
        let mut at = None;
        let mut add = |by: By<'a>, step: Option<Step<'a>>, end: PathStep| {
            let parent = at;
            let next = nodes.len();
            let number = *known.entry((parent, by)).or_insert(next);
            if number == next {
                nodes.push(Node {
                    parent,
                    step: end,
                    ..Node::default()
                });
            }
            let node = &mut nodes[number];
            node.ns += atom.ns;
            let line = step.and_then(|step| step.frame.line);
            let of_line = node.lines.entry(line).or_insert((0.0, step));
            of_line.0 += atom.ns;
            at = Some(number);
        };
        for step in &atom.route {
            add(By::Function(step.key()), Some(*step), PathStep::default());
        }
        let role = atom.work.map(|work| work.role);
        let is_own = atom.kind == TimeCategory::UserCode && role.is_none();
        // Time spent directly in one of the program's functions belongs to that function, without a further
        // step.
        if !is_own || atom.route.is_empty() {
            let end = PathStep {
                kind: Some(atom.kind),
                call: atom.call.map(str::to_owned),
                object: atom.object.clone(),
                role,
                ..PathStep::default()
            };
            let by = By::End(atom.kind, atom.call, atom.object.clone(), role);
            add(by, None, end);
        }
    }
    let steps = kept(nodes, whole);
    // Without stacks, no step is below another, and the rows already show the rest.
    let is_below = |step: &PathStep| step.parent.is_some() && step.kind.is_none();
    let is_tree = steps.iter().any(is_below);
    is_tree.then_some(CodePaths {
        of,
        ns: whole as u64,
        steps,
    })
}

/// Returns the largest steps, callers first. The time of omitted steps stays with their callers.
fn kept(nodes: Vec<Node<'_>>, whole: f64) -> Vec<PathStep> {
    let mut sizes: Vec<f64> = nodes.iter().map(|node| node.ns).collect();
    sizes.sort_by(|one, other| other.total_cmp(one));
    let least = sizes.get(MOST).map_or(0.0, |size| size * (1.0 + 1e-9));
    let least = least.max(LEAST * whole);
    let mut numbers: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    let mut steps = Vec::new();
    for node in nodes {
        let parent = node.parent.map(|parent| numbers[parent]);
        // A step is never larger than its caller, so the caller of a kept step is kept too.
        if node.ns < least || parent == Some(None) {
            numbers.push(None);
            continue;
        }
        let most = node.lines.into_values().max_by(|a, b| a.0.total_cmp(&b.0));
        let mut step = node.step;
        if let Some(of) = most.and_then(|(_, step)| step) {
            step.place = code_place(of);
        }
        numbers.push(Some(steps.len() as u32));
        steps.push(PathStep {
            parent: parent.flatten(),
            ns: node.ns as u64,
            ..step
        });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_stacks::Frame;

    fn frame(function: &str, line: u32) -> Frame {
        Frame {
            binary: "/bin/a".to_owned(),
            function: Some(function.to_owned()),
            source_file: Some("a.c".to_owned()),
            line: Some(line),
            ..Frame::default()
        }
    }

    fn atom(frames: &[Frame], kind: TimeCategory, ns: f64) -> Atom<'_> {
        let is_waiting = kind != TimeCategory::UserCode;
        Atom {
            kind,
            call: is_waiting.then_some("read"),
            object: is_waiting.then(|| "/data".to_owned()),
            work: None,
            route: frames.iter().map(|frame| Step::new(frame, true)).collect(),
            ns,
            count: None,
            stacks: None,
        }
    }

    #[test]
    fn ways_with_the_same_beginning_are_one_and_the_heaviest_line_counts() {
        let parse = [frame("main", 3), frame("parse", 7)];
        let again = [frame("main", 4), frame("parse", 8)];
        let rare = [frame("main", 3), frame("rare", 9)];
        let load = [frame("main", 3), frame("load", 5)];
        let atoms = [
            atom(&parse, TimeCategory::UserCode, 600.0),
            atom(&again, TimeCategory::UserCode, 300.0),
            atom(&rare, TimeCategory::UserCode, 0.5),
            atom(&load, TimeCategory::Disk, 200.0),
        ];
        let [cpu, waits] = &paths(&atoms)[..] else {
            panic!("two trees");
        };
        let shown = |tree: &CodePaths| -> Vec<(Option<u32>, String, Option<u32>, u64)> {
            let steps = tree.steps.iter();
            let name = |step: &PathStep| match &step.place.function {
                Some(function) => function.clone(),
                None => step.object.clone().unwrap_or_default(),
            };
            steps
                .map(|step| (step.parent, name(step), step.place.line, step.ns))
                .collect()
        };
        let step = |parent, name: &str, line, ns| (parent, name.to_owned(), line, ns);
        let wanted = [
            step(None, "main", Some(3), 900),
            step(Some(0), "parse", Some(7), 900),
        ];
        assert_eq!(shown(cpu), wanted);
        assert_eq!((cpu.ns, waits.ns), (900, 200));
        let wanted = [
            step(None, "main", Some(3), 200),
            step(Some(0), "load", Some(5), 200),
            step(Some(1), "/data", None, 200),
        ];
        assert_eq!(shown(waits), wanted);
    }

    #[test]
    fn what_is_no_tree_of_ways_is_left_out() {
        let frames: Vec<[Frame; 1]> = (0..2_000).map(|at| [frame(&format!("f{at}"), 1)]).collect();
        // Each is below the least share.
        let atoms: Vec<Atom<'_>> = frames
            .iter()
            .map(|one| atom(one, TimeCategory::UserCode, 10.0))
            .collect();
        assert!(paths(&atoms).is_empty());
        assert!(paths(&[]).is_empty());
    }
}
