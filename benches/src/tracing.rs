//! Measures how much each tier slows down a program, compared with strace and perf trace in the same run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_model::Estimate;

use crate::Result;
use crate::find::{build_trace_example, in_path, version};
use crate::options::Options;
use crate::share::{Rounds, Share};
use crate::table::{Table, result};
use crate::tools::{Tools, median};

/// Maximum number of pairs of an untraced and a watched run, if there is no requirement.
const PAIRS: usize = 11;
/// Maximum number of pairs for tools that stop the subject: their ratios are far from 1.
const SLOW_PAIRS: usize = 3;
/// Maximum number of pairs if there is a requirement. To distinguish an overhead of 2 % from none takes 31
/// pairs of runs that last seconds, or hundreds of pairs of runs that last tens of milliseconds, each of
/// which varies by several percent.
const ASKED_PAIRS: usize = 500;
/// How much more time a cell with a requirement gets than other cells, as a factor.
const ASKED_WEIGHT: f64 = 8.0;
/// Minimum number of pairs for a confidence interval of a ratio.
const FEWEST: usize = 3;
/// Number of calls of the first subject: `dd` reads and writes each byte.
const MANY_CALLS: f64 = 5e6;

/// Used in place of a tool's name for an untraced run.
const UNTRACED: &str = "none";
/// Tools that watch the subject.
const TOOLS: [&str; 6] = ["kernel", "perf", "sample", "ptrace", "strace", "perf trace"];
/// Tools that stop the target, which take minutes for five million calls.
const SLOW: [&str; 3] = ["ptrace", "strace", "perf trace"];

struct Subject {
    name: &'static str,
    /// A shell script. `{work}` is a folder with a file of 50 MB.
    script: &'static str,
    /// Required limits of the slowdown: a tool, and the ratio.
    asked: &'static [(&'static str, f64)],
    /// Whether the subject takes too long for the slow tools.
    long: bool,
}

impl Subject {
    /// Returns the required limit of the slowdown by this tool.
    fn asked_of(&self, tool: &str) -> Option<f64> {
        let asked = self.asked.iter().find(|(asked, _)| *asked == tool);
        asked.map(|(_, limit)| *limit)
    }

    /// Returns the tools under which the subject is run.
    fn tools(&self) -> impl Iterator<Item = &'static str> {
        let too_slow = |tool: &&str| self.long && SLOW.contains(tool);
        TOOLS.into_iter().filter(move |tool| !too_slow(tool))
    }

    fn weight_of(&self, tool: &str) -> f64 {
        self.asked_of(tool).map_or(1.0, |_| ASKED_WEIGHT)
    }
}

const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "5 M one-byte calls (dd)",
        script: "dd if=/dev/zero of=/dev/null bs=1 count=2500000 2>/dev/null",
        asked: &[("sample", 1.02)],
        long: true,
    },
    Subject {
        name: "100 k one-byte calls (dd)",
        script: "dd if=/dev/zero of=/dev/null bs=1 count=50000 2>/dev/null",
        asked: &[],
        long: false,
    },
    Subject {
        name: "gzip -1 of 50 MB",
        script: "gzip -1 -c '{work}/tracing.data' >/dev/null",
        asked: &[("kernel", 1.1), ("sample", 1.02)],
        long: false,
    },
    Subject {
        name: "python3 start",
        script: "'{python}' -c 'import json, argparse, subprocess'",
        asked: &[("kernel", 1.1), ("sample", 1.02)],
        long: false,
    },
    Subject {
        name: "sh, 100 children",
        script: "sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done'",
        asked: &[],
        long: false,
    },
    Subject {
        name: "pipe, two sides that take turns",
        script: "dd if=/dev/zero bs=64k count=4000 2>/dev/null | dd of=/dev/null bs=64k 2>/dev/null",
        asked: &[],
        long: false,
    },
    Subject {
        name: "find /usr",
        script: "find /usr -name nothing-has-this-name",
        asked: &[("kernel", 1.5), ("sample", 1.02)],
        long: false,
    },
];

/// Time that the subject itself took while the tool watched it, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Took {
    wall: f64,
    cpu: f64,
}

/// The runs of one subject under one tool, each paired with an untraced run.
#[derive(Debug, Clone, Default, PartialEq)]
struct Pairs {
    untraced: Vec<Took>,
    watched: Vec<Took>,
}

impl Pairs {
    /// Returns the ratio of the watched to the untraced runs, with its 95 % interval; `None` if there is no
    /// pair.
    fn ratio(&self, of: impl Fn(&Took) -> f64) -> Option<Estimate> {
        let values = |runs: &[Took]| runs.iter().map(&of).collect::<Vec<f64>>();
        let (untraced, watched) = (values(&self.untraced), values(&self.watched));
        Some(fathom_stats::paired_ratio(&untraced, &watched, 0.95)?.ratio)
    }

