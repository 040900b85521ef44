//! Measures whether the account of `fathom why` shows where the time really went.
//!
//! `known` spends known times on known things and writes down how long each took, by the clocks of the thread
//! that did it, during the same run that is observed. The table compares this with Fathom's account.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::compile::compile;
use crate::options::Options;
use crate::table::{Table, percent};
use crate::tools::Tools;

/// Requirement: each part differs by at most this share of the wall time.
const ASKED: f64 = 0.02;
/// Interval at which the partner at the other end of a slow pipe reads or writes.
const PACE: Duration = Duration::from_millis(5);
/// Size of the file to read, large enough that a device's own cache can't hold all of it.
const SCRATCH_BYTES: u64 = 256 << 20;

/// The scenarios: a name, and the steps of `known` with their durations in milliseconds.
const SCENARIOS: [(&str, &str); 10] = [
    ("one thread", "spin=300 sleep=300 kernel=300"),
    ("page faults", "spin=200 touch=400"),
    ("many cheap calls", "mix=1000"),
    ("slow pipes", "input=400 spin=200 output=400"),
    ("disk", "disk=500 spin=300"),
    ("a lock", "lock=500 spin=300"),
    ("two threads", "pair=600 sleep=200"),
    ("a child", "spin=200 child=600"),
    ("a pipeline", "pipeline=500 sleep=200"),
    (
        "all of it",
        "spin=200 sleep=200 input=200 output=200 kernel=200 lock=200 pair=200 child=200",
    ),
];

/// Number of untraced runs; an odd number.
const RUNS: &str = "9";

/// Nanoseconds by part.
pub(crate) type Parts = BTreeMap<String, f64>;

/// Runs each scenario and compares the results.
///
/// # Errors
/// If a program can't be built or run.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let folder = tools.scratch_folder();
    let known = compile("subjects/known.c", &["-pthread"], folder)?;
    let scratch = scratch_file(folder)?;
    let mut table = Table::new(
        "Account: parts of the wall time, the truth and what fathom why reports",
        &[
            "scenario",
            "part",
            "truth",
            "Fathom",
            "difference / wall",
            "result",
        ],
    );
    for (name, steps) in SCENARIOS {
        let steps = if options.quick {
            shorter(steps)
        } else {
            steps.to_string()
        };
        let (truth, reported, wall_ns) = observe(tools, &known, &scratch, &steps)?;
        for part in truth
            .keys()
            .chain(reported.keys().filter(|part| !truth.contains_key(*part)))
        {
            let of = |parts: &Parts| parts.get(part).copied().unwrap_or(0.0);
            let difference = (of(&reported) - of(&truth)) / wall_ns;
            // A part below a thousandth on both sides is omitted.
            if of(&reported).max(of(&truth)) < 0.001 * wall_ns {
                continue;
            }
            table.row([
                name.to_string(),
                part.replace('_', " "),
                ms(of(&truth)),
                ms(of(&reported)),
                percent(difference),
                crate::table::result(difference.abs() <= ASKED),
            ]);
        }
    }
    table.note("Truth: CPU time by the thread's clock, time in the run queue by /proc/thread-self/schedstat, the wait by what is left of the monotonic clock; means of the three of nine untraced runs whose length is in the middle: it is the account of the median wall time.");
    table.note("'a pipeline', 'a child' and 'two threads': the truth is that of whoever the main thread waited for. 'kernel' is all parts of the kernel but page faults.");
    table.note(
        "Start and end of the program are in Fathom's account and not in the truth: 2 to 5 ms.",
    );
    Ok(table)
}

pub(crate) fn ms(ns: f64) -> String {
    format!("{:.1} ms", ns / 1e6)
}

/// Returns the steps with a fifth of their durations.
pub(crate) fn shorter(steps: &str) -> String {
    let step = |step: &str| match step.split_once('=') {
        Some((name, ms)) => format!("{name}={}", ms.parse::<u32>().unwrap_or(100) / 5),
        None => step.to_string(),
    };
    steps.split(' ').map(step).collect::<Vec<_>>().join(" ")
}

/// Creates a file that is read without the page cache.
pub(crate) fn scratch_file(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("known.data");
    if std::fs::metadata(&path).is_ok_and(|file| file.len() == SCRATCH_BYTES) {
        return Ok(path);
    }
    let failed = |error| format!("can't write {}: {error}", path.display());
    let mut file = File::create(&path).map_err(failed)?;
    // The content is not zeros, because a hypervisor may not store those.
    let block: Vec<u8> = (0..1u32 << 18)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    for _ in 0..SCRATCH_BYTES / block.len() as u64 {
        file.write_all(&block).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    Ok(path)
}

/// Returns the known parts of the untraced runs, Fathom's report on these runs, and their median wall time in
/// nanoseconds.
fn observe(
    tools: &Tools,
    known: &Path,
    scratch: &Path,
    steps: &str,
) -> Result<(Parts, Parts, f64)> {
    let folder = tools.scratch_folder();
    let truth = folder.join("known.truth");
    let _ = std::fs::remove_file(&truth);
    let _ = std::fs::remove_file(folder.join("known.truth.rounds"));
    let (input, output) = (folder.join("known.stdin"), folder.join("known.stdout"));
    let partners = [Partner::new(&input, feed)?, Partner::new(&output, take)?];
    let run = Command::new(&tools.fathom)
        .args(["why", "--runs", RUNS, "--json", "-", "--input"])
        .arg(&input)
        .arg("--output")
        .arg(&output)
        .arg("--")
        .arg(known)
        .arg(&truth)
        .arg(scratch)
        .args(steps.split(' '))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    partners.into_iter().for_each(Partner::end);
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr);
        return Err(format!("fathom why failed on {steps}: {errors}"));
    }
    let reported: Value = serde_json::from_slice(&run.stdout).map_err(|error| error.to_string())?;
    let lines = std::fs::read_to_string(&truth).map_err(|error| format!("known: {error}"))?;
    let truths: Vec<Value> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| format!("known: {error}"))?;
    // Each run adds a line: the warm-up, the timed runs, the observed run.
    let runs: usize = RUNS.parse().unwrap_or(1);
    let timed: Vec<Parts> = truths
        .iter()
        .rev()
        .skip(1)
        .take(runs)
        .map(|truth| parts_of_truth(&truth["path"]))
        .collect();
    let wall = reported["account"]["wall_ns"].as_f64().unwrap_or(f64::NAN);
    Ok((middling(timed), reported_parts(&reported["account"]), wall))
}

