//! Are functions of Python's the ones that ran, with their callers, and is their time the program's?
//!
//! Thirty generated programs, each of three to six ways to get to a loop of counted turns, for each
//! Python that is here, sampled as `fathom why` does it for short programs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_stacks::Frame;
use fathom_trace::{Activity, Stacks, Tier, Trace, TraceOptions, trace};

use crate::Result;
use crate::options::Options;
use crate::random::Random;
use crate::sampling::{sampled, silent, tiers};
use crate::table::Table;

const PROGRAMS: u64 = 30;
/// The part of sampled paths that must be in the program.
const EXISTS: f64 = 0.95;
/// Turns of loops in a program: some 1.5 s.
const TURNS: usize = 40_000_000;
/// Names of interpreters that are looked for, beside those in `FATHOM_BENCH_PYTHON`, one after a colon.
const NAMES: [&str; 4] = ["python3.11", "python3.12", "python3.13", "python3.14"];
/// The loop, as the body of a function.
const LOOP: &str = "        s = 0\n        for i in range(n): s += i & 3\n";

/// Ways to a loop: definitions and call, `@` being the number of the way and `#` the turns, and the
/// functions from the innermost to below `main`.
const WAYS: [(&str, &str, &[&str]); 8] = [
    ("    def leaf@(n):\nLOOP", "leaf@(#)", &["leaf@"]),
    (
        "    class C@:\n     def go(self, n): return self.leaf(n)\n     def leaf(self, n):\nLOOP",
        "C@().go(#)",
        &["C@.leaf", "C@.go"],
    ),
    (
        "    def gen@(n):\n      for j in range(10):\nLOOP        yield s\n    def use@(n): return sum(gen@(n // 10))",
        "use@(#)",
        &["gen@", "use@"],
    ),
    (
        "    def part@(n):\nLOOP    def parts@(n): return list(part@(n // 10) for _ in range(10))",
        "parts@(#)",
        &["part@", "parts@.<genexpr>", "parts@"],
    ),
    (
        "    def rec@(d, n):\n        if d: return rec@(d - 1, n)\nLOOP",
        "rec@(3, #)",
        &["rec@", "rec@", "rec@", "rec@"],
    ),
    (
        "    def run@(n):\nLOOP    def ex@(n): exec('run(n)', {'run': run@, 'n': n})",
        "ex@(#)",
        // Without the text's own frame, which is mostly gone when it could be named.
        &["run@", "ex@"],
    ),
    (
        "    def key@(n):\nLOOP        return s\n    def sort@(n): sorted([n // 10] * 10, key=key@)",
        "sort@(#)",
        &["key@", "sort@"],
    ),
    (
        "    def short@(n):\nLOOP    def calls@(n):\n        for _ in range(n // 20): short@(20)",
        "calls@(#)",
        &["short@", "calls@"],
    ),
];

/// A program, and of each of its ways the functions and its part of all turns.
struct Program {
    source: String,
    ways: Vec<(Vec<String>, f64)>,
}

impl Program {
    fn generated(random: &mut Random) -> Self {
        let chosen: Vec<(usize, usize)> = (0..random.between(3, 7))
            .map(|_| (random.below(WAYS.len()), 2_000 * random.between(1, 11)))
            .collect();
        let all: usize = chosen.iter().map(|(_, turns)| turns).sum();
        let (mut source, mut calls, mut ways) =
            ("if True:\n".to_owned(), String::new(), Vec::new());
        for (number, (way, turns)) in chosen.iter().enumerate() {
            let (definition, call, functions) = WAYS[*way];
            let fill = |text: &str| {
                let text = text.replace("LOOP", LOOP).replace('@', &number.to_string());
                text.replace('#', &turns.to_string())
            };
            source += &(fill(definition) + "\n");
            calls += &format!("        {}\n", fill(call));
            let functions = functions.iter().map(|function| fill(function));
            ways.push((functions.collect(), *turns as f64 / all as f64));
        }
        let rounds = TURNS / all;
        source += &format!("def main():\n    for _ in range({rounds}):\n{calls}main()\n");
        Self { source, ways }
    }
}

/// What samples of one program say.
struct Outcome {
    /// How far the share of a way is from the truth at most.
    worst: f64,
    /// The part of the samples whose functions are those of a way, or begin with them.
    exist: f64,
    torn: f64,
    slower: f64,
}

