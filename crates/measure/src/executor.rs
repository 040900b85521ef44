//! Runs a benchmark once: for real, or simulated.

use std::time::Duration;

use fathom_model::Run;

use crate::MeasureError;

/// Which run is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Index of the benchmark.
    pub benchmark: usize,
    /// A run that does not count.
    pub warmup: bool,
    /// Number of the round, from 0; warm-up rounds are counted for themselves.
    pub round: u32,
    /// Place in the order of all measured runs, from 0.
    pub position: u32,
}

/// The number of a round as a command finds it in its environment: `3`, or `warmup-3`. Who writes a
/// file for each round writes another one then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iteration {
    /// A round that counts, from 0.
    Run(u32),
    /// A round to warm up, from 0.
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
    /// What its command finds in its environment.
    pub fn iteration(&self) -> Iteration {
        match self.warmup {
            true => Iteration::Warmup(self.round),
            false => Iteration::Run(self.round),
        }
    }

    /// Whether both belong to the same round, of those to warm up or of those that count.
    pub fn is_of_round(&self, other: &Attempt) -> bool {
        (self.warmup, self.round) == (other.warmup, other.round)
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// The numbers.
    pub run: Run,
    /// The end of what the command wrote to standard error, where that was captured.
    pub stderr_tail: Vec<u8>,
    /// How the output differs from what was expected, if it does.
    pub wrong_output: Option<String>,
    /// The user interrupted: the run was ended and does not count.
    pub interrupted: bool,
    /// The run is in the JSON record already.
    pub recorded: bool,
    /// Bytes that it wrote to standard output, at least: for a run to warm up whose output went to
    /// a pipe in place of `/dev/null`.
    pub piped_bytes: Option<u64>,
}

/// Something that can run benchmarks and has a clock.
pub trait Executor {
    /// Makes everything ready for the benchmark, once (`--setup`).
    ///
    /// # Errors
    /// When its command fails.
    fn set_up(&mut self, benchmark: usize) -> Result<(), MeasureError>;

    /// Lets fade what starting up and setting up did to the machine, before anything is measured.
    fn settle(&mut self);

    /// Makes the first of these runs, with what comes before and after it. The others follow in
    /// this order, whatever comes of the first, unless the session ends: they may be made now, and
    /// handed out when they are asked for.
    ///
    /// # Errors
    /// When it can't be run at all. A run that ends badly is not an error here but a result.
    fn run(&mut self, upcoming: &[Attempt]) -> Result<RunReport, MeasureError>;

    /// Whether a run was made that hasn't been handed out. It must be asked for before the session
    /// ends, or it is lost.
    fn is_ahead(&self) -> bool {
        false
    }

    /// Wall times of the empty program in nanoseconds, less waits for a CPU where they are known;
    /// at most as many as asked for, none if there is no such program.
    ///
    /// # Errors
    /// When it can't be run.
    fn floor(&mut self, runs: u32) -> Result<Vec<u64>, MeasureError>;

    /// Undoes what `set_up` made, once (`--cleanup`).
    ///
    /// # Errors
    /// When its command fails.
    fn clean_up(&mut self, benchmark: usize) -> Result<(), MeasureError>;

    /// Ends what runs have left behind, at the end of the session.
    fn sweep(&mut self);

    /// Time since the session began.
    fn elapsed(&self) -> Duration;

    /// Whether the user wants to stop.
    fn interrupted(&self) -> bool;
}
