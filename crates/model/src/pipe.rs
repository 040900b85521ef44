//! The complete record of a `pipe` session, as written by its `--json`.

use serde::{Deserialize, Serialize};

use crate::{Environment, Estimate, Exit, InputFrom, IoCounts, OutputTo, StopReason, version1};

/// One stage as given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeStage {
    /// A short name: the program's file name, with a number if two stages would share it.
    pub name: String,
    /// The command as given, for display.
    pub command: String,
    /// The arguments as executed, starting with the program.
    pub arguments: Vec<String>,
    /// The working directory, if set.
    pub working_directory: Option<String>,
}

/// The conditions of the whole session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeConditions {
    /// The seed of the run order.
    pub seed: u64,
    /// The number of uncounted rounds, including the staging round.
    pub warmup_rounds: u32,
    /// The CPUs to which the stages were pinned, if any.
    pub pinned_cpus: Option<Vec<usize>>,
    /// The time limit of a run of the pipeline or of a stage, in seconds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub timeout_seconds: Option<f64>,
    /// The shell that interprets each stage, if any.
    pub shell: Option<String>,
    /// Standard input of the first stage.
    pub input: InputFrom,
    /// Standard output of the last stage.
    pub output: OutputTo,
    /// The capacity of a pipe in bytes (`F_GETPIPE_SZ`).
    pub pipe_capacity_bytes: u64,
}

/// What a stage was doing during an interval of wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PipeState {
    /// At least one thread was on a CPU.
    Running,
    /// No thread was on a CPU, and at least one waited to read from the previous stage.
    WaitingForInput,
    /// No thread was on a CPU, none waited for input, and at least one waited to write to the next
    /// stage.
    WaitingForReader,
    /// Everything else: sleeping, waiting for a disk, a lock, or a child.
    #[serde(rename = "other_waits", alias = "other_wait")]
    OtherWait,
    /// Ready to run, without a CPU.
    #[serde(rename = "waiting_for_cpu", alias = "no_cpu")]
    NoCpu,
}

/// An interval of a stage's life; in nanoseconds from the pipeline's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeStretch {
    /// The start.
    pub from_ns: u64,
    /// The end.
    pub to_ns: u64,
    /// What the stage did.
    pub state: PipeState,
}

/// A stage in one round. Times are nanoseconds from the pipeline's start; values that the round's tier could
/// not observe are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageRun {
    /// The time just before its process was created; in an observed round, just before it executed its
    /// program.
    pub start_ns: u64,
    /// When the first read from the previous stage that returned bytes ended.
    pub first_in_ns: Option<u64>,
    /// When the last read from the previous stage that returned bytes ended.
    pub last_in_ns: Option<u64>,
    /// When the first write to the next stage was called.
    pub first_out_ns: Option<u64>,
    /// Its exit, as its parent saw it.
    pub end_ns: u64,
    /// CPU time, user and kernel, of the stage and the children it waited for.
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
    /// The part of that spent in [`PipeState::NoCpu`].
    #[serde(rename = "waiting_for_cpu_ns", alias = "no_cpu_ns")]
    pub no_cpu_ns: Option<u64>,
    /// Bytes read from the previous stage.
    pub bytes_in: Option<u64>,
    /// Bytes written to the next stage.
    pub bytes_out: Option<u64>,
    /// The peak resident memory of one of its processes.
    pub peak_memory_bytes: u64,
    /// All bytes and calls read and written, on any descriptor.
    pub io: Option<IoCounts>,
    /// How it ended.
    pub exit: Exit,
    /// Its states over time; empty if not observed.
    pub stretches: Vec<PipeStretch>,
}

impl StageRun {
    /// Creates a stage from the accounts alone; everything that requires observation is `None`. CPU time and
    /// memory are 0 and byte counts absent: the caller fills in those that are known.
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

