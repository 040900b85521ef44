//! The types that the crates of Fathom exchange, with their JSON format.
//!
//! Nothing here measures, judges or prints. Crates that produce and consume a value share its type here, and
//! the JSON records are the serialized types. How a quantity is written, with its unit and digits, is defined
//! only in [`quantity`].

mod account;
mod bisect;
mod changes;
mod comparison;
mod difference;
mod environment;
mod escape;
mod experiment;
mod explanation;
mod finding;
mod finding_id;
mod gate;
mod history;
pub mod imported;
mod job;
mod machine;
mod metric;
mod parameters;
mod paths;
mod pipe;
mod plan;
pub mod quantity;
mod record;
mod report;
mod run;
mod sample;
#[cfg(test)]
mod schemas;
pub mod secret;
mod serve;
mod startup;
mod version1;
mod versions;
mod whereabouts;

pub use account::{AccountPart, ThreadAccount, TimeAccount, TimeCategory};
pub use bisect::{
    BisectEnds, BisectReason, BisectRecord, BisectVerdict, Commit, Culprit, TestedRevision,
    TestedState,
};
pub use changes::{
    ChangeDirection, ChangeKind, ChangePoint, ChangeSegment, Changes, ChangesRecord, EarlyWarning,
    SeriesChanges,
};
pub use comparison::{Comparison, MoreRounds, Shift, Verdict};
pub use difference::{
    Difference, DifferenceBy, DifferenceCommand, DifferenceCount, DifferenceRecord, DifferenceRow,
    OF_WALL, OnlyFinding, WallDifference,
};
pub use environment::{Environment, Fingerprint, MachineFigure};
pub use escape::{escape, escape_to_ascii, guarded, one_line};
pub use experiment::{
    AnswerResult, ClaimResult, ClaimVerdict, Combination, ExperimentRecord, Judged, Layer,
    MeasureResult, Measured, Picture, Published, ResultRow, Source, ToolResult,
};
pub use explanation::{
    CallRow, Explaining, Explanation, FunctionShare, IoRow, ObservedProcess, OwnCode, Phase,
    ProcessRow, Stretch, TimedRuns,
};
pub use finding::{
    Confidence, Evidence, Finding, Place, Proof, ProofVerdict, SavedMilliseconds, Saving, Slope,
};
pub use finding_id::{FindingId, UnknownFinding};
pub use gate::{
    ExactChange, FalseFailureShare, FloorSource, GateBenchmark, GateClock, GateRecord, GateRule,
    GateSide, GateVerdict, LeftOut, NullArm, NullArmRatio, Waiver,
};
pub use history::{
    CompareRecord, CompareSide, Drift, DriftSource, HistoryEnvironment, HistoryPoint,
    HistoryRecord, HistorySeries, NotCompared, StoreRecord, StoredComparison, StoredValue,
};
pub use imported::{ImportedEnvironment, ImportedRecord, ImportedRevision};
pub use job::{Job, JobRun, JobState, JobsRecord};
pub use machine::{
    CheckItem, CheckRecord, CheckReport, CheckState, Estimator, Fitness, Gaps, MachineHead,
    MachineIdentity, MachineRecord, NoiseFloor, ProbeResult, ProbeVerdict, SelfComparison,
};
pub use metric::{AskedMetric, Direction, Metric, Unit};
pub use parameters::{PLACE, distinguish, listed, pairs, with_parameters};
pub use paths::{CodePath, CodePaths, PathStep, PathsDifference, StepDifference};
pub use pipe::{
    AloneRuns, DelayedRounds, PipeBytesFrom, PipeConditions, PipeExplaining, PipeModel, PipeNote,
    PipeRecord, PipeRound, PipeStage, PipeState, PipeStretch, PipeSummary, StageRun, StageSummary,
    StagedInput, WhatIf,
};
pub use plan::{CatalogueRecord, CatalogueRow, PlanRecord, PlanStep};
pub use record::{
    BenchRecord, Benchmark, BenchmarkResult, Conditions, Floor, InputFrom, Outcome, OutputTo,
    RunOrder, SCHEMA_VERSION, StopReason, Warning,
};
pub use report::{
    Measurement, Report, ReportBenchmark, ReportComparison, ReportPoint, ReportSamples,
    ReportSeries,
};
pub use run::{CpuWaits, Exit, IoCounts, Run};
pub use sample::{Estimate, Summary};
pub use serve::{
    ColdStart, Doubt, HighestRate, Launch, ListeningBy, LoadResult, LoadRound, LoadSecond,
    Percentiles, RampLimit, RampResult, RampWindow, ServeBudget, ServeComparison, ServeConditions,
    ServeMetric, ServeRecord, ServedServer, ServerCalls, ServerWhy, SlowLaunch, Spread, TriedRate,
    WebSocketClient, WebSocketLink, WebSocketResult, WebSocketRound,
};
pub use startup::{
    Agreement, Budget, BudgetResult, ByCore, Cache, ColdBy, ColdEvidence, EvictedFile,
    FailedLookup, PhaseTime, StampedBy, StartupComparison, StartupConditions, StartupMetric,
    StartupPhase, StartupProgram, StartupRecord, StartupRun, StartupSummary, StartupTrace,
};
pub use versions::{ChosenBy, Version, VersionState, VersionStep, VersionsRecord};
pub use whereabouts::{CodePlace, ThreadRole, WhereRow, without_type_arguments};
