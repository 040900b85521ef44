//! Measures whether the timestamp of listening agrees with the kernel's own tracepoint.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{serve, tracing};
use crate::Result;
use crate::options::Options;
use crate::table::{Table, result, us};
use crate::tools::{Tools, median};

/// Largest allowed difference, in seconds.
const ASKED: f64 = 200e-6;
/// The name of the server's program, which distinguishes it from other servers on this machine.
const SERVER: &str = "http";
const LAUNCHES: usize = 100;
const EVENTS: [&str; 2] = ["syscalls/sys_enter_execve", "syscalls/sys_exit_listen"];

/// Measures the same launches in both ways.
///
/// # Errors
/// If a tool fails.
pub(super) fn measure(tools: &Tools, options: &Options, program: &Path) -> Result<Table> {
    let mut table = Table::new(
        "From the call of execve to listening, as Fathom stamps it and as the kernel traces it",
        &[
            "launches",
            "Fathom, median",
            "kernel, median",
            "largest difference",
            "asked",
            "result",
        ],
    );
    let Some(folder) = tracing() else {
        table.note(
            "the kernel's tracing can't be used here (root, tracefs): nothing to compare with",
        );
        return Ok(table);
    };
    let launches = if options.quick { 10 } else { LAUNCHES }.to_string();
    let instance = Instance::begin(&folder)?;
    let record = serve(
        tools,
        &[
            "--launches",
            &launches,
            "--rounds",
            "0",
            "--",
            &program.display().to_string(),
            "{port}",
            "fast",
        ],
    )?;
    let traced = instance.end()?;
    let cold = record.servers[0].cold.as_ref().ok_or("no launch")?;
    let mut runs: Vec<_> = cold.runs.iter().collect();
    runs.sort_by_key(|run| run.position);
    let stamped: Vec<f64> = runs
        .iter()
        .filter_map(|run| Some(run.listening_ms? / 1e3))
        .collect();
    if stamped.len() != traced.len() {
        table.note(format!(
            "{} launches, but {} traced: they can't be paired",
            stamped.len(),
            traced.len()
        ));
        return Ok(table);
    }
    let differences = stamped.iter().zip(&traced).map(|(a, b)| (a - b).abs());
    let mut differences: Vec<f64> = differences.collect();
    differences.sort_by(f64::total_cmp);
    let typical = median(&differences);
    let largest = differences.last().copied().unwrap_or(f64::NAN);
    table.row([
        stamped.len().to_string(),
        us(median(&stamped)),
        us(median(&traced)),
        format!("{} (median {})", us(largest), us(typical)),
        "median within 0.2 ms".to_string(),
        result(typical <= ASKED),
    ]);
    Ok(table)
}

/// A separate instance of the kernel's tracing buffer, so that other users of tracing aren't disturbed.
struct Instance(PathBuf);

impl Instance {
    fn begin(folder: &Path) -> Result<Instance> {
        let own = folder.join(format!("instances/fathom-benches-{}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", own.display());
        fs::create_dir(&own).map_err(failed)?;
        let instance = Instance(own.clone());
        fs::write(own.join("trace_clock"), "mono").map_err(failed)?;
        for event in EVENTS {
            fs::write(own.join(format!("events/{event}/enable")), "1").map_err(failed)?;
        }
        Ok(instance)
    }

    /// Returns the seconds from the call of `execve` to the return of `listen`, for each process that called
    /// both, in the order in which they listened.
    fn end(self) -> Result<Vec<f64>> {
        for event in EVENTS {
            let _ = fs::write(self.0.join(format!("events/{event}/enable")), "0");
        }
        let text = fs::read_to_string(self.0.join("trace"));
        let text = text.map_err(|error| format!("{}: {error}", self.0.display()))?;
        Ok(pairs(&text))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn pairs(text: &str) -> Vec<f64> {
    let mut called: HashMap<&str, f64> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        // `   http-123   [000] .....  12.345678: sys_listen -> 0x0`
        let Some((before, event)) = line.split_once(": ") else {
            continue;
        };
        let mut words = before.split_ascii_whitespace();
        let pid = words.next().and_then(|word| word.rsplit_once('-'));
        let at = before
            .split_ascii_whitespace()
            .last()
            .and_then(|word| word.parse::<f64>().ok());
        let (Some((name, pid)), Some(at)) = (pid, at) else {
            continue;
        };
        if event.starts_with("sys_execve(") {
            called.insert(pid, at);
        } else if name == SERVER && event.starts_with("sys_listen -> 0x0") {
            found.extend(called.remove(pid).map(|begin| at - begin));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn calls_of_a_process_are_paired() {
        let text = "# tracer: nop
            fathom-11      [000] .....    10.000100: sys_execve(filename: 7f, argv: 5, envp: 5)
              http-11      [001] .....    10.000900: sys_listen -> 0x0
            fathom-12      [000] .....    10.000100: sys_execve(filename: 7f, argv: 5, envp: 5)
            python3-12     [001] .....    10.100000: sys_listen -> 0x0
";
        let found = super::pairs(text);
        assert_eq!(found.len(), 1);
        assert!((found[0] - 0.0008).abs() < 1e-9);
    }
}
