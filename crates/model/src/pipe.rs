//! The complete record of a `pipe` session: what its `--json` writes.

use serde::{Deserialize, Serialize};

use crate::{Environment, Estimate, Exit, InputFrom, IoCounts, OutputTo, StopReason, version1};

/// One stage as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeStage {
    /// Short name: the program's file name, with a number where two stages would share it.
    pub name: String,
    /// The command as it was given, for people.
    pub command: String,
    /// The arguments as they are executed, program first.
    pub arguments: Vec<String>,
    /// Working directory, if it was set.
    pub working_directory: Option<String>,
}

/// What holds for the whole session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeConditions {
    /// Seed of the order of runs.
    pub seed: u64,
    /// Rounds that were done and not counted; the staging round is one of them.
    pub warmup_rounds: u32,
    /// CPUs that the stages were pinned to, if any.
    pub pinned_cpus: Option<Vec<usize>>,
    /// Longest time a run of the pipeline or of a stage may take, in seconds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub timeout_seconds: Option<f64>,
    /// The shell that interprets each stage, if any.
    pub shell: Option<String>,
    /// Standard input of the first stage.
    pub input: InputFrom,
    /// Standard output of the last stage.
    pub output: OutputTo,
    /// Bytes that a pipe holds here (`F_GETPIPE_SZ`).
    pub pipe_capacity_bytes: u64,
}

/// What a stage was doing during a stretch of wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PipeState {
    /// At least one thread was on a CPU.
    Running,
    /// No thread was on a CPU, and at least one waited to read from the stage before.
    WaitingForInput,
    /// No thread was on a CPU, none waited for input, and at least one waited to write to the next
    /// stage.
    WaitingForReader,
    /// Everything else: sleeping, a disk, a lock, a child.
    #[serde(rename = "other_waits", alias = "other_wait")]
    OtherWait,
    /// Able to run, and without a CPU.
    #[serde(rename = "waiting_for_cpu", alias = "no_cpu")]
    NoCpu,
}

/// A stretch of a stage's life; nanoseconds from the pipeline's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeStretch {
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// What the stage did.
    pub state: PipeState,
}

/// A stage in one round. Points in time are nanoseconds from the pipeline's start; what the round's
/// means could not see is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageRun {
    /// Just before its process was created; in an observed round, just before it executed its
    /// program.
    pub start_ns: u64,
    /// The first read from the stage before that brought bytes returned.
    pub first_in_ns: Option<u64>,
    /// The last read from the stage before that brought bytes returned.
    pub last_in_ns: Option<u64>,
    /// The first write to the next stage was called.
    pub first_out_ns: Option<u64>,
    /// Its exit as its parent saw it.
    pub end_ns: u64,
    /// CPU time, user and kernel, of the stage and the children that it waited for.
    pub cpu_ns: u64,
    /// Wall time in [`PipeState::Running`].
    pub running_ns: Option<u64>,
    /// Wall time in [`PipeState::WaitingForInput`].
    #[serde(rename = "waiting_for_input_ns", alias = "wait_input_ns")]
    pub wait_input_ns: Option<u64>,
    /// Wall time in [`PipeState::WaitingForReader`].
    #[serde(rename = "waiting_for_reader_ns", alias = "wait_output_ns")]
    pub wait_output_ns: Option<u64>,
    /// Wall time in [`PipeState::OtherWait`] and in [`PipeState::NoCpu`].
    #[serde(rename = "other_waits_ns", alias = "other_wait_ns")]
    pub other_wait_ns: Option<u64>,
    /// The part of that in [`PipeState::NoCpu`].
    #[serde(rename = "waiting_for_cpu_ns", alias = "no_cpu_ns")]
    pub no_cpu_ns: Option<u64>,
    /// Bytes read from the stage before.
    pub bytes_in: Option<u64>,
    /// Bytes written to the next stage.
    pub bytes_out: Option<u64>,
    /// Largest resident memory of one of its processes.
    pub peak_memory_bytes: u64,
    /// All bytes and calls read and written, on whatever descriptor.
    pub io: Option<IoCounts>,
    /// How it ended.
    pub exit: Exit,
    /// What it did when; empty where that was not observed.
    pub stretches: Vec<PipeStretch>,
}

