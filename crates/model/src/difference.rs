//! What one command does in addition to another: the output of `fathom why 'A' 'B'` and its `--json`.

use serde::{Deserialize, Serialize};

use crate::{
    CodePlace, Environment, Estimate, Explaining, Finding, PathsDifference, TimeAccount,
    TimeCategory, TimedRuns,
};

/// The kind of part that a row of a difference describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DifferenceBy {
    /// A category of time.
    Category,
    /// A program that the commands start, with the whole wall time of its processes.
    Child,
    /// The system call in which the time was spent.
    Call,
    /// A function of the program's own code.
    Function,
    /// Categories that are each smaller than their interval, combined: `other_cpu_time` or `other_wait_time`.
    Together,
}

/// How often something happened in a run of A and of B.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceCount {
    /// `calls`, `page faults`, `processes`.
    #[cfg_attr(test, schemars(extend("enum" = ["calls", "page faults", "processes"])))]
    pub what: String,
    /// In a run of A.
    pub a: u64,
    /// In a run of B.
    pub b: u64,
}

/// A part of the difference in time, B minus A; negative if B takes less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceRow {
    /// A [`TimeCategory`] by its name in the JSON, or the name of a program, a call or a function; not
    /// trustworthy: escape it.
    pub part: String,
    /// `wall`: these rows and the unexplained rest add up to the difference of the wall times. Otherwise the
    /// `part` of the row that contains it.
    pub of: String,
    /// The kind of part.
    pub by: DifferenceBy,
    /// What the time was spent on; null for a child.
    pub category: Option<TimeCategory>,
    /// The file on which most of it was spent, or that contains the function; not trustworthy: escape it.
    pub file: Option<String>,
    /// For a function: the nearest function of the program's own code that called it; empty if unknown.
    #[serde(default)]
    pub callers: Vec<CodePlace>,
    /// B's time minus A's.
    pub milliseconds: f64,
    /// The lower end of its interval, which never contains 0. If the times alone don't exclude 0, the
    /// interval is based on counts: the additional calls of one command, each taking as long as the shortest
    /// or the longest of any observed run.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// How often it happened, if known.
    pub count: Option<DifferenceCount>,
}

impl DifferenceRow {
    /// Reports whether the interval excludes zero.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The value of `of` in the rows that add up.
pub const OF_WALL: &str = "wall";

/// By how much the wall times differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WallDifference {
    /// B's median wall time minus A's.
    pub milliseconds: f64,
    /// The lower end of the interval of the difference, by rounds.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The confidence level of both intervals, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub level: f64,
    /// The ratio of B's wall time to A's, by rounds.
    pub ratio: Estimate,
    /// The number of rounds in which both were timed.
    pub rounds: usize,
}

impl WallDifference {
    /// Reports whether the interval excludes zero.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The explanation of the difference between two medians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The difference itself.
    pub wall: WallDifference,
    /// Its parts, largest first, each followed by the rows it is divided into.
    pub rows: Vec<DifferenceRow>,
    /// The milliseconds of the difference that are in no row of the wall time.
    pub not_explained: f64,
    /// The unexplained part as a share of the longer median, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub not_explained_share: f64,
    /// A description of how the rows' intervals were computed.
    pub intervals: String,
}

impl Difference {
    /// Returns the rows that, with the unexplained rest, add up to the difference.
    pub fn parts(&self) -> impl Iterator<Item = &DifferenceRow> {
        self.rows.iter().filter(|row| row.of == OF_WALL)
    }
}

/// One of the two commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceCommand {
    /// The command as given.
    pub command: String,
    /// Its arguments, starting with the program.
    pub arguments: Vec<String>,
    /// A description of how its observed run ended; empty for success.
    pub end: String,
    /// The timed runs.
    pub timed: TimedRuns,
    /// The number of observed runs.
    pub observed_runs: usize,
    /// How the last observed run was made.
    pub observation: Explaining,
    /// Where the median wall time went: the mean over the observed runs.
    pub account: TimeAccount,
}

/// A finding that only one of the commands has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OnlyFinding {
    /// 0 for A, 1 for B.
    #[cfg_attr(test, schemars(range(max = 1)))]
    pub command: usize,
    /// The finding that the other command doesn't have.
    pub finding: Finding,
}

/// The complete record of `fathom why 'A' 'B'`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `difference`.
    #[cfg_attr(test, schemars(extend("const" = "difference")))]
    pub kind: String,
    /// Version of Fathom.
    pub fathom_version: String,
    /// The start, RFC 3339, UTC.
    pub started_at: String,
    /// The environment.
    pub environment: Environment,
    /// A and B.
    pub commands: Vec<DifferenceCommand>,
    /// The difference between B's time and A's, by part.
    pub difference: Difference,
    /// The call paths of both; empty if no stacks are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathsDifference>,
    /// Findings that only one of them has, ordered by the time that could be saved, most first.
    pub findings: Vec<OnlyFinding>,
    /// Warnings about how far the numbers can be trusted.
    pub warnings: Vec<String>,
}
