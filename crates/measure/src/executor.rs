//! Runs a benchmark once: for real, or simulated.

use std::time::Duration;

use fathom_model::Run;

use crate::MeasureError;

/// A run to execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The index of the benchmark.
    pub benchmark: usize,
    /// Whether it is a warm-up run, which doesn't count.
    pub warmup: bool,
    /// The number of the round, from 0; warm-up rounds are counted separately.
    pub round: u32,
    /// The position in the order of all measured runs, from 0.
    pub position: u32,
}

/// The number of a round as passed to commands in their environment: `3`, or `warmup-3`. A command that
/// writes a file for each round can use it in the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iteration {
    /// A counted round, from 0.
    Run(u32),
    /// A warm-up round, from 0.
    Warmup(u32),
}

impl std::fmt::Display for Iteration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Iteration::Run(round) => write!(f, "{round}"),
            Iteration::Warmup(round) => write!(f, "warmup-{round}"),
        }
    }
}

impl Attempt {
    /// Returns the value for the command's environment.
    pub fn iteration(&self) -> Iteration {
        match self.warmup {
            true => Iteration::Warmup(self.round),
            false => Iteration::Run(self.round),
        }
    }

    /// Reports whether both belong to the same round, counting warm-up rounds separately.
    pub fn is_of_round(&self, other: &Attempt) -> bool {
        (self.warmup, self.round) == (other.warmup, other.round)
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// The measurements.
    pub run: Run,
    /// The end of the command's standard error, if it was captured.
    pub stderr_tail: Vec<u8>,
    /// How the output differs from what was expected, if it does.
    pub wrong_output: Option<String>,
    /// Whether the user interrupted: the run was ended and doesn't count.
    pub interrupted: bool,
    /// Whether the run is already in the JSON record.
    pub recorded: bool,
    /// The minimum number of bytes that the run wrote to standard output; set for a warm-up run whose output
    /// went to a pipe instead of `/dev/null`.
    pub piped_bytes: Option<u64>,
}

/// Runs benchmarks, and has a clock.
pub trait Executor {
    /// Prepares the benchmark, once (`--setup`).
    ///
    /// # Errors
    /// If the command fails.
    fn set_up(&mut self, benchmark: usize) -> Result<(), MeasureError>;

    /// Waits until the effects of startup and setup on the machine have faded, before anything is measured.
    fn settle(&mut self);

    /// Executes the first of these runs, with the hooks before and after it. The others follow in this order,
    /// whatever the result of the first, unless the session ends; they may be executed now and returned by
    /// later calls.
    ///
    /// # Errors
    /// If it can't be run at all. A failing run is not an error here, but a result.
    fn run(&mut self, upcoming: &[Attempt]) -> Result<RunReport, MeasureError>;

    /// Reports whether a run was executed and its result not yet returned. The result must be fetched before
    /// the session ends, or it is lost.
    fn is_ahead(&self) -> bool {
        false
    }

    /// Returns wall times of the empty program in nanoseconds, without waits for a CPU if those are known; at
    /// most `runs`, and none if there is no such program.
    ///
    /// # Errors
    /// If it can't be run.
    fn floor(&mut self, runs: u32) -> Result<Vec<u64>, MeasureError>;

    /// Undoes `set_up`, once (`--cleanup`).
    ///
    /// # Errors
    /// If the command fails.
    fn clean_up(&mut self, benchmark: usize) -> Result<(), MeasureError>;

    /// Kills processes that runs have left behind, at the end of the session.
    fn sweep(&mut self);

    /// Returns the time since the session began.
    fn elapsed(&self) -> Duration;

    /// Reports whether the user wants to stop.
    fn interrupted(&self) -> bool;
}
