//! What one command takes more than another: what `fathom why 'A' 'B'` says and its `--json`
//! writes.

use serde::{Deserialize, Serialize};

use crate::{
    CodePlace, Environment, Estimate, Explaining, Finding, PathsDifference, TimeAccount,
    TimeCategory, TimedRuns,
};

/// What a row of a difference divides the time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DifferenceBy {
    /// What the time was spent on.
    Category,
    /// A program that the two commands start so many times: everything that the wall time has of
    /// its processes.
    Child,
    /// The system call that the time was spent in.
    Call,
    /// The function of the program's own code.
    Function,
    /// Categories of which each by itself is smaller than its interval allows, together:
    /// `other_cpu_time` or `other_wait_time`.
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

/// A part of what B takes more than A; less than nothing where B takes less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceRow {
    /// A [`TimeCategory`] by its name in the JSON, or the name of a program, of a call or of a
    /// function; not trustworthy: escape it.
    pub part: String,
    /// `wall`: these rows and what is not explained add up to the difference of the wall times. Else
    /// the `part` of the row that it is a part of.
    pub of: String,
    /// What the row divides by.
    pub by: DifferenceBy,
    /// On what the time was spent; null for a child.
    pub category: Option<TimeCategory>,
    /// The file that most of it is on, or that the function is from; not trustworthy: escape it.
    pub file: Option<String>,
    /// Of a function: the nearest function of the program's own code that it was called from; empty
    /// where that isn't known.
    #[serde(default)]
    pub callers: Vec<CodePlace>,
    /// B's time less A's.
    pub milliseconds: f64,
    /// Lower end of its interval, which never holds 0. Where times alone don't say that much, it is by counts: as
    /// many calls as one command makes more, each as long as the shortest and as the longest of any observed run.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// How often it happened, where that is known.
    pub count: Option<DifferenceCount>,
}

impl DifferenceRow {
    /// Whether the interval leaves out that there is no difference.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// What `of` is in the rows that add up.
pub const OF_WALL: &str = "wall";

/// By how much the wall times differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WallDifference {
    /// B's median wall time less A's.
    pub milliseconds: f64,
    /// Lower end of the interval of the difference, by rounds.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Level of both intervals, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub level: f64,
    /// How many times as long B takes, by rounds.
    pub ratio: Estimate,
    /// Rounds that both were timed in.
    pub rounds: usize,
}

impl WallDifference {
    /// Whether the interval leaves out that there is none.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Where the difference of two medians is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The difference itself.
    pub wall: WallDifference,
    /// Its parts, the largest first, each followed by the rows that it is divided into.
    pub rows: Vec<DifferenceRow>,
    /// Milliseconds of the difference that are in no row of the wall time.
    pub not_explained: f64,
    /// The same as a share of the longer median, 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub not_explained_share: f64,
    /// How the rows' intervals came about, in words.
    pub intervals: String,
}

impl Difference {
    /// The rows that add up to the difference, together with what is not explained.
    pub fn parts(&self) -> impl Iterator<Item = &DifferenceRow> {
        self.rows.iter().filter(|row| row.of == OF_WALL)
    }
}

/// One of the two commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DifferenceCommand {
    /// The command as it was given.
    pub command: String,
    /// Its arguments, program first.
    pub arguments: Vec<String>,
    /// How its observed run ended, in words; empty for success.
    pub end: String,
    /// The runs that were timed.
    pub timed: TimedRuns,
    /// Runs that were observed.
    pub observed_runs: usize,
    /// How the last of them was observed.
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
    /// What it has and the other has not.
    pub finding: Finding,
}

/// Everything that `fathom why 'A' 'B'` says.
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
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Where.
    pub environment: Environment,
    /// A and B.
    pub commands: Vec<DifferenceCommand>,
    /// What B takes more.
    pub difference: Difference,
    /// The ways through the code of both; none where no stacks are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathsDifference>,
    /// Findings that only one of them has, by the time that could be saved, most first.
    pub findings: Vec<OnlyFinding>,
    /// What must be known to trust the numbers.
    pub warnings: Vec<String>,
}
