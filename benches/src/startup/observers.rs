//! Measures how much observation adds to a start: Fathom's kernel tier, perf and strace on the same program.

use std::path::Path;
use std::process::{Command, Stdio};

use fathom_model::StartupPhase;

use super::{ENVIRONMENT, session};
use crate::Result;
use crate::find::in_path;
use crate::hellos::Hello;
use crate::options::Options;
use crate::table::{Table, percent, ratio, us};
use crate::tools::{Tools, median};

/// Number of runs under perf, and also under strace.
const BY_OTHERS: usize = 20;

/// Measures the time from the end of execve to the call of write, as seen by three observers.
///
/// # Errors
/// If Fathom fails; for a missing observer, the row has no numbers.
pub(super) fn measure(tools: &Tools, options: &Options, hello: &Hello) -> Result<Table> {
    let runs = options.scaled(BY_OTHERS).max(5);
    let program = hello.command.trim_matches('\'').to_string();
    let traced = runs.to_string();
    let record = session(tools, &["-r", "20", "--traced", &traced], &[&hello.command])?;
    let (mut by_perf, mut by_strace) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        by_perf.extend(perf(tools, Path::new(&program)));
        by_strace.extend(strace(tools, Path::new(&program)));
    }
    let fathom = record.traces.first().map(|trace| {
        let between = [
            StartupPhase::Loader,
            StartupPhase::RuntimeAndMain,
            StartupPhase::LoaderToMain,
        ];
        let phases = trace.phases.iter().filter(|p| between.contains(&p.phase));
        phases.map(|phase| phase.ns).sum::<u64>() as f64 / 1e9
    });
    let slowdown = record.traces.first().and_then(|trace| trace.slowdown);
    let headers = [
        "observer",
        "execve's end to write",
        "/ Fathom's kernel tier",
    ];
    let mut table = Table::new("Startup: what observing adds (C hello)", &headers);
    let rows = [
        ("Fathom, kernel tier", fathom.filter(|s| *s > 0.0)),
        ("perf record, two tracepoints", some_median(&by_perf)),
        ("strace -f -ttt", some_median(&by_strace)),
    ];
    for (name, seconds) in rows {
        let against = seconds.zip(fathom).map(|(a, b)| ratio(a / b));
        table.row([
            name.to_string(),
            seconds.map_or("not found, or not allowed".to_string(), us),
            against.unwrap_or_default(),
        ]);
    }
    if let Some(slowdown) = slowdown {
        table.note(format!(
            "Fathom's own kernel tier took {} of the untraced time to the first byte.",
            percent(slowdown)
        ));
    }
    table.note("Medians. perf: sys_exit_execve and sys_enter_write. strace: all calls of the program, as published start-up figures were made.");
    Ok(table)
}

fn some_median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median(values))
}

/// Measures the time by `perf record`, in seconds.
fn perf(tools: &Tools, program: &Path) -> Option<f64> {
    let perf = in_path("perf")?;
    let data = tools.file("perf.data");
    let events = "syscalls:sys_exit_execve,syscalls:sys_enter_write";
    let recorded = Command::new(&perf)
        .args(["record", "-q", "-e", events, "-o"])
        .arg(&data)
        .arg("--")
        .arg(program)
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    if !recorded.success() {
        return None;
    }
    let output = Command::new(&perf)
        .args(["script", "-F", "time,event", "--ns", "-i"])
        .arg(&data)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    perf_interval(&String::from_utf8_lossy(&output.stdout))
}

/// Returns the time from the last successful execve before the first write to that write, in seconds.
fn perf_interval(script: &str) -> Option<f64> {
    let mut executed = None;
    for line in script.lines() {
        let (time, event) = line.trim().split_once(": ")?;
        let time: f64 = time.trim().parse().ok()?;
        if event.contains("sys_exit_execve") {
            executed = Some(time);
        } else if event.contains("sys_enter_write") {
            return Some(time - executed?);
        }
    }
    None
}

/// Measures the time by `strace -f -ttt -T`, in seconds.
fn strace(tools: &Tools, program: &Path) -> Option<f64> {
    let log = tools.file("strace.log");
    let status = Command::new(in_path("strace")?)
        .args(["-f", "-ttt", "-T", "-o"])
        .arg(&log)
        .arg(program)
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    if !status.success() {
        return None;
    }
    strace_interval(&std::fs::read_to_string(log).ok()?)
}

/// Parses lines of the form `PID TIME call(…) = result <TIME TAKEN>`.
fn strace_interval(log: &str) -> Option<f64> {
    let mut executed = None;
    for line in log.lines() {
        let time = |line: &str| line.split_whitespace().nth(1)?.parse::<f64>().ok();
        if line.contains(" execve(") {
            let took = line.rsplit_once('<')?.1.trim_end_matches('>');
            executed = Some(time(line)? + took.parse::<f64>().ok()?);
        } else if line.contains(" write(1,") {
            return Some(time(line)? - executed?);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_from_both_logs() {
        let script = "  100.000000100: syscalls:sys_exit_execve: \n  100.000450100: syscalls:sys_enter_write: \n";
        assert!((perf_interval(script).unwrap() - 450e-6).abs() < 1e-9);
        let log = "7 1.000100 execve(\"./a\", [\"./a\"], 0x7 /* 9 vars */) = 0 <0.000200>\n7 1.000400 brk(NULL) = 0x1 <0.000010>\n7 1.002300 write(1, \"x\", 1) = 1 <0.000010>\n";
        assert!((strace_interval(log).unwrap() - 0.002).abs() < 1e-9);
        assert_eq!(strace_interval("nonsense"), None);
    }
}