impl StageRun {
    /// What the accounts alone tell of a stage; everything that only observing shows is `None`. CPU
    /// time and memory are 0, accounts of bytes absent: fill in those that are known.
    pub fn unobserved(start_ns: u64, end_ns: u64, exit: Exit) -> StageRun {
        StageRun {
            start_ns,
            first_in_ns: None,
            last_in_ns: None,
            first_out_ns: None,
            end_ns,
            cpu_ns: 0,
            running_ns: None,
            wait_input_ns: None,
            wait_output_ns: None,
            other_wait_ns: None,
            no_cpu_ns: None,
            bytes_in: None,
            bytes_out: None,
            peak_memory_bytes: 0,
            io: None,
            exit,
            stretches: Vec::new(),
        }
    }

    /// From start to end.
    pub fn wall_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// The pipeline, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeRound {
    /// From just before the first stage's process is created to the last exit; in an observed
    /// round, from when the stages, which are started beforehand, are let go.
    pub wall_ns: u64,
    /// In the order of the pipeline.
    pub stages: Vec<StageRun>,
    /// Processes that the stages left running.
    pub left_behind: u32,
}

/// How the observed rounds were done, and what they may be trusted for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeExplaining {
    /// `kernel`, `perf`, `sample` or `accounts`.
    pub tier: String,
    /// Median wall time of the observed rounds divided by that of the timed rounds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub slowdown: f64,
    /// False when `slowdown` is over 1.1: then shares and counts hold, times do not.
    #[serde(rename = "times_are_measured", alias = "times_are_quoted")]
    pub times_are_quoted: bool,
    /// What this tier could not see, one sentence each.
    pub not_visible: Vec<String>,
    /// What was observed and could not be kept, in words; empty if nothing was lost.
    pub lost: Vec<String>,
}

/// What the predecessor of a stage wrote, kept as the stage's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StagedInput {
    /// Index of the stage that reads it, from 1.
    pub stage: usize,
    /// Bytes that the stage before wrote.
    pub bytes_written: u64,
    /// Bytes of them that went into the stage's pipe before it closed its input or ended.
    pub bytes_taken: u64,
    /// Where it is kept, if it was asked for.
    pub file: Option<String>,
    /// Why it was not kept; absent if it was.
    pub not_kept: Option<String>,
}

/// A stage on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AloneRuns {
    /// Index of the stage.
    pub stage: usize,
    /// Wall time of each run.
    pub wall_ns: Vec<u64>,
    /// CPU time of each run.
    pub cpu_ns: Vec<u64>,
    /// Bytes read on all descriptors in the last run; a stage that asks for the size of a file
    /// instead of reading it shows here.
    pub read_bytes: Option<u64>,
    /// Why there are no runs; absent if there are.
    pub not_run: Option<String>,
}

/// Where the counts of bytes between the stages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PipeBytesFrom {
    /// The observed round, counted in the kernel.
    Trace,
    /// The staging round, in which Fathom stood between the stages.
    Staging,
}

/// A stage over all rounds. Times are medians in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageSummary {
    /// Start, from the pipeline's start, in the timed rounds.
    pub start: Estimate,
    /// End, likewise.
    pub end: Estimate,
    /// Wall time, likewise.
    pub wall: Estimate,
    /// CPU time, likewise.
    pub cpu: Estimate,
    /// Wall time on its own, on staged input.
    pub alone: Option<Estimate>,
    /// Bytes read from the stage before.
    pub bytes_in: Option<u64>,
    /// Bytes written to the next stage.
    pub bytes_out: Option<u64>,
    /// Where the bytes come from.
    pub bytes_from: Option<PipeBytesFrom>,
    /// How it ended in most timed rounds.
    pub exit: Exit,
    /// Exits other than success and SIGPIPE, over all timed rounds.
    pub failures: usize,
    /// Ends by SIGPIPE: it wrote after its reader had closed the pipe.
    pub sigpipes: usize,
}

/// The rounds in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeSummary {
    /// Median wall time of the timed rounds in seconds.
    pub wall: Estimate,
    /// In the order of the pipeline.
    pub stages: Vec<StageSummary>,
}

/// The pipeline if one stage took no time of its own. A model, not a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The stage that is free.
    pub stage: usize,
    /// Modelled wall time of the pipeline in seconds.
    pub wall_seconds: f64,
}

/// What the pipeline would cost, modelled from the own times of its stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeModel {
    /// `phases` (from an observed round in which first and last bytes are known) or `alone` (from the
    /// stages on their own).
    pub method: String,
    /// What the model gives for the pipeline as it is, in seconds: beside the measured wall time it
    /// says how good the model is.
    pub as_is_seconds: f64,
    /// One for each stage: never less than another stage takes on its own.
    #[serde(rename = "if_stage_took_no_time", alias = "if_free")]
    pub if_free: Vec<WhatIf>,
}

