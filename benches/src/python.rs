//! Measures whether Python functions and their callers are the ones that ran, and whether their times are
//! right.
//!
//! Thirty generated programs, each with three to six ways to get to a loop, run with each installed Python.
//! They are sampled as `fathom why` samples short programs. In a run without sampling, a program itself
//! measures how much of its time is spent in each way, by its thread's clock around each call. The number of
//! loop iterations doesn't show this, because an iteration with small numbers costs less, and calls and
//! generators also cost time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fathom_stacks::Frame;
use fathom_trace::{Activity, Stacks, Tier, Trace, TraceCommand, TraceOptions, trace};

use crate::Result;
use crate::options::Options;
use crate::pythons;
use crate::random::Random;
use crate::sampling::{sampled, silent, tiers};
use crate::table::Table;

const PROGRAMS: u64 = 30;
/// Required fraction of sampled paths that exist in the program.
const EXISTS: f64 = 0.95;
/// Number of loop iterations in a program, which take 2 to 4 s. From 2,500 samples, a share of a third is
/// known to within 0.9 points, so hardly any share is off by 3 points by chance; with a third of the
/// iterations, many are.
const TURNS: usize = 120_000_000;
/// The loop, as the body of a function.
const LOOP: &str = "        s = 0\n        for i in range(n): s += i & 3\n";

/// The ways to a loop: the definitions and the call, with `@` for the number of the way and `#` for the
/// number of iterations, and the functions from the innermost to the one below `main`.
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
        // The frame of the compiled text itself isn't listed, because it is usually gone by the time it could
        // be named.
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

/// A program that writes the CPU time of each way to a given file, and the functions of each of its ways.
struct Program {
    source: String,
    ways: Vec<Vec<String>>,
}

impl Program {
    fn generated(random: &mut Random) -> Self {
        let chosen: Vec<(usize, usize)> = (0..random.between(3, 7))
            .map(|_| (random.below(WAYS.len()), 2_000 * random.between(1, 11)))
            .collect();
        let all: usize = chosen.iter().map(|(_, turns)| turns).sum();
        let mut source =
            "import sys\nfrom time import thread_time_ns as clock\nif True:\n".to_owned();
        let (mut calls, mut ways) = (String::new(), Vec::new());
        for (number, (way, turns)) in chosen.iter().enumerate() {
            let (definition, call, functions) = WAYS[*way];
            let fill = |text: &str| {
                let text = text.replace("LOOP", LOOP).replace('@', &number.to_string());
                text.replace('#', &turns.to_string())
            };
            source += &(fill(definition) + "\n");
            calls += &format!(
                "        began = clock()\n        {}\n        spent[{number}] += clock() - began\n",
                fill(call)
            );
            ways.push(functions.iter().map(|function| fill(function)).collect());
        }
        let (rounds, number) = (TURNS / all, chosen.len());
        source += &format!(
            "def main():\n    spent = [0] * {number}\n    for _ in range({rounds}):\n{calls}    \
             open(sys.argv[1], 'w').write(' '.join(map(str, spent)))\nmain()\n"
        );
        Self { source, ways }
    }
}

/// The result of a run without sampling.
struct Known {
    /// The fraction of the time spent in each way.
    parts: Vec<f64>,
    cpu_ns: f64,
}

/// The result of sampling one program.
struct Outcome {
    /// Largest deviation of a way's share from the known one.
    worst: f64,
    /// The largest of the standard deviations that its shares have by chance.
    chance: f64,
    /// The fraction of the samples whose functions are those of a way, or begin with them.
    exist: f64,
    torn: f64,
    slower: f64,
}