    /// Returns the median of the time that watching adds, in seconds.
    fn added(&self, of: impl Fn(&Took) -> f64) -> f64 {
        let pairs = self.untraced.iter().zip(&self.watched);
        let added: Vec<f64> = pairs
            .map(|(untraced, watched)| of(watched) - of(untraced))
            .collect();
        median(&added)
    }
}

/// Runs every subject under every tool.
///
/// # Errors
/// If a tool can't be built, or the untraced subject fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let work = tools.scratch_folder();
    let trace = build_trace_example(&target_of(&tools.fathom)?)?;
    data_file(&work.join("tracing.data"))?;
    let mut table = Table::new(
        "Tracing: how much slower each tool makes a program",
        &[
            "subject", "untraced", "tool", "pairs", "wall", "95 %", "CPU", "asked", "result",
        ],
    );
    // Subjects that take minutes are skipped in quick mode.
    let takes_minutes = |subject: &&Subject| subject.long || subject.name.starts_with("find");
    let subjects: Vec<&Subject> = SUBJECTS
        .iter()
        .filter(|subject| !(options.quick && takes_minutes(subject)))
        .collect();
    let weights = subjects
        .iter()
        .flat_map(|subject| subject.tools().map(|tool| subject.weight_of(tool)));
    let mut left: f64 = weights.sum();
    for subject in subjects {
        let script = script(subject, work)?;
        for tool in subject.tools() {
            let (most, fewest) = match (subject.asked_of(tool), SLOW.contains(&tool)) {
                _ if options.quick => (1, 1),
                (Some(_), _) => (ASKED_PAIRS, FEWEST),
                (None, true) => (SLOW_PAIRS, 1),
                (None, false) => (PAIRS, FEWEST),
            };
            let own = subject.weight_of(tool);
            let rounds = share.part(own, left).rounds(most, fewest);
            left -= own;
            let pairs = pairs_of(tool, rounds, &trace, &script, work)?;
            row(&mut table, subject, tool, &pairs);
        }
    }
    for tool in ["strace", "perf"] {
        let found = in_path(tool).and_then(|path| version(&path).or(Some(String::new())));
        if found.is_none() {
            table.note(format!("{tool} is not installed."));
        }
    }
    table.note(format!("Ratios of the time that the subject took inside of the tool to that of an untraced run right before or after it, by turns: the Hodges-Lehmann estimate and its interval, of as many pairs as fit into the figure's share of the time: {PAIRS} at the most, {SLOW_PAIRS} of the tools that stop the subject, {ASKED_PAIRS} where a figure is asked. Reached: the estimate is within what was asked; not reached: the whole interval is beyond it. The tool's own start comes on top. CPU time holds what a tool makes the subject's thread do."));
    table.note("strace: -c -f; perf trace: -s.");
    Ok(table)
}

fn row(table: &mut Table, subject: &Subject, tool: &str, pairs: &Pairs) {
    let (Some(wall), Some(cpu)) = (pairs.ratio(|took| took.wall), pairs.ratio(|took| took.cpu))
    else {
        return;
    };
    let walls: Vec<f64> = pairs.untraced.iter().map(|took| took.wall).collect();
    let untraced = median(&walls);
    let asked = subject.asked_of(tool);
    let start = |tool: String| {
        [
            subject.name.to_string(),
            format!("{:.0} ms", untraced * 1e3),
            tool,
        ]
    };
    table.row(start(tool.to_string()).into_iter().chain([
        pairs.watched.len().to_string(),
        format!("{:.3}x", wall.value),
        format!("{:.3} to {:.3}", wall.low, wall.high),
        format!("{:.3}x", cpu.value),
        asked.map_or(String::new(), |limit| format!("{limit}x")),
        asked.map_or(String::new(), |limit| verdict(&wall, limit)),
    ]));
    if subject.long {
        let each = pairs.added(|took| took.cpu) / MANY_CALLS;
        let (asked, reached) = match tool {
            "kernel" => ("500 ns", result(each <= 500e-9)),
            _ => ("", String::new()),
        };
        let cells = [
            String::new(),
            String::new(),
            String::new(),
            format!("{:.0} ns a call", each * 1e9),
        ];
        let cells = start(format!("{tool}, a call")).into_iter().chain(cells);
        table.row(cells.chain([asked.to_string(), reached]));
    }
}

/// Returns whether a ratio is within the required limit, in words.
pub(crate) fn verdict(ratio: &Estimate, limit: f64) -> String {
    match ratio.value <= limit || ratio.low > limit {
        true => result(ratio.value <= limit),
        false => "undecided".to_string(),
    }
}