impl PipeModel {
    /// Gains that differ by less than this share of the pipeline's wall time are the same.
    const ALIKE: f64 = 0.02;

    /// How far the model is off for the pipeline as it is, as a share of what was measured
    /// (seconds).
    pub fn off_by(&self, measured: f64) -> f64 {
        match measured > 0.0 {
            true => (self.as_is_seconds / measured - 1.0).abs(),
            false => 0.0,
        }
    }

    /// The stages without which the pipeline would gain most, in their order: several where their
    /// gains differ by less than the model is off, except those with less than half of the largest
    /// gain.
    pub fn best(&self, measured: f64) -> Vec<usize> {
        let walls = self.if_free.iter().map(|free| free.wall_seconds);
        let least = walls.fold(f64::INFINITY, f64::min);
        let same = Self::ALIKE * measured;
        let gain = measured - least;
        let alike = match gain > same {
            true => same.max(self.off_by(measured) * measured).min(gain / 2.0),
            false => same,
        };
        let best = |free: &&WhatIf| free.wall_seconds <= least + alike;
        let all = self.if_free.iter().filter(best);
        all.map(|free| free.stage).collect()
    }
}

/// A sentence that must be read with the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeNote {
    /// Stable identifier, such as `misleading_wall_time`.
    #[serde(deserialize_with = "version1::text")]
    pub id: String,
    /// Index of the stage that it concerns; absent if it concerns the pipeline.
    pub stage: Option<usize>,
    /// A sentence for people. Texts from outside are in it as they are.
    pub message: String,
}

/// The pipeline with a stage that starts late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DelayedRounds {
    /// Delay of each stage in nanoseconds; 0 for none.
    pub delay_ns: Vec<u64>,
    /// Timed, interleaved with the rounds without delay.
    pub rounds: Vec<PipeRound>,
    /// Observed.
    #[serde(rename = "observed_rounds", alias = "explained")]
    pub explained: Vec<PipeRound>,
    /// The timed rounds in short.
    pub summary: PipeSummary,
}

/// Everything about a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `pipe`.
    #[cfg_attr(test, schemars(extend("const" = "pipe")))]
    pub kind: String,
    /// Version of Fathom that measured.
    pub fathom_version: String,
    /// Start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// Where it was measured.
    pub environment: Environment,
    /// What holds for the whole session.
    pub conditions: PipeConditions,
    /// The stages, in the order of the pipeline.
    pub stages: Vec<PipeStage>,
    /// The timed rounds: never traced.
    pub rounds: Vec<PipeRound>,
    /// The observed rounds: their shares and counts explain, their times do not count.
    #[serde(rename = "observed_rounds", alias = "explained")]
    pub explained: Vec<PipeRound>,
    /// How those were done; absent if there are none.
    #[serde(rename = "observation", alias = "explaining")]
    pub explaining: Option<PipeExplaining>,
    /// The inputs of the stages from the second on; empty under `--no-stage`.
    pub staged: Vec<StagedInput>,
    /// Each stage on its own; empty under `--no-stage`.
    pub alone: Vec<AloneRuns>,
    /// The rounds in short.
    pub summary: PipeSummary,
    /// Index of the stage without which the pipeline would gain most, of several that would gain
    /// about the same ([`PipeModel::best`]) the one with the most own time; absent where it
    /// is not known.
    pub bottleneck: Option<usize>,
    /// What it would gain.
    pub model: Option<PipeModel>,
    /// With `--delay`: the same with a stage that starts late.
    pub delayed: Option<DelayedRounds>,
    /// What must be known to read the numbers rightly, and what would mislead.
    pub notes: Vec<PipeNote>,
    /// False while measuring is going on, or when it was cut short.
    pub complete: bool,
    /// Why measuring ended.
    pub stop: StopReason,
}

impl PipeRecord {
    /// A model that is further off than this for the pipeline as it is says nothing of another.
    const MODEL_OFF: f64 = 0.25;

    /// The observed round that is shown.
    pub fn observed(&self) -> Option<&PipeRound> {
        self.explained.first()
    }

    /// Whether the model does not even give what was measured.
    pub fn model_misses(&self) -> bool {
        let measured = self.summary.wall.value;
        let off = |model: &PipeModel| model.off_by(measured) > Self::MODEL_OFF;
        self.model.as_ref().is_some_and(off)
    }
}
