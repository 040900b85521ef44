//! The result of `fathom versions`: one command over the versions of a program.

use serde::{Deserialize, Serialize};

use crate::{BenchRecord, Environment, Estimate, Metric, Verdict};

/// How the versions were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// The tags between both ends.
    Tags,
    /// Every n-th revision, following first parents at merges.
    Every,
    /// Installed versions, given by name.
    Named,
}

/// The outcome of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VersionState {
    /// It has an estimate.
    Measured,
    /// It can't be checked out, or its build failed.
    DoesNotBuild,
    /// The command can't be run on it, or fails.
    LeftOut,
}

/// One version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Version {
    /// The tag, the beginning of the revision id, or the given name.
    pub version: String,
    /// The full id of the revision; absent for installed versions.
    pub revision: Option<String>,
    /// When it was committed, RFC 3339.
    pub date: Option<String>,
    /// The first line of its message.
    pub subject: Option<String>,
    /// Its outcome.
    pub state: VersionState,
    /// Why it has no estimate: the end of the output of its build or its run.
    pub error: Option<String>,
    /// Its index among the benchmarks of [`VersionsRecord::measured`].
    pub benchmark: Option<usize>,
    /// The median of the compared metric, in its unit.
    pub estimate: Option<Estimate>,
    /// The ratio to the first measured version, by rounds.
    pub since_first: Option<Estimate>,
}

/// The step from one measured version to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionStep {
    /// The earlier version.
    pub from: String,
    /// The later version.
    pub to: String,
    /// The ratio later / earlier, by rounds.
    pub ratio: Estimate,
    /// The verdict; the error rate holds for all steps together.
    pub verdict: Verdict,
    /// The number of rounds in which both have a value.
    pub rounds: usize,
}

/// The complete record of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionsRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `versions`.
    #[cfg_attr(test, schemars(extend("const" = "versions")))]
    pub kind: String,
    /// The version of Fathom that measured.
    pub fathom_version: String,
    /// The start of the session, RFC 3339, UTC.
    pub started_at: String,
    /// The environment of the measurement.
    pub environment: Environment,
    /// The job in which this record was made, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The command as given.
    pub command: String,
    /// The command that builds each version, if any.
    pub build: Option<String>,
    /// The top folder of the repository; absent for installed versions.
    pub repository: Option<String>,
    /// How the versions were chosen.
    pub chosen_by: ChosenBy,
    /// The step between the chosen revisions; absent unless every n-th revision was chosen.
    pub every: Option<u32>,
    /// The compared metric.
    pub metric: Metric,
    /// False if measuring was cut short.
    pub complete: bool,
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// The steps between neighboring measured versions.
    pub steps: Vec<VersionStep>,
    /// Notes on the result.
    pub notes: Vec<String>,
    /// The record with every run; its benchmarks are the measured versions.
    pub measured: Option<BenchRecord>,
}