/// Runs the pairs of these rounds, which begin alternately with the untraced and the watched run.
fn pairs_of(tool: &str, rounds: Rounds, trace: &Path, script: &Path, work: &Path) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    for pair in rounds {
        let took = |tool| run(tool, trace, script, work);
        let (untraced, watched) = if pair % 2 == 0 {
            let untraced = took(UNTRACED)?;
            (untraced, took(tool)?)
        } else {
            let watched = took(tool)?;
            (took(UNTRACED)?, watched)
        };
        let (Some(untraced), Some(watched)) = (untraced, watched) else {
            break;
        };
        pairs.untraced.push(untraced);
        pairs.watched.push(watched);
    }
    Ok(pairs)
}

/// Makes one run; returns `None` for a tool that is missing or fails.
fn run(tool: &str, trace: &Path, script: &Path, work: &Path) -> Result<Option<Took>> {
    let out = work.join("tracing.out");
    let _ = std::fs::remove_file(&out);
    let unread = work.join("tracing.unread");
    let mut command = match tool {
        UNTRACED => Command::new("bash"),
        "strace" => with("strace", &["-c", "-f", "-o"], &unread, "bash"),
        "perf trace" => with("perf", &["trace", "-s", "-o"], &unread, "bash"),
        tier => {
            let mut command = Command::new(trace);
            command.args(["--quiet", "--tier", tier, "--", "bash"]);
            command
        }
    };
    let status = command
        .arg(script)
        .env("OUT", &out)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let took = std::fs::read_to_string(&out)
        .ok()
        .and_then(|text| parse(&text));
    match (tool, status, took) {
        (UNTRACED, Err(error), _) => Err(format!("can't start bash: {error}")),
        (UNTRACED, _, None) => Err(format!("{} wrote no times", script.display())),
        (_, _, took) => Ok(took),
    }
}

fn with(tool: &str, options: &[&str], file: &Path, program: &str) -> Command {
    let mut command = Command::new(tool);
    command.args(options).arg(file).arg(program);
    command
}

/// Creates a script that runs the subject and writes its times to `$OUT`.
fn script(subject: &Subject, work: &Path) -> Result<PathBuf> {
    let python = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .map_or(String::from("python3"), |done| {
            String::from_utf8_lossy(&done.stdout).trim().to_string()
        });
    let line = subject
        .script
        .replace("{work}", &work.display().to_string())
        .replace("{python}", &python);
    let text = format!(
        "a=$EPOCHREALTIME; {line}; b=$EPOCHREALTIME\n{{ echo \"$a $b\"; times; }} > \"$OUT\"\n"
    );
    let path = work.join("tracing.sh");
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Parses two clock readings, and the output of bash's `times` for the shell and its children.
fn parse(text: &str) -> Option<Took> {
    let mut lines = text.lines();
    let (from, to) = lines.next()?.split_once(' ')?;
    let seconds = |word: &str| {
        let (minutes, rest) = word.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + rest.strip_suffix('s')?.parse::<f64>().ok()?)
    };
    let children = lines.nth(1)?;
    let cpu: Option<Vec<f64>> = children.split_whitespace().map(seconds).collect();
    Some(Took {
        wall: to.trim().parse::<f64>().ok()? - from.parse::<f64>().ok()?,
        cpu: cpu?.iter().sum(),
    })
}

fn data_file(path: &Path) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|file| file.len() == 50_000_000) {
        return Ok(());
    }
    let mut state = 1u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .take(50_000_000)
    .collect();
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns cargo's target folder: the one that contains `fathom`, or else the one that contains this program.
fn target_of(fathom: &Path) -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = fathom
        .ancestors()
        .nth(2)
        .filter(|folder| folder.join("release").is_dir());
    let target = target.or(own.ancestors().nth(2));
    target
        .map(Path::to_path_buf)
        .ok_or("can't tell where target/ is".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_watching_adds_comes_from_runs_beside_each_other() {
        let took = |wall: f64| Took { wall, cpu: wall };
        // The machine is half as fast in every other pair.
        let untraced = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0].map(took).to_vec();
        let watched = [1.1, 2.2, 1.1, 2.2, 1.1, 2.2].map(took).to_vec();
        let pairs = Pairs { untraced, watched };
        let wall = pairs.ratio(|took| took.wall).unwrap();
        assert!((wall.value - 1.1).abs() < 1e-9, "{wall:?}");
        let verdicts = [1.2, 1.05].map(|limit| verdict(&wall, limit));
        assert_eq!(verdicts, ["reached", "not reached"]);
        let wide = Estimate { low: 1.0, ..wall };
        assert_eq!(verdict(&wide, 1.05), "undecided");
        assert!(Pairs::default().ratio(|took| took.wall).is_none());
    }

    #[test]
    fn the_times_of_the_children_are_the_subjects() {
        let text = "10.5 12.75\n0m0.004s 0m0.001s\n1m0.500s 0m0.250s\n";
        assert_eq!(
            parse(text),
            Some(Took {
                wall: 2.25,
                cpu: 60.75
            })
        );
        assert_eq!(parse("1 2\n"), None);
    }
}