    /// Returns the time from start to end.
    pub fn wall_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// One run of the pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeRound {
    /// The time from just before the first stage's process is created to the last exit. In an observed round,
    /// the stages are started beforehand, and the time begins when they are released.
    pub wall_ns: u64,
    /// The stages, in pipeline order.
    pub stages: Vec<StageRun>,
    /// The number of processes that the stages left running.
    pub left_behind: u32,
}

/// How the observed rounds were made, and how far they can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeExplaining {
    /// `kernel`, `perf`, `sample` or `accounts`.
    pub tier: String,
    /// The median wall time of the observed rounds divided by that of the timed rounds.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub slowdown: f64,
    /// False if `slowdown` is over 1.1: then shares and counts are valid, times are not.
    #[serde(rename = "times_are_measured", alias = "times_are_quoted")]
    pub times_are_quoted: bool,
    /// What this tier could not see, one sentence each.
    pub not_visible: Vec<String>,
    /// Descriptions of observed events that could not be stored; empty if nothing was lost.
    pub lost: Vec<String>,
}

/// The output of a stage's predecessor, kept as the stage's input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StagedInput {
    /// The index of the stage that reads it, from 1.
    pub stage: usize,
    /// The number of bytes that the previous stage wrote.
    pub bytes_written: u64,
    /// The number of those bytes that went into the stage's pipe before it closed its input or ended.
    pub bytes_taken: u64,
    /// The path of the file, if keeping it was requested.
    pub file: Option<String>,
    /// Why it was not kept; absent if it was.
    pub not_kept: Option<String>,
}

/// A stage run alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AloneRuns {
    /// Index of the stage.
    pub stage: usize,
    /// Wall time of each run.
    pub wall_ns: Vec<u64>,
    /// CPU time of each run.
    pub cpu_ns: Vec<u64>,
    /// The number of bytes read on all descriptors in the last run; this reveals a stage that queries the
    /// size of a file instead of reading it.
    pub read_bytes: Option<u64>,
    /// Why there are no runs; absent if there are.
    pub not_run: Option<String>,
}

/// The source of the byte counts between the stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PipeBytesFrom {
    /// The observed round, counted in the kernel.
    Trace,
    /// The staging round, in which Fathom was between the stages.
    Staging,
}

/// A stage over all rounds. Times are medians in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StageSummary {
    /// The start, relative to the pipeline's start, in the timed rounds.
    pub start: Estimate,
    /// The end, relative to the pipeline's start, in the timed rounds.
    pub end: Estimate,
    /// The wall time in the timed rounds.
    pub wall: Estimate,
    /// The CPU time in the timed rounds.
    pub cpu: Estimate,
    /// The wall time alone, on staged input.
    pub alone: Option<Estimate>,
    /// Bytes read from the previous stage.
    pub bytes_in: Option<u64>,
    /// Bytes written to the next stage.
    pub bytes_out: Option<u64>,
    /// The source of the byte counts.
    pub bytes_from: Option<PipeBytesFrom>,
    /// How it ended in most timed rounds.
    pub exit: Exit,
    /// The number of exits other than success and SIGPIPE, over all timed rounds.
    pub failures: usize,
    /// How often SIGPIPE ended the stage: it wrote after its reader had closed the pipe.
    pub sigpipes: usize,
}

/// A summary of the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeSummary {
    /// The median wall time of the timed rounds in seconds.
    pub wall: Estimate,
    /// The stages, in pipeline order.
    pub stages: Vec<StageSummary>,
}

/// The pipeline if one stage took no time of its own. A model, not a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The stage that takes no time.
    pub stage: usize,
    /// Modelled wall time of the pipeline in seconds.
    pub wall_seconds: f64,
}

/// A model of the pipeline's cost, from the own times of its stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeModel {
    /// `phases` (from an observed round in which first and last bytes are known) or `alone` (from the stages
    /// run alone).
    pub method: String,
    /// The model's result for the unchanged pipeline, in seconds. Its distance from the measured wall time
    /// shows how good the model is.
    pub as_is_seconds: f64,
    /// One for each stage. The modelled time is never less than another stage takes alone.
    #[serde(rename = "if_stage_took_no_time", alias = "if_free")]
    pub if_free: Vec<WhatIf>,
}

