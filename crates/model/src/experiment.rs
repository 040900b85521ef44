//! The complete record of an experiment, as written by `fathom run --json`.

use serde::{Deserialize, Serialize};

use crate::{CpuWaits, Environment, Estimate, version1};

/// The kind of statement that a claim makes. Verdicts of different layers must not be mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The published figures, recomputed without measuring.
    Arithmetic,
    /// Counts of calls, bytes, allocations, instructions: they carry over between machines.
    Mechanism,
    /// The size of the effect.
    Size,
}

impl Layer {
    /// Returns the word used in the file.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Arithmetic => "arithmetic",
            Layer::Mechanism => "mechanism",
            Layer::Size => "size",
        }
    }
}

/// The verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// It holds here.
    Reproduced,
    /// The sign holds, the size differs.
    DirectionOnly,
    /// No effect was found where one was claimed.
    NotReproduced,
    /// The opposite was measured.
    Contradicted,
    /// The interval is too wide, or there are too few runs.
    Undecided,
    /// Something it needs is missing on this machine.
    NotRunnableHere,
    /// The claim contradicts itself or its published figures.
    IllPosed,
}

impl ClaimVerdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [ClaimVerdict; 7] = [
        ClaimVerdict::Reproduced,
        ClaimVerdict::DirectionOnly,
        ClaimVerdict::NotReproduced,
        ClaimVerdict::Contradicted,
        ClaimVerdict::Undecided,
        ClaimVerdict::NotRunnableHere,
        ClaimVerdict::IllPosed,
    ];

    /// Returns the words that are printed.
    pub fn name(self) -> &'static str {
        match self {
            ClaimVerdict::Reproduced => "reproduced",
            ClaimVerdict::DirectionOnly => "direction only",
            ClaimVerdict::NotReproduced => "not reproduced",
            ClaimVerdict::Contradicted => "contradicted",
            ClaimVerdict::Undecided => "undecided",
            ClaimVerdict::NotRunnableHere => "not runnable here",
            ClaimVerdict::IllPosed => "ill-posed",
        }
    }
}

/// The publication of a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// The title of the page or paper.
    pub title: String,
    /// The author or site.
    pub by: Option<String>,
    /// The year.
    pub year: Option<i64>,
    /// The URL.
    pub url: Option<String>,
    /// Ids of the published experiments that the file covers.
    pub rows: Vec<String>,
}

/// The published figures of a claim.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Published {
    /// The published number.
    pub value: Option<f64>,
    /// The unit; a plain number if absent.
    pub unit: Option<String>,
    /// Whether the number is a limit that any better value satisfies, rather than the size that was found.
    #[serde(default)]
    pub limit: bool,
    /// A description of the figures that it represents.
    pub figures: Option<String>,
    /// Where it was published, if not in the source of the file.
    pub source: Option<String>,
}

/// A quantity of a claim, as measured here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measured {
    /// The part of the claim that has this value, as written.
    pub what: String,
    /// The number with its interval, in `unit`; absent if the answer is text.
    pub estimate: Option<Estimate>,
    /// `s`, `B`, a rate such as `1/s`, a word, or empty for plain numbers.
    pub unit: String,
    /// The answer if it is not a number, such as the findings.
    pub text: Option<String>,
}

/// A combination of parameters, in the order of the file.
pub type Combination = Vec<(String, String)>;

/// The verdict for one combination of parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The parameters; empty if the claim depends on none.
    pub parameters: Combination,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// The reason: by how much it differs, or what is missing.
    pub reason: String,
    /// The measured quantities.
    pub measured: Vec<Measured>,
}

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClaimResult {
    /// The name.
    pub id: String,
    /// The text of the claim.
    pub text: String,
    /// The kind of statement.
    pub layer: Layer,
    /// The expression that was evaluated.
    pub holds: Option<String>,
    /// The published figures.
    pub published: Option<Published>,
    /// Whether the run fails if the claim doesn't hold.
    pub budget: bool,
    /// The verdict for the first value of each parameter.
    pub judged: Judged,
    /// The verdicts for the other combinations, if the claim depends on parameters.
    #[serde(rename = "with_other_parameters", alias = "elsewhere")]
    pub elsewhere: Vec<Judged>,
    /// The parameter values that change the verdict on their own, as `sink=file: not reproduced`.
    #[serde(rename = "verdict_changes", alias = "flips")]
    pub flips: Vec<String>,
    /// A note on the verdict.
    pub note: Option<String>,
}

