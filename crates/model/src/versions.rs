//! What `fathom versions` says: one command over the versions of a program.

use serde::{Deserialize, Serialize};

use crate::{BenchRecord, Environment, Estimate, Metric, Verdict};

/// How the versions were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// Tags between both ends.
    Tags,
    /// Every n-th revision, of merges the side that was merged into.
    Every,
    /// Installed versions that were named.
    Named,
}

/// What became of a version.
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
    /// Tag, the beginning of the revision, or the name that was given.
    pub version: String,
    /// Full id of the revision; absent for installed versions.
    pub revision: Option<String>,
    /// When it was committed, RFC 3339.
    pub date: Option<String>,
    /// First line of its message.
    pub subject: Option<String>,
    /// What became of it.
    pub state: VersionState,
    /// Why it has no estimate: the end of what its build or its run wrote.
    pub error: Option<String>,
    /// Its index among the benchmarks of [`VersionsRecord::measured`].
    pub benchmark: Option<usize>,
    /// Median of the metric that was compared, in its unit.
    pub estimate: Option<Estimate>,
    /// Ratio to the first version that was measured, by round.
    pub since_first: Option<Estimate>,
}

/// From one version that was measured to the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionStep {
    /// The earlier version.
    pub from: String,
    /// The later version.
    pub to: String,
    /// Ratio later / earlier by round.
    pub ratio: Estimate,
    /// What follows; all steps together keep the error rate.
    pub verdict: Verdict,
    /// Rounds in which both have a value.
    pub rounds: usize,
}

/// Everything about a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionsRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `versions`.
    #[cfg_attr(test, schemars(extend("const" = "versions")))]
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
    /// The command that builds each version, if there is one.
    pub build: Option<String>,
    /// Top folder of the repository; absent for installed versions.
    pub repository: Option<String>,
    /// How the versions were chosen.
    pub chosen_by: ChosenBy,
    /// Every how many-th revision, if that is how.
    pub every: Option<u32>,
    /// What was compared.
    pub metric: Metric,
    /// False if measuring was cut short.
    pub complete: bool,
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// Steps between neighbours that were measured.
    pub steps: Vec<VersionStep>,
    /// What must be known of it.
    pub notes: Vec<String>,
    /// Every run: the versions that were measured are its benchmarks.
    pub measured: Option<BenchRecord>,
}