/// Measures the programs; with `--quick`, only three of them.
pub(crate) fn measure(options: &Options) -> Result<Table> {
    let mut table = Table::new(
        "Functions of generated Python programs",
        &[
            "Python",
            "tier",
            "worst share",
            "mean of the worst",
            "by chance",
            "paths that exist",
            "torn",
            "slower",
        ],
    );
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let tiers = tiers();
    let programs = if options.quick { 3 } else { PROGRAMS };
    let more = std::env::var("FATHOM_BENCH_PYTHON").unwrap_or_default();
    for python in pythons::found(more.split(':').filter(|name| !name.is_empty())) {
        let mut of_tiers: Vec<Vec<Outcome>> = tiers.iter().map(|_| Vec::new()).collect();
        for seed in 0..programs {
            let program = Program::generated(&mut Random::new(seed));
            let run = Run::prepared(&python, folder.path(), &program)?;
            let known = run.known()?;
            for (outcomes, tier) in of_tiers.iter_mut().zip(&tiers) {
                outcomes.push(run.outcome(*tier, &program, &known)?);
            }
        }
        for (outcomes, tier) in of_tiers.iter().zip(&tiers) {
            let mean = |of: fn(&Outcome) -> f64| {
                outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
            };
            let worst = outcomes.iter().map(|one| one.worst).fold(0.0, f64::max);
            table.row([
                python.display().to_string(),
                tier.name().to_owned(),
                format!("{:.1} points", 100.0 * worst),
                format!("{:.1} points", 100.0 * mean(|one| one.worst)),
                format!("{:.1} points", 100.0 * mean(|one| one.chance)),
                format!("{:.1} %", 100.0 * mean(|one| one.exist)),
                format!("{:.2} %", 100.0 * mean(|one| one.torn)),
                format!("{:.2}x", mean(|one| one.slower)),
            ]);
        }
    }
    table.note(
        "Goal: shares within 3 points of those that the programs measured themselves in a run without samples, 95 % of \
         the paths exist, less than 1 % is torn, at most 1.3x slower. A sample in each 0.997 ms; 'by chance' is one \
         standard deviation of a share of that many samples.",
    );
    Ok(table)
}

/// How one program is run.
struct Run {
    command: TraceCommand,
    /// The path of the program's file, as it appears in stacks.
    file: String,
    /// The file to which the program writes its own times.
    spent: PathBuf,
    python: String,
}

impl Run {
    fn prepared(python: &Path, folder: &Path, program: &Program) -> Result<Self> {
        let (file, spent) = (folder.join("generated.py"), folder.join("spent"));
        std::fs::write(&file, &program.source).map_err(|error| error.to_string())?;
        Ok(Self {
            command: silent([python, &file, &spent]),
            file: file.to_string_lossy().into_owned(),
            spent,
            python: python.display().to_string(),
        })
    }

    /// Runs the program without sampling; being watched from outside costs it nothing.
    fn known(&self) -> Result<Known> {
        let seen = trace(&self.command, Tier::Sample, &TraceOptions::default());
        let seen = seen.map_err(|error| error.to_string())?;
        let spent = std::fs::read_to_string(&self.spent);
        let spent = spent.map_err(|error| format!("{}: {error}", self.python))?;
        let spent: Vec<f64> = spent
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let all: f64 = spent.iter().sum();
        Ok(Known {
            parts: spent.iter().map(|ns| ns / all).collect(),
            cpu_ns: cpu_ns(&seen),
        })
    }

    fn outcome(&self, tier: Tier, program: &Program, known: &Known) -> Result<Outcome> {
        let (seen, stacks) = sampled(&self.command, tier)?;
        let (mut by_way, mut all, mut exist) = (HashMap::new(), 0.0, 0.0);
        let mut others: HashMap<Vec<String>, f64> = HashMap::new();
        // A stack without a function is from the interpreter's start or end, or from `main` between two ways.
        for (path, ns) in paths(&stacks, &self.file).filter(|(path, _)| !path.is_empty()) {
            all += ns;
            let mut ways = program.ways.iter();
            if let Some(way) = ways.position(|functions| functions.ends_with(&path)) {
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
                self.python
            );
        }
        let off = |(number, part): (usize, &f64)| {
            (by_way.get(&number).copied().unwrap_or(0.0) / f64::max(all, 1.0) - part).abs()
        };
        let deviation = |part: &f64| (part * (1.0 - part) / stacks.python.max(1) as f64).sqrt();
        Ok(Outcome {
            worst: known.parts.iter().enumerate().map(off).fold(0.0, f64::max),
            chance: known.parts.iter().map(deviation).fold(0.0, f64::max),
            exist: exist / f64::max(all, 1.0),
            torn: stacks.torn as f64 / (stacks.python + stacks.torn).max(1) as f64,
            slower: cpu_ns(&seen) / known.cpu_ns,
        })
    }
}

fn cpu_ns(trace: &Trace) -> f64 {
    trace.accounts.user_ns as f64 + trace.accounts.system_ns as f64
}

/// Returns the functions of the file below `main` for each stack of own code, innermost first, and the time
/// of the stack.
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
