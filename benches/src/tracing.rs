//! How much slower does each tier make a program, beside strace and perf trace in the same run?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::find::{build_trace_example, in_path, version};
use crate::options::Options;
use crate::table::Table;
use crate::tools::Tools;

/// Runs of each cell; the least counts.
const ROUNDS: usize = 3;
/// Calls of the first subject: `dd` reads and writes each byte.
const MANY_CALLS: f64 = 5e6;

/// A tool that watches; the first watches nothing.
const TOOLS: [&str; 7] = [
    "none",
    "kernel",
    "perf",
    "sample",
    "stops",
    "strace",
    "perf trace",
];
/// Those that stop the target take minutes on five million calls.
const SLOW: [&str; 3] = ["stops", "strace", "perf trace"];

struct Subject {
    name: &'static str,
    /// For the shell. `{work}` is a folder with a file of 50 MB.
    script: &'static str,
    asked: &'static str,
    /// Too long for the slow tools.
    long: bool,
}

const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "5 M one-byte calls (dd)",
        script: "dd if=/dev/zero of=/dev/null bs=1 count=2500000 2>/dev/null",
        asked: "kernel at most 0.5 µs a call",
        long: true,
    },
    Subject {
        name: "100 k one-byte calls (dd)",
        script: "dd if=/dev/zero of=/dev/null bs=1 count=50000 2>/dev/null",
        asked: "",
        long: false,
    },
    Subject {
        name: "gzip -1 of 50 MB",
        script: "gzip -1 -c '{work}/tracing.data' >/dev/null",
        asked: "kernel at most 1.1x, sample at most 1.02x",
        long: false,
    },
    Subject {
        name: "python3 start",
        script: "'{python}' -c 'import json, argparse, subprocess'",
        asked: "kernel at most 1.1x, sample at most 1.02x",
        long: false,
    },
    Subject {
        name: "sh, 100 children",
        script: "sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done'",
        asked: "",
        long: false,
    },
    Subject {
        name: "pipe, two sides that take turns",
        script: "dd if=/dev/zero bs=64k count=4000 2>/dev/null | dd of=/dev/null bs=64k 2>/dev/null",
        asked: "",
        long: false,
    },
    Subject {
        name: "find /usr",
        script: "find /usr -name nothing-has-this-name",
        asked: "kernel at most 1.5x, sample at most 1.02x",
        long: false,
    },
];

/// Seconds that the subject itself took inside of the tool.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Took {
    wall: f64,
    cpu: f64,
}

/// Runs every subject under every tool.
///
/// # Errors
/// When a tool can't be built, or the untraced subject fails.
pub fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let work = tools.scratch_folder();
    let trace = build_trace_example(&target_of(&tools.fathom)?)?;
    data_file(&work.join("tracing.data"))?;
    let mut table = Table::new(
        "Tracing: how much slower each tool makes a program",
        &[
            "subject",
            "untraced",
            "kernel",
            "perf",
            "sample",
            "stops",
            "strace -c -f",
            "perf trace -s",
            "asked",
        ],
    );
    for subject in &SUBJECTS {
        // What takes minutes proves nothing quickly.
        if options.quick && (subject.long || subject.name.starts_with("find")) {
            continue;
        }
        let script = script(subject, work)?;
        let rounds = if options.quick { 1 } else { ROUNDS };
        let least = least_of(subject, &trace, &script, work, rounds)?;
        row(&mut table, subject, &least);
    }
    for tool in ["strace", "perf"] {
        let found = in_path(tool).and_then(|path| version(&path).or(Some(String::new())));
        if found.is_none() {
            table.note(format!("{tool} is not installed."));
        }
    }
    table.note("Each cell: the least of some interleaved runs of the time that the subject took inside of the tool, wall and CPU, as a ratio to the untraced run. The tool's own start comes on top. CPU time holds what a tool makes the subject's thread do and is steady on a busy machine; wall time is not.");
    Ok(table)
}

fn row(table: &mut Table, subject: &Subject, least: &BTreeMap<&str, Took>) {
    let Some(base) = least.get("none").copied() else {
        return;
    };
    let cell = |tool: &&str| match least.get(tool) {
        Some(took) => format!(
            "{:.2}x (CPU {:.2}x)",
            took.wall / base.wall,
            took.cpu / base.cpu.max(1e-3)
        ),
        None => "-".to_string(),
    };
    let untraced = format!("{:.0} ms (CPU {:.0} ms)", base.wall * 1e3, base.cpu * 1e3);
    let cells = [subject.name.to_string(), untraced].into_iter();
    let all = cells.chain(TOOLS[1..].iter().map(cell));
    table.row(all.chain([subject.asked.to_string()]));
    if subject.long {
        let added = |tool| {
            let took: Option<&Took> = least.get(tool);
            took.map_or("-".to_string(), |took| {
                format!("{:.0} ns", (took.cpu - base.cpu) / MANY_CALLS * 1e9)
            })
        };
        let name = "  added to each call, CPU".to_string();
        let tiers = ["kernel", "perf", "sample"].map(added);
        table.row([name, String::new()].into_iter().chain(tiers));
    }
}

fn least_of(
    subject: &Subject,
    trace: &Path,
    script: &Path,
    work: &Path,
    rounds: usize,
) -> Result<BTreeMap<&'static str, Took>> {
    let mut least: BTreeMap<&str, Took> = BTreeMap::new();
    for _ in 0..rounds {
        for tool in TOOLS {
            if subject.long && SLOW.contains(&tool) {
                continue;
            }
            let Some(took) = run(tool, trace, script, work)? else {
                continue;
            };
            let kept = least.entry(tool).or_insert(took);
            kept.wall = kept.wall.min(took.wall);
            kept.cpu = kept.cpu.min(took.cpu);
        }
    }
    Ok(least)
}

/// One run; `None` for a tool that isn't there or fails.
fn run(tool: &str, trace: &Path, script: &Path, work: &Path) -> Result<Option<Took>> {
    let out = work.join("tracing.out");
    let _ = std::fs::remove_file(&out);
    let unread = work.join("tracing.unread");
    let mut command = match tool {
        "none" => Command::new("bash"),
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
        ("none", Err(error), _) => Err(format!("can't start bash: {error}")),
        ("none", _, None) => Err(format!("{} told no times", script.display())),
        (_, _, took) => Ok(took),
    }
}

fn with(tool: &str, options: &[&str], file: &Path, program: &str) -> Command {
    let mut command = Command::new(tool);
    command.args(options).arg(file).arg(program);
    command
}

/// A script that runs the subject and writes its times to `$OUT`.
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

/// From two readings of the clock, and what bash's `times` says of it and of its children.
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

/// The folder that cargo builds into, of `target/release/fathom`.
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
