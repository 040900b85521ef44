//! The result of `fathom bisect`: the revision that changed a metric.

use serde::{Deserialize, Serialize};

use crate::{BenchRecord, Environment, Estimate, Metric, Verdict};

/// The result of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BisectVerdict {
    /// One revision is left, and it differs from its parent.
    Found,
    /// No revision can be named.
    Undecided,
    /// GOOD and BAD are the same.
    NoDifference,
}

/// Why no revision can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BisectReason {
    /// It is unknown whether GOOD and BAD differ.
    Ends,
    /// It is unknown to which end a revision is nearer.
    Step,
    /// The remaining revision doesn't differ from its parent.
    NotConfirmed,
    /// None of the remaining revisions can be built or run.
    NothingRuns,
    /// The metric is 0 or unknown for one of the compared revisions, so there is no ratio.
    NoRatio,
    /// The search was interrupted.
    Interrupted,
}

/// The state of a revision that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestedState {
    /// Nearer to GOOD.
    Good,
    /// Nearer to BAD.
    Bad,
    /// It is unknown to which end it is nearer.
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
    /// The author.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
}

/// A revision that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestedRevision {
    /// The revision.
    #[serde(flatten)]
    pub commit: Commit,
    /// Its state.
    pub state: TestedState,
    /// The ratio to GOOD, by rounds.
    pub ratio: Option<Estimate>,
    /// The number of rounds in which GOOD, BAD and this revision have a value.
    pub rounds: usize,
    /// Why it was not measured: the end of the output of its build or its run.
    pub error: Option<String>,
}

/// The revision that changed the metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Culprit {
    /// The revision.
    #[serde(flatten)]
    pub commit: Commit,
    /// The full id of the parent with which it was compared.
    pub parent: String,
    /// The ratio to that parent, by rounds.
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
    /// The ratio BAD / GOOD, by rounds.
    pub ratio: Estimate,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of rounds in which both have a value.
    pub rounds: usize,
}

/// The complete record of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BisectRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `bisect`.
    #[cfg_attr(test, schemars(extend("const" = "bisect")))]
    pub kind: String,
    /// The version of Fathom that measured.
    pub fathom_version: String,
    /// The start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// Where it was measured.
    pub environment: Environment,
    /// The job in which this record was made, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The command as given.
    pub command: String,
    /// The command that builds each revision, if any.
    pub build: Option<String>,
    /// The top folder of the repository.
    pub repository: String,
    /// GOOD as given.
    pub good: String,
    /// BAD as given.
    pub bad: String,
    /// The compared metric.
    pub metric: Metric,
    /// The number of revisions after GOOD up to BAD.
    pub candidates: usize,
    /// How often a search may name the wrong revision.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub error_rate: f64,
    /// The result of the search.
    pub verdict: BisectVerdict,
    /// Why no revision can be named.
    pub reason: Option<BisectReason>,
    /// The revision that changed the metric.
    pub culprit: Option<Culprit>,
    /// BAD against GOOD; absent if it was not measured.
    pub ends: Option<BisectEnds>,
    /// The revisions tried between them, in order.
    pub tested: Vec<TestedRevision>,
    /// Full ids of the revisions that can still be the culprit, if none was found.
    pub remaining: Vec<String>,
    /// What the culprit does in addition to its parent, as lines of text: the wall time in the rounds behind
    /// the culprit's ratio, then its parts, largest first; or why that is unknown.
    #[serde(default)]
    pub why: Vec<String>,
    /// The sessions in order, with every run.
    pub sessions: Vec<BenchRecord>,
}
