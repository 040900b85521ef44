//! Whether a suite is worse at head than at base.

use serde::{Deserialize, Serialize};

use crate::{Environment, Estimate};

/// The result of `fathom gate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `gate`.
    #[cfg_attr(test, schemars(extend("const" = "gate")))]
    pub kind: String,
    /// The version of Fathom that measured.
    pub fathom_version: String,
    /// The start, RFC 3339, UTC.
    pub started_at: String,
    /// The environment of the measurement.
    pub environment: Environment,
    /// The job in which this record was made, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The side to compare with.
    pub base: GateSide,
    /// The side that is judged.
    pub head: GateSide,
    /// The rule of the judgment.
    pub rule: GateRule,
    /// The verdict on the suite.
    pub verdict: GateVerdict,
    /// One row for each judged benchmark and metric.
    pub benchmarks: Vec<GateBenchmark>,
    /// Counts and bytes that were the same in all base runs, differ at head, and have no budget.
    pub exact_changes: Vec<ExactChange>,
    /// The comparison of base with itself.
    pub null_arm: NullArm,
    /// Benchmarks that were not judged.
    pub left_out: Vec<LeftOut>,
    /// Changes that head makes to the gate's own settings; they don't apply yet.
    pub settings_changed: Vec<String>,
    /// Waivers that are no longer valid, and other notes for the reader.
    pub notes: Vec<String>,
    /// False if measuring was interrupted or failed: then the other fields hold what was known until then.
    pub complete: bool,
    /// The duration of measuring in seconds.
    pub seconds: f64,
}

/// One side of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateSide {
    /// As requested: a revision, `working tree`, or a command.
    pub name: String,
    /// The full id of the commit.
    pub revision: Option<String>,
}

/// The verdict of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum GateVerdict {
    /// Worse by more than the margin and the noise floor, in both screening and confirmation; or over a
    /// budget.
    #[serde(rename = "worse")]
    Worse,
    /// Not worse by more than the margin.
    #[serde(rename = "not worse")]
    NotWorse,
    /// Neither could be shown.
    #[serde(rename = "cannot tell")]
    CannotTell,
}

impl GateVerdict {
    /// Returns the word used in the JSON.
    pub fn word(self) -> &'static str {
        match self {
            GateVerdict::Worse => "worse",
            GateVerdict::NotWorse => "not worse",
            GateVerdict::CannotTell => "cannot tell",
        }
    }
}

/// How a gate judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum GateRule {
    /// Sequential paired rounds, with a confirmation.
    Paired {
        /// The smallest change that counts, as a share, unless a benchmark has its own.
        margin: f64,
        /// Whether the suite passes with `cannot tell`.
        undecided_passes: bool,
    },
    /// The fastest of several runs, and the geometric mean.
    BestOf {
        /// The largest permitted regression of a benchmark, as a share.
        max_regression: f64,
        /// The largest permitted regression of the geometric mean, as a share.
        max_geomean: f64,
        /// The number of runs on each side.
        best_of: u32,
        /// Benchmarks that can't make the suite fail on their own.
        protected: Vec<String>,
        /// The geometric mean of the ratios.
        geomean: Option<f64>,
        /// How often the rule failed suites that were drawn from this measurement and compare base with
        /// itself.
        false_failures: Option<FalseFailureShare>,
    },
    /// Earlier measurements, by the rule of `compare`.
    Stored {
        /// The smallest change that counts, as a share.
        margin: f64,
        /// Whether the suite passes with `cannot tell`.
        undecided_passes: bool,
    },
}

/// How often a rule failed identical code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FalseFailureShare {
    /// The number of suites drawn.
    pub suites: usize,
    /// The number of those that failed.
    pub failed: usize,
}

/// One benchmark's metric at base and head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateBenchmark {
    /// The name, with its parameters.
    pub name: String,
    /// The parameters alone.
    #[serde(default)]
    pub parameters: Vec<(String, String)>,
    /// The name of the metric.
    pub metric: String,
    /// The unit of its values: `seconds`, `bytes`, `count`, or another tool's; empty in earlier records.
    #[serde(default)]
    pub unit: String,
    /// Whether higher values are better, for a rate of another tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub higher_is_better: bool,
    /// Head / base; only from the confirmation if there was one.
    pub ratio: Option<Estimate>,
    /// The verdict.
    pub verdict: GateVerdict,
    /// The number of rounds. A round has two runs of base and one of head; for two commands, two runs of
    /// each.
    pub rounds: usize,
    /// The number of rounds that belong to the confirmation.
    pub confirmation_rounds: usize,
    /// The smallest change that counts, as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// The noise floor that a change had to exceed as well, as a share.
    pub floor: f64,
    /// The source of the noise floor; absent if none was requested.
    pub floor_source: Option<FloorSource>,
    /// The median at base, in the unit of the metric.
    pub base: Option<Estimate>,
    /// The median at head.
    pub head: Option<Estimate>,
    /// The medians by each known clock, whichever was used for the verdict.
    #[serde(default)]
    pub clocks: Vec<GateClock>,
    /// The maximum value, as the settings at base state it.
    pub budget: Option<String>,
    /// The waiver that permits the change.
    pub waived: Option<Waiver>,
    /// The reasons, in sentences, and what would settle the question.
    pub why: Vec<String>,
    /// For a benchmark that is worse: what head does in addition to base, as lines of text, largest first; or
    /// why that is unknown.
    #[serde(default)]
    pub difference: Vec<String>,
}

/// The medians of a benchmark on one clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateClock {
    /// The name of the metric.
    pub metric: String,
    /// The median at base, seconds.
    pub base: Estimate,
    /// The median at head.
    pub head: Estimate,
    /// The number of runs of head.
    pub runs: usize,
}

/// The source of a noise floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum FloorSource {
    /// Base against its own copy in the judged rounds.
    NullArm,
    /// Base against its own copy in earlier gates of this benchmark on this machine.
    History {
        /// The number of gates.
        gates: usize,
    },
}

/// A known change that is permitted until a given day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waiver {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The name of the metric.
    pub metric: String,
    /// The last day on which it is valid, `2027-01-31`.
    pub until: String,
    /// The reason.
    pub reason: String,
    /// The largest permitted change, as a share; absent if any change is permitted.
    #[serde(default)]
    pub at_most: Option<f64>,
}

/// A noise-free quantity, at base and at head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExactChange {
    /// The name of the benchmark.
    pub benchmark: String,
    /// The name of the metric.
    pub metric: String,
    /// The value in all runs of base.
    pub base: f64,
    /// The minimum over the runs of head.
    pub head_low: f64,
    /// The maximum over the runs of head.
    pub head_high: f64,
}

/// The result of comparing a program with itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NullArm {
    /// Whether a program differed from itself by more than the margin: then no verdict is given.
    pub failed: bool,
    /// The ratios by benchmark.
    pub benchmarks: Vec<NullArmRatio>,
}

/// One benchmark compared with itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NullArmRatio {
    /// The name of the benchmark.
    pub name: String,
    /// Base's copy / base.
    pub ratio: Estimate,
}

/// A benchmark that was not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The name of the benchmark.
    pub name: String,
    /// The reason.
    pub reason: String,
}
