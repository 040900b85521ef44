//! Runs another tool, and checks whether it had the CPU.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::build::{Built, write_anew};
use super::comparisons::Comparison;
use crate::tools::median;

/// A figure of another tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reported {
    /// The value in the probe's unit.
    pub value: f64,
    /// Whether the ratio of CPU time to wall time was at least 0.9 for each of the tool's threads.
    pub had_cpu: bool,
}

/// The output of the tools in one round, by their command.
#[derive(Default)]
pub(super) struct RoundOutputs(HashMap<&'static [&'static str], Vec<(String, bool)>>);

impl Built {
    /// Returns the tool's figure, from the calls that had the CPU if there are any; `None` if the tool isn't
    /// installed or prints no figure. A tool that prints several figures runs once per round.
    pub(super) fn measure(
        &self,
        comparison: &Comparison,
        round: &mut RoundOutputs,
    ) -> Option<Reported> {
        let run = || (0..comparison.calls).filter_map(|_| self.run(comparison));
        let outputs = round.0.entry(comparison.words);
        let outputs = outputs.or_insert_with(|| run().collect());
        let values = |had_cpu: bool| -> Vec<f64> {
            let such = outputs.iter().filter(|output| output.1 == had_cpu);
            let values = such.filter_map(|(text, _)| (comparison.read)(text));
            values.map(|value| value * comparison.factor).collect()
        };
        let with = |had_cpu| {
            let values = values(had_cpu);
            let value = (!values.is_empty()).then(|| median(&values))?;
            Some(Reported { value, had_cpu })
        };
        with(true).or_else(|| with(false))
    }

    /// Returns the tool's output, and whether it had the CPU.
    fn run(&self, comparison: &Comparison) -> Option<(String, bool)> {
        self.sources.as_ref()?;
        let line = comparison.line();
        let (name, arguments) = line.split_first()?;
        let program = self.folder.join(name);
        if !program.is_file() {
            return None;
        }
        if let Some(file) = arguments.last().filter(|_| name == "lat_pagefault") {
            write_anew(&self.folder.join(file)).ok()?;
        }
        // The output is line-buffered, so output before the timeout isn't lost.
        let mut command = Command::new("timeout");
        command.arg(comparison.seconds);
        if comparison.runs_first {
            command.args(self.first);
        }
        command.args(["stdbuf", "-oL", "taskset"]);
        // Two processes that hand over to each other must share one CPU, as Fathom's do.
        let cpus = if comparison.threads == 1.0 {
            last_cpu()
        } else {
            "0-4095".to_string()
        };
        command
            .args(["-c", &cpus])
            .arg(program)
            .args(arguments)
            .current_dir(&self.folder)
            .env("ENOUGH", comparison.window_us)
            .env("TIMING_O", "0")
            .env("LOOP_O", "0")
            .stdin(Stdio::null());
        if comparison.unit == "ns" || comparison.id == "read_bandwidth_1" {
            command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        }
        let before = children_cpu_seconds();
        let began = Instant::now();
        let output = command.output().ok()?;
        let wall = began.elapsed().as_secs_f64();
        let share = (children_cpu_seconds() - before) / wall;
        // STREAM chooses its number of threads itself.
        let had_cpu = share >= 0.9 * comparison.threads;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        // lmbench prints its results on standard error.
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Some((text, had_cpu))
    }
}

/// Returns the last usable CPU: the first one handles most interrupts.
fn last_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or("0");
    let last = list.trim().rsplit([',', '-']).next().unwrap_or("0");
    last.to_string()
}

/// Returns the CPU time of all reaped children in seconds, from `/proc/self/stat`. The kernel counts it in
/// ticks, which is precise enough for tools that run for seconds.
fn children_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: f64 = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_ascii_whitespace().skip(13).take(2))
        .into_iter()
        .flatten()
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    // Linux reports 100 ticks per second to programs on all architectures.
    ticks / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_counts() {
        let before = children_cpu_seconds();
        let busy = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
            .status()
            .unwrap();
        assert!(busy.success());
        assert!(children_cpu_seconds() > before);
    }
}
