//! The durations of the compared programs, and the concurrent loads.

use std::process::{Child, Command, Stdio};

use crate::Result;
use crate::tools::Tools;

/// Returns the CPU time of `work` with this number of iterations, in seconds. It is the minimum of several
/// runs, because neighbours only add to it.
fn work_seconds(tools: &Tools, iterations: u64) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..9 {
        let usage = tools.run(&tools.work, &[iterations.to_string()])?;
        least = least.min(usage.cpu_s);
    }
    Ok(least)
}

/// Returns the CPU time of one iteration of `work` in seconds, and that of a run with a million of them,
/// including start and exit.
fn iteration_seconds(tools: &Tools) -> Result<(f64, f64)> {
    const HIGH: u64 = 5 * LOW;
    let (low, high) = (work_seconds(tools, LOW)?, work_seconds(tools, HIGH)?);
    let each = (high - low) / (HIGH - LOW) as f64;
    if each <= 0.0 {
        return Err("this machine is too busy to find out how fast it is; try again later".into());
    }
    Ok((each, low))
}

const LOW: u64 = 1_000_000;

/// Returns the number of iterations of `work` that take `seconds` on this machine, including start and exit.
///
/// # Errors
/// If `work` can't be run.
pub(crate) fn iterations_for(tools: &Tools, seconds: f64) -> Result<u64> {
    let (each, low) = iteration_seconds(tools)?;
    Ok(((seconds - low) / each + LOW as f64).max(1.0) as u64)
}

/// Returns the number of iterations with which the whole command takes longer by the fraction `share` than
/// with `iterations`. Its start and exit, which the C loop times, stay the same, so the loop itself must take
/// longer by a little more than that.
///
/// # Errors
/// If `work` can't be run.
pub(crate) fn iterations_longer_by(tools: &Tools, share: f64, iterations: u64) -> Result<u64> {
    let (each, _) = iteration_seconds(tools)?;
    let rest = tools.c_loop(20, 300, &tools.work)?.commands[0].median_s;
    let more = share * (iterations as f64 + rest / each);
    Ok(iterations + more.round() as u64)
}

/// The load during the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// No load is started.
    Quiet,
    /// A load on one CPU that alternates between 5 ms of work and 5 ms of pause.
    Periodic,
    /// A program on CPU 0 that never pauses.
    Neighbour,
    /// A program on every CPU that never pauses.
    Busy,
}

impl Condition {
    /// Returns the name for the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Condition::Quiet => "quiet",
            Condition::Periodic => "periodic load on CPU 1",
            Condition::Neighbour => "a program spins on CPU 0",
            Condition::Busy => "all CPUs busy",
        }
    }

    /// Starts the load. It ends when the value is dropped, or at the latest when this process ends.
    ///
    /// # Errors
    /// If a load can't be started.
    pub(crate) fn start(self, tools: &Tools) -> Result<Loads> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted: Vec<(usize, u32, u32)> = match self {
            Condition::Quiet => Vec::new(),
            Condition::Periodic => vec![(1.min(cpus - 1), 5_000, 5_000)],
            Condition::Neighbour => vec![(0, 5_000, 0)],
            Condition::Busy => (0..cpus).map(|cpu| (cpu, 5_000, 0)).collect(),
        };
        let mut loads = Loads(Vec::new());
        for (cpu, busy, idle) in wanted {
            let started = Command::new(&tools.load)
                .args([cpu.to_string(), busy.to_string(), idle.to_string()])
                .stdin(Stdio::null())
                .spawn()
                .map_err(|error| format!("can't start {}: {error}", tools.load.display()))?;
            loads.0.push(started);
        }
        Ok(loads)
    }
}

/// Running loads.
#[derive(Debug)]
pub(crate) struct Loads(Vec<Child>);

impl Loads {
    /// Checks that all loads are still running: otherwise the measurement would not match the table.
    ///
    /// # Errors
    /// If a load has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        for load in &mut self.0 {
            if let Ok(Some(status)) = load.try_wait() {
                return Err(format!(
                    "a load beside the measurement ended early: {status}"
                ));
            }
        }
        Ok(())
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        for load in &mut self.0 {
            let _ = load.kill();
            let _ = load.wait();
        }
    }
}