/// Three programs with `--quick`.
pub(crate) fn measure(options: &Options) -> Result<Table> {
    let mut table = Table::new(
        "Functions of generated Python programs",
        &[
            "Python",
            "tier",
            "worst share",
            "mean of the worst",
            "paths that exist",
            "torn",
            "slower",
        ],
    );
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let tiers = tiers();
    let programs = if options.quick { 3 } else { PROGRAMS };
    for python in interpreters() {
        for &tier in &tiers {
            let outcomes = (0..programs).map(|seed| {
                let program = Program::generated(&mut Random::new(seed));
                let file = folder.path().join("generated.py");
                std::fs::write(&file, &program.source).map_err(|error| error.to_string())?;
                outcome(&python, &file, tier, &program)
            });
            let outcomes = outcomes.collect::<Result<Vec<Outcome>>>()?;
            let mean = |of: fn(&Outcome) -> f64| {
                outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
            };
            let worst = outcomes.iter().map(|one| one.worst).fold(0.0, f64::max);
            table.row([
                python.display().to_string(),
                tier.name().to_owned(),
                format!("{:.1} points", 100.0 * worst),
                format!("{:.1} points", 100.0 * mean(|one| one.worst)),
                format!("{:.1} %", 100.0 * mean(|one| one.exist)),
                format!("{:.2} %", 100.0 * mean(|one| one.torn)),
                format!("{:.2}x", mean(|one| one.slower)),
            ]);
        }
    }
    table.note(
        "Goal: shares within 3 points of the turns that were counted, 95 % of the paths exist, less than 1 % is \
         torn, at most 1.3x slower. A sample in each 0.997 ms.",
    );
    Ok(table)
}

fn interpreters() -> Vec<PathBuf> {
    let asked = ["-c", "import sys; print(sys.executable)"];
    let more = std::env::var("FATHOM_BENCH_PYTHON").unwrap_or_default();
    let names = NAMES
        .into_iter()
        .chain(more.split(':').filter(|name| !name.is_empty()));
    let found = names.filter_map(|name| {
        // Of several that a version manager has, it runs the one that is asked for.
        let version = name.trim_start_matches("python");
        let mut command = Command::new(name);
        let output = command
            .args(asked)
            .env("PYENV_VERSION", version)
            .output()
            .ok()?;
        let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        path.is_file().then_some(path)
    });
    found.collect()
}

fn outcome(python: &Path, file: &Path, tier: Tier, program: &Program) -> Result<Outcome> {
    let command = silent([python, file]);
    let (seen, stacks) = sampled(&command, tier)?;
    // From outside, which costs the program nothing.
    let untraced = trace(&command, Tier::Sample, &TraceOptions::default());
    let untraced = untraced.map_err(|error| error.to_string())?;
    let cpu = |trace: &Trace| trace.accounts.user_ns as f64 + trace.accounts.system_ns as f64;
    let file = file.to_string_lossy();
    let (mut by_way, mut all, mut exist) = (HashMap::new(), 0.0, 0.0);
    let mut others: HashMap<Vec<String>, f64> = HashMap::new();
    // Without any function it is the interpreter's start, its end, or `main` between two ways.
    for (path, ns) in paths(&stacks, &file).filter(|(path, _)| !path.is_empty()) {
        all += ns;
        let mut ways = program.ways.iter();
        if let Some(way) = ways.position(|(functions, _)| functions.ends_with(&path)) {
            exist += ns;
            *by_way.entry(way).or_insert(0.0) += ns;
        } else {
            *others.entry(path).or_insert(0.0) += ns;
        }
    }
    let most = others.iter().max_by(|one, other| one.1.total_cmp(other.1));
    if let Some((path, ns)) = most.filter(|_| exist < EXISTS * all) {
        let share = 100.0 * ns / all;
        eprintln!(
            "{}: {share:.1} % in {path:?}, which is no path of the program",
            python.display()
        );
    }
    let off = |(number, (_, truth)): (usize, &(Vec<String>, f64))| {
        (by_way.get(&number).copied().unwrap_or(0.0) / f64::max(all, 1.0) - truth).abs()
    };
    Ok(Outcome {
        worst: program.ways.iter().enumerate().map(off).fold(0.0, f64::max),
        exist: exist / f64::max(all, 1.0),
        torn: stacks.torn as f64 / (stacks.python + stacks.torn).max(1) as f64,
        slower: cpu(&seen) / cpu(&untraced),
    })
}

/// The functions of the file below `main` on each stack of own code, innermost first, and their time.
fn paths<'s>(stacks: &'s Stacks, file: &'s str) -> impl Iterator<Item = (Vec<String>, f64)> + 's {
    let own = stacks
        .rows
        .iter()
        .filter(|row| row.activity == Activity::OwnCode);
    own.map(move |row| {
        let is_its = |frame: &&Frame| {
            let source = frame.source_file.as_deref();
            source == Some(file) || source == Some("<string>")
        };
        let frames = row.node.into_iter().flat_map(|node| stacks.tree.path(node));
        let names = frames
            .filter(is_its)
            .filter_map(|frame| frame.function.as_deref());
        let mut names: Vec<String> = names.map(|name| name.replace(".<locals>", "")).collect();
        names.retain(|name| name != "<module>");
        names.pop_if(|name| name == "main");
        (names, row.ns as f64)
    })
}