impl PipeModel {
    /// Gains that differ by less than this share of the pipeline's wall time count as equal.
    const ALIKE: f64 = 0.02;

    /// Returns the error of the model for the unchanged pipeline, as a share of the measured time (seconds).
    pub fn off_by(&self, measured: f64) -> f64 {
        match measured > 0.0 {
            true => (self.as_is_seconds / measured - 1.0).abs(),
            false => 0.0,
        }
    }

    /// Returns the stages whose removal would save most, in order. There are several if their gains differ by
    /// less than the model's error, but none with less than half of the largest gain.
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

/// A note that must be read with the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeNote {
    /// A stable identifier, such as `misleading_wall_time`.
    #[serde(deserialize_with = "version1::text")]
    pub id: String,
    /// The index of the stage it concerns; absent if it concerns the pipeline.
    pub stage: Option<usize>,
    /// A sentence for display. Untrusted texts in it are not escaped.
    pub message: String,
}

/// The pipeline with a stage that starts late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DelayedRounds {
    /// The delay of each stage in nanoseconds; 0 for none.
    pub delay_ns: Vec<u64>,
    /// The timed rounds, interleaved with the rounds without delay.
    pub rounds: Vec<PipeRound>,
    /// The observed rounds.
    #[serde(rename = "observed_rounds", alias = "explained")]
    pub explained: Vec<PipeRound>,
    /// A summary of the timed rounds.
    pub summary: PipeSummary,
}

/// The complete record of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PipeRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `pipe`.
    #[cfg_attr(test, schemars(extend("const" = "pipe")))]
    pub kind: String,
    /// The version of Fathom that measured.
    pub fathom_version: String,
    /// The start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// The environment of the measurement.
    pub environment: Environment,
    /// The conditions of the whole session.
    pub conditions: PipeConditions,
    /// The stages, in the order of the pipeline.
    pub stages: Vec<PipeStage>,
    /// The timed rounds: never traced.
    pub rounds: Vec<PipeRound>,
    /// The observed rounds. Their shares and counts explain the pipeline; their times don't count.
    #[serde(rename = "observed_rounds", alias = "explained")]
    pub explained: Vec<PipeRound>,
    /// How the observed rounds were made; absent if there are none.
    #[serde(rename = "observation", alias = "explaining")]
    pub explaining: Option<PipeExplaining>,
    /// The inputs of the stages from the second on; empty under `--no-stage`.
    pub staged: Vec<StagedInput>,
    /// Each stage run alone; empty under `--no-stage`.
    pub alone: Vec<AloneRuns>,
    /// A summary of the rounds.
    pub summary: PipeSummary,
    /// The index of the stage whose removal would save most. Of several with about the same gain
    /// ([`PipeModel::best`]), it is the one with the most own time. Absent if unknown.
    pub bottleneck: Option<usize>,
    /// The modelled gain.
    pub model: Option<PipeModel>,
    /// With `--delay`: the rounds with a stage that starts late.
    pub delayed: Option<DelayedRounds>,
    /// Notes needed to read the numbers correctly, including misleading figures.
    pub notes: Vec<PipeNote>,
    /// False while measuring is in progress, or if it was cut short.
    pub complete: bool,
    /// Why measuring ended.
    pub stop: StopReason,
}

impl PipeRecord {
    /// If the model's error for the unchanged pipeline is larger than this, the model says nothing about a
    /// changed one.
    const MODEL_OFF: f64 = 0.25;

    /// Returns the observed round that is shown.
    pub fn observed(&self) -> Option<&PipeRound> {
        self.explained.first()
    }

    /// Reports whether the model fails to reproduce even the measured time.
    pub fn model_misses(&self) -> bool {
        let measured = self.summary.wall.value;
        let off = |model: &PipeModel| model.off_by(measured) > Self::MODEL_OFF;
        self.model.as_ref().is_some_and(off)
    }
}
