//! Whether a suite is worse at head than at base.

use serde::{Deserialize, Serialize};

use crate::{Environment, Estimate};

/// What `fathom gate` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `gate`.
    #[cfg_attr(test, schemars(extend("const" = "gate")))]
    pub kind: String,
    /// Version of Fathom that measured.
    pub fathom_version: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// The machine.
    pub environment: Environment,
    /// The job that it was made in, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// What is compared with.
    pub base: GateSide,
    /// What is judged.
    pub head: GateSide,
    /// By which rule.
    pub rule: GateRule,
    /// The answer for the suite.
    pub verdict: GateVerdict,
    /// One row for each benchmark and metric that was judged.
    pub benchmarks: Vec<GateBenchmark>,
    /// Counts and bytes that were the same in all base runs and differ at head, without a budget.
    pub exact_changes: Vec<ExactChange>,
    /// Base against itself.
    pub null_arm: NullArm,
    /// Benchmarks that were not judged.
    pub left_out: Vec<LeftOut>,
    /// What head changes in the gate's own settings; it doesn't apply yet.
    pub settings_changed: Vec<String>,
    /// Waivers that are no longer good, and other things that a reader must know.
    pub notes: Vec<String>,
    /// False if measuring was interrupted or failed: then the rest is what was known.
    pub complete: bool,
    /// Time of measuring, seconds.
    pub seconds: f64,
}

/// One side of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateSide {
    /// As it was asked for: a revision, `working tree`, or a command.
    pub name: String,
    /// Full id of the commit.
    pub revision: Option<String>,
}

/// The answer of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum GateVerdict {
    /// Worse by more than margin and noise floor, in screening and in confirmation; or over a budget.
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
    /// As in the JSON.
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
    /// Paired rounds, sequential, with a confirmation.
    Paired {
        /// Smallest change that counts, as a share, where no other is set for a benchmark.
        margin: f64,
        /// Whether `cannot tell` lets the suite pass.
        undecided_passes: bool,
    },
    /// The fastest of so many runs, and the geometric mean.
    BestOf {
        /// Largest regression of a benchmark, as a share.
        max_regression: f64,
        /// Largest regression of the geometric mean, as a share.
        max_geomean: f64,
        /// Runs of either side.
        best_of: u32,
        /// Benchmarks that can't fail alone.
        protected: Vec<String>,
        /// Geometric mean of the ratios.
        geomean: Option<f64>,
        /// How often it failed suites of base against itself that were drawn from this measurement.
        false_failures: Option<FalseFailureShare>,
    },
    /// What was measured before, by the rule of `compare`.
    Stored {
        /// Smallest change that counts, as a share.
        margin: f64,
        /// Whether `cannot tell` lets the suite pass.
        undecided_passes: bool,
    },
}

/// How often a rule failed identical code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FalseFailureShare {
    /// Suites that were drawn.
    pub suites: usize,
    /// Those that failed.
    pub failed: usize,
}

/// One benchmark's metric at base and head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateBenchmark {
    /// Name, with its parameters.
    pub name: String,
    /// The parameters alone.
    #[serde(default)]
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of its values: `seconds`, `bytes`, `count`, or another tool's; empty in earlier records.
    #[serde(default)]
    pub unit: String,
    /// More is better: a rate of another tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub higher_is_better: bool,
    /// Head / base; of the confirmation alone if there was one.
    pub ratio: Option<Estimate>,
    /// The answer.
    pub verdict: GateVerdict,
    /// Rounds, of two runs of base and one of head; of two commands two of each.
    pub rounds: usize,
    /// Those of them that confirmed.
    pub confirmation_rounds: usize,
    /// Smallest change that counts, as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// What a change had to exceed besides: the noise floor, as a share.
    pub floor: f64,
    /// Where the noise floor is from; absent where none was asked for.
    pub floor_source: Option<FloorSource>,
    /// Median at base, in the unit of the metric.
    pub base: Option<Estimate>,
    /// Median at head.
    pub head: Option<Estimate>,
    /// Medians by each clock that is known, whichever it was judged by.
    #[serde(default)]
    pub clocks: Vec<GateClock>,
    /// What the value may be at most, as the settings at base say it.
    pub budget: Option<String>,
    /// The waiver that lets it pass.
    pub waived: Option<Waiver>,
    /// Reasons, in sentences, and what would settle it.
    pub why: Vec<String>,
    /// What head takes more than base, in lines, the most first, for a benchmark that is worse; or
    /// why that is not known.
    #[serde(default)]
    pub difference: Vec<String>,
}

/// The medians of a benchmark by one clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateClock {
    /// Name of the metric.
    pub metric: String,
    /// Median at base, seconds.
    pub base: Estimate,
    /// Median at head.
    pub head: Estimate,
    /// Runs of head.
    pub runs: usize,
}

/// Where a noise floor is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum FloorSource {
    /// Base against its own copy in the rounds that were judged.
    NullArm,
    /// The same in earlier gates of this benchmark on this machine.
    History {
        /// So many.
        gates: usize,
    },
}

/// A known change that is let pass until a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waiver {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// The last day on which it is good, `2027-01-31`.
    pub until: String,
    /// Why.
    pub reason: String,
    /// The largest change that is let pass, as a share; absent where any is.
    #[serde(default)]
    pub at_most: Option<f64>,
}

/// A quantity that no noise touches, at base and at head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExactChange {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Name of the metric.
    pub metric: String,
    /// In all runs of base.
    pub base: f64,
    /// Least of the runs of head.
    pub head_low: f64,
    /// Most of the runs of head.
    pub head_high: f64,
}

/// What a program against itself showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NullArm {
    /// A program differed from itself by more than the margin: no verdict is given.
    pub failed: bool,
    /// By benchmark.
    pub benchmarks: Vec<NullArmRatio>,
}

/// One benchmark against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NullArmRatio {
    /// Name of the benchmark.
    pub name: String,
    /// Base's copy / base.
    pub ratio: Estimate,
}

/// A benchmark that was not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Name of the benchmark.
    pub name: String,
    /// Why.
    pub reason: String,
}