/// An open question of the source, answered or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnswerResult {
    /// The question.
    pub question: String,
    /// The answer, if there is one.
    pub answer: Option<String>,
    /// `answered`, `open`, `not supported here` if a claim it rests on doesn't hold, or `not tested here` if
    /// one could not be judged.
    pub status: String,
    /// What was tried, if it is open.
    pub tried: Option<String>,
    /// The ids of the claims it rests on, with their verdicts here.
    pub evidence: Vec<(String, ClaimVerdict)>,
}

/// A chart: one metric over several subjects in a meaningful order, such as releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// The metric, as in the results.
    #[serde(deserialize_with = "version1::text")]
    pub metric: String,
    /// The subjects, from left to right.
    pub subjects: Vec<String>,
}

/// A program that the experiment needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The name in the file.
    pub name: String,
    /// The first line of its version output; absent if the program is missing.
    pub version: Option<String>,
    /// Why it counts as missing, and how to get it.
    pub missing: Option<String>,
    /// What is skipped without it.
    #[serde(rename = "needed_for", alias = "without")]
    pub without: Option<String>,
}

/// A measure and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasureResult {
    /// The name.
    pub id: String,
    /// The verb: `bench`, `why` and so on.
    pub how: String,
    /// Whether everything planned was measured.
    pub complete: bool,
    /// The duration in seconds.
    pub seconds: f64,
    /// Files with the evidence, relative to the work folder.
    pub records: Vec<String>,
    /// Problems, one sentence each.
    pub notes: Vec<String>,
}

/// One metric of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ResultRow {
    /// The measure.
    pub measure: String,
    /// The metric.
    #[serde(deserialize_with = "version1::text")]
    pub metric: String,
    /// The subject or stage; absent for values of the machine.
    pub subject: Option<String>,
    /// The parameters.
    pub parameters: Combination,
    /// Unit of the values.
    pub unit: String,
    /// Number of values.
    pub runs: usize,
    /// The median with its interval.
    pub median: Option<Estimate>,
}

/// The complete record of one run of an experiment file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExperimentRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `run`.
    #[cfg_attr(test, schemars(extend("const" = "run")))]
    pub kind: String,
    /// Version of Fathom.
    pub fathom_version: String,
    /// When the first measure began, RFC 3339, UTC; with `--resume`, this may be in an earlier run.
    pub started_at: String,
    /// The environment at that time.
    pub environment: Environment,
    /// The job in which this record was made, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The experiment file as given.
    pub file: String,
    /// SHA-256 of the file.
    pub file_sha256: String,
    /// The folder with the records of all measures.
    pub work_folder: String,
    /// The title.
    pub title: String,
    /// The question it asks.
    pub question: Option<String>,
    /// The publication of the result.
    pub source: Option<Source>,
    /// Whether the small set was run (`--quick`).
    pub quick: bool,
    /// False if it was interrupted, or if something that could be run failed.
    pub complete: bool,
    /// The duration in seconds.
    pub seconds: f64,
    /// How long the runs of `bench` and `value` waited for a CPU; absent if there were none.
    pub cpu_waits: Option<CpuWaits>,
    /// The programs that the experiment needs.
    pub tools: Vec<ToolResult>,
    /// The measures.
    pub measures: Vec<MeasureResult>,
    /// The measured values.
    pub results: Vec<ResultRow>,
    /// The verdicts.
    pub claims: Vec<ClaimResult>,
    /// The answers.
    pub answers: Vec<AnswerResult>,
    /// The charts of the results.
    #[serde(default)]
    pub pictures: Vec<Picture>,
    /// Warnings about how far the verdicts can be trusted.
    pub warnings: Vec<String>,
}
