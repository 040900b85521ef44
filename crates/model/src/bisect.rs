//! What `fathom bisect` says: the revision that changed a metric.

use serde::{Deserialize, Serialize};

use crate::{BenchRecord, Environment, Estimate, Metric, Verdict};

/// What came of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BisectVerdict {
    /// One revision is left, and it differs from its parent.
    Found,
    /// No revision can be named.
    Undecided,
    /// The ends are the same.
    NoDifference,
}

/// Why no revision can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BisectReason {
    /// Whether the ends differ is not known.
    Ends,
    /// To which end a revision is nearer is not known.
    Step,
    /// The revision that is left does not differ from its parent.
    NotConfirmed,
    /// All revisions that are left can't be built or run.
    NothingRuns,
    /// The metric is 0 or not known in one of them: there is no ratio.
    NoRatio,
    /// It was interrupted.
    Interrupted,
}

/// What is known of a revision that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestedState {
    /// Nearer to GOOD.
    Good,
    /// Nearer to BAD.
    Bad,
    /// To which is not known.
    Undecided,
    /// It can't be checked out, or its build failed.
    DoesNotBuild,
    /// The command can't be run on it, or fails.
    LeftOut,
}

/// A revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Commit {
    /// Full id.
    pub revision: String,
    /// When it was committed, RFC 3339.
    pub date: String,
    /// Who wrote it.
    pub author: String,
    /// First line of its message.
    pub subject: String,
}

/// A revision that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestedRevision {
    /// Which.
    #[serde(flatten)]
    pub commit: Commit,
    /// What is known of it.
    pub state: TestedState,
    /// Ratio to GOOD by round.
    pub ratio: Option<Estimate>,
    /// Rounds in which GOOD, BAD and it have a value.
    pub rounds: usize,
    /// Why it was not measured: the end of what its build or its run wrote.
    pub error: Option<String>,
}

/// The revision that changed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Culprit {
    /// Which.
    #[serde(flatten)]
    pub commit: Commit,
    /// Full id of the parent that it was compared with.
    pub parent: String,
    /// Ratio to that parent by round.
    pub ratio: Estimate,
}

/// BAD against GOOD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BisectEnds {
    /// Median of GOOD, in the metric's unit.
    pub good: Option<Estimate>,
    /// Median of BAD.
    pub bad: Option<Estimate>,
    /// Ratio BAD / GOOD by round.
    pub ratio: Estimate,
    /// What follows.
    pub verdict: Verdict,
    /// Rounds in which both have a value.
    pub rounds: usize,
}

/// Everything about a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BisectRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `bisect`.
    #[cfg_attr(test, schemars(extend("const" = "bisect")))]
    pub kind: String,
    /// Version of Fathom that measured.
    pub fathom_version: String,
    /// Start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// Where it was measured.
    pub environment: Environment,
    /// The job that it was made in, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The command as it was given.
    pub command: String,
    /// The command that builds each revision, if there is one.
    pub build: Option<String>,
    /// Top folder of the repository.
    pub repository: String,
    /// GOOD as it was given.
    pub good: String,
    /// BAD as it was given.
    pub bad: String,
    /// What was compared.
    pub metric: Metric,
    /// Revisions after GOOD up to BAD.
    pub candidates: usize,
    /// How often a search may name a wrong revision.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub error_rate: f64,
    /// What came of it.
    pub verdict: BisectVerdict,
    /// Why no revision can be named.
    pub reason: Option<BisectReason>,
    /// The revision that changed it.
    pub culprit: Option<Culprit>,
    /// BAD against GOOD; absent if that was not measured.
    pub ends: Option<BisectEnds>,
    /// What was tried between them, in order.
    pub tested: Vec<TestedRevision>,
    /// Full ids of the revisions that it still may be, where there is no culprit.
    pub remaining: Vec<String>,
    /// What the culprit takes more than its parent, in lines: the wall time in the rounds that the
    /// culprit's ratio is of, then its parts, the most first; or why that is not known.
    #[serde(default)]
    pub why: Vec<String>,
    /// Every run: the sessions, in order.
    pub sessions: Vec<BenchRecord>,
}