/// Returns the mean of each part over the three runs whose lengths are closest to the median. The medians of
/// each part would not add up to a run.
pub(crate) fn middling(mut runs: Vec<Parts>) -> Parts {
    let ns = |run: &Parts| run.values().sum::<f64>();
    runs.sort_by(|a, b| ns(a).total_cmp(&ns(b)));
    let from = (runs.len() / 2).saturating_sub(1);
    let middle = &runs[from.min(runs.len())..(from + 3).min(runs.len())];
    let names = middle.first().into_iter().flat_map(BTreeMap::keys);
    let of = |name: &String| middle.iter().map(|run| run[name]).sum::<f64>() / middle.len() as f64;
    names.map(|name| (name.clone(), of(name))).collect()
}

pub(crate) fn parts_of_truth(truth: &Value) -> Parts {
    let parts = truth.as_object().into_iter().flatten();
    parts
        .map(|(name, ns)| (name.clone(), ns.as_f64().unwrap_or(0.0)))
        .collect()
}

/// Returns the known part that corresponds to a category; the known parts don't distinguish kinds of kernel
/// time.
pub(crate) fn of_truth(category: &str) -> &str {
    match category.starts_with("kernel") {
        true => "kernel",
        false => category,
    }
}

/// Returns the account by the known parts.
fn reported_parts(account: &Value) -> Parts {
    let mut parts = Parts::new();
    for part in account["parts"].as_array().into_iter().flatten() {
        let name = of_truth(part["category"].as_str().unwrap_or_default());
        *parts.entry(name.to_string()).or_default() += part["ns"].as_f64().unwrap_or(0.0);
    }
    parts
}

/// Provides a named pipe, and serves each process that opens it.
struct Partner {
    path: PathBuf,
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

type Serve = fn(&Path, &AtomicBool) -> bool;

impl Partner {
    fn new(path: &Path, serve: Serve) -> Result<Partner> {
        make_pipe(path)?;
        let over = Arc::new(AtomicBool::new(false));
        let (own, until) = (path.to_path_buf(), Arc::clone(&over));
        let thread = std::thread::spawn(move || while serve(&own, &until) {});
        let path = path.to_path_buf();
        Ok(Partner { path, over, thread })
    }

    /// Wakes the server, which waits for a process to open the pipe, and removes the pipe.
    fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        let both_ends = OpenOptions::new().read(true).write(true).open(&self.path);
        let _ = self.thread.join();
        drop(both_ends);
        let _ = std::fs::remove_file(&self.path);
    }
}

fn make_pipe(path: &Path) -> Result<()> {
    let _ = std::fs::remove_file(path);
    let status = Command::new("mkfifo").arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("can't make the named pipe {}", path.display())),
    }
}

/// Replaces a pipe that was just opened with a new one. The next process gets a separate pipe; otherwise the
/// first would not see its end. Returns whether the pipe was replaced, which it isn't once all scenarios are
/// over.
fn replace(path: &Path, over: &AtomicBool) -> bool {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".fresh");
    let fresh = PathBuf::from(fresh);
    !over.load(Ordering::SeqCst)
        && make_pipe(&fresh).is_ok()
        && std::fs::rename(&fresh, path).is_ok()
}

/// Writes a byte per interval until there is no reader.
fn feed(path: &Path, over: &AtomicBool) -> bool {
    if over.load(Ordering::SeqCst) {
        return false;
    }
    let Ok(mut pipe) = OpenOptions::new().write(true).open(path) else {
        return false;
    };
    if !replace(path, over) {
        return false;
    }
    std::thread::spawn(move || {
        while pipe.write_all(b"x").is_ok() {
            std::thread::sleep(PACE);
        }
    });
    true
}

/// Reads a block per interval until there is no writer.
fn take(path: &Path, over: &AtomicBool) -> bool {
    if over.load(Ordering::SeqCst) {
        return false;
    }
    let Ok(mut pipe) = File::open(path) else {
        return false;
    };
    if !replace(path, over) {
        return false;
    }
    std::thread::spawn(move || {
        let mut block = vec![0; 65_536];
        while pipe.read(&mut block).is_ok_and(|bytes| bytes > 0) {
            std::thread::sleep(PACE);
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_kernel_time_are_one_part() {
        let account = serde_json::json!({"parts": [
            {"category": "kernel_io", "ns": 5}, {"category": "kernel_files", "ns": 2},
            {"category": "page_faults", "ns": 3},
        ]});
        let parts = reported_parts(&account);
        assert_eq!(parts["kernel"], 7.0);
        assert_eq!(parts["page_faults"], 3.0);
    }

    #[test]
    fn a_quick_run_takes_a_fifth() {
        assert_eq!(shorter("spin=300 lock=500"), "spin=60 lock=100");
    }
}
