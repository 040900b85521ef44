//! What is to be measured of a pipeline, and what has been.

use std::time::Duration;

use fathom_model::{AloneRuns, PipeRound, StagedInput, StopReason};

use super::staging::Staging;
use crate::{CommandLine, Hook, Iteration, MeasureError};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HowMany {
    /// After this many rounds.
    Exactly(u32),
    /// After `soft` time once `minimum` rounds were made; at most `maximum` rounds.
    Until {
        /// Fewest rounds.
        minimum: u32,
        /// Most rounds.
        maximum: u32,
        /// Enough time.
        soft: Duration,
    },
}

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct PipePlan {
    /// The stages. Of the inputs only the first's is used, of the outputs only the last's.
    pub stages: Vec<CommandLine>,
    /// Their short names.
    pub names: Vec<String>,
    /// Delay of each stage, if there is to be a comparison with a late start.
    pub delays: Option<Vec<Duration>>,
    /// How the inputs are staged; `None` for not at all.
    pub staging: Option<Staging>,
    /// When to stop.
    pub rounds: HowMany,
    /// Longest time that a run may take.
    pub timeout: Option<Duration>,
    /// CPUs that the stages may use; all if empty.
    pub pin: Vec<usize>,
    /// Let the stages write to the terminal.
    pub show_output: bool,
    /// Seed of the order.
    pub seed: u64,
    /// Failing stages are counted instead of ending everything.
    pub ignore_failure: bool,
    /// Run before each run.
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

/// Which run of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The pipeline once before the rounds, with Fathom between the stages; or not counted.
    First,
    /// The pipeline.
    Live,
    /// The pipeline with a late stage.
    Delayed,
    /// One stage.
    Alone(usize),
}

/// Gets every step.
pub trait Watcher {
    /// A run is about to start.
    fn starts(&mut self, round: u32, kind: Kind);

    /// A run has ended, and nothing else begins before this returns.
    ///
    /// # Errors
    /// When it could not be kept: measuring ends.
    fn made(&mut self, kind: Kind, so_far: &SoFar<'_>) -> Result<(), MeasureError>;
}

/// Everything that was measured up to now.
#[derive(Debug, Clone, Copy)]
pub struct SoFar<'a> {
    /// The live pipeline.
    pub rounds: &'a [PipeRound],
    /// With a late stage.
    pub delayed: &'a [PipeRound],
    /// Each stage alone.
    pub alone: &'a [AloneRuns],
    /// What was kept of the inputs.
    pub staged: &'a [StagedInput],
}

/// What came of it.
#[derive(Debug)]
pub struct PipeSession {
    /// The live pipeline.
    pub rounds: Vec<PipeRound>,
    /// With a late stage.
    pub delayed: Vec<PipeRound>,
    /// Each stage alone.
    pub alone: Vec<AloneRuns>,
    /// What was kept of the inputs.
    pub staged: Vec<StagedInput>,
    /// Why it ended.
    pub stop: StopReason,
}
