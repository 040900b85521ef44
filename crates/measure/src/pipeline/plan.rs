//! What to measure of a pipeline, and the results.

use std::time::Duration;

use fathom_model::{AloneRuns, PipeRound, StagedInput, StopReason};

use super::staging::Staging;
use crate::{CommandLine, Hook, Iteration, MeasureError};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HowMany {
    /// After this many rounds.
    Exactly(u32),
    /// After the time `soft`, if `minimum` rounds are complete; at most `maximum` rounds.
    Until {
        /// The minimum number of rounds.
        minimum: u32,
        /// The maximum number of rounds.
        maximum: u32,
        /// The time after which the minimum is enough.
        soft: Duration,
    },
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct PipePlan {
    /// The stages. Only the input of the first and the output of the last are used.
    pub stages: Vec<CommandLine>,
    /// Their short names.
    pub names: Vec<String>,
    /// The delay of each stage, for a comparison with a late start.
    pub delays: Option<Vec<Duration>>,
    /// How to stage the inputs; `None` to stage none.
    pub staging: Option<Staging>,
    /// When to stop.
    pub rounds: HowMany,
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// CPUs that the stages may use; all if empty.
    pub pin: Vec<usize>,
    /// Let the stages write to the terminal.
    pub show_output: bool,
    /// The seed of the run order.
    pub seed: u64,
    /// Count failing stages instead of ending the measurement.
    pub ignore_failure: bool,
    /// A hook to run before each run.
    pub prepare: Option<Hook>,
}

impl PipePlan {
    /// Runs `--prepare`, if there is one.
    pub(super) fn prepare(&self, round: u32) -> Result<(), MeasureError> {
        self.prepare
            .as_ref()
            .map_or(Ok(()), |hook| hook.run(Some(Iteration::Run(round))))
    }
}

/// A kind of run in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The first run of the pipeline, with Fathom between the stages; not counted as a round.
    First,
    /// The pipeline.
    Live,
    /// The pipeline with a late stage.
    Delayed,
    /// One stage alone.
    Alone(usize),
}

/// Is notified of each step of a measurement.
pub trait Watcher {
    /// A run is about to start.
    fn starts(&mut self, round: u32, kind: Kind);

    /// A run has ended; nothing else begins before this returns.
    ///
    /// # Errors
    /// If the run could not be stored: the measurement then ends.
    fn made(&mut self, kind: Kind, so_far: &SoFar<'_>) -> Result<(), MeasureError>;
}

/// Everything measured so far.
#[derive(Debug, Clone, Copy)]
pub struct SoFar<'a> {
    /// The runs of the live pipeline.
    pub rounds: &'a [PipeRound],
    /// The runs with a late stage.
    pub delayed: &'a [PipeRound],
    /// The runs of each stage alone.
    pub alone: &'a [AloneRuns],
    /// The staged inputs.
    pub staged: &'a [StagedInput],
}

/// The result of a session.
#[derive(Debug)]
pub struct PipeSession {
    /// The runs of the live pipeline.
    pub rounds: Vec<PipeRound>,
    /// The runs with a late stage.
    pub delayed: Vec<PipeRound>,
    /// The runs of each stage alone.
    pub alone: Vec<AloneRuns>,
    /// The staged inputs.
    pub staged: Vec<StagedInput>,
    /// Why it ended.
    pub stop: StopReason,
}
