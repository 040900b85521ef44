//! The complete record of an experiment: what `fathom run --json` writes.

use serde::{Deserialize, Serialize};

use crate::{CpuWaits, Environment, Estimate, version1};

/// Which kind of statement a claim is. Verdicts of different layers are not to be mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The published figures, recomputed: no measuring.
    Arithmetic,
    /// Counts of calls, bytes, allocations, instructions: they carry over between machines.
    Mechanism,
    /// How large the effect is.
    Size,
}

impl Layer {
    /// The word of the file.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Arithmetic => "arithmetic",
            Layer::Mechanism => "mechanism",
            Layer::Size => "size",
        }
    }
}

/// What is said of a claim.
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
    /// Something that it needs is missing on this machine.
    NotRunnableHere,
    /// The claim contradicts itself or its published figures.
    IllPosed,
}

impl ClaimVerdict {
    /// All, in the order in which they are counted.
    pub const ALL: [ClaimVerdict; 7] = [
        ClaimVerdict::Reproduced,
        ClaimVerdict::DirectionOnly,
        ClaimVerdict::NotReproduced,
        ClaimVerdict::Contradicted,
        ClaimVerdict::Undecided,
        ClaimVerdict::NotRunnableHere,
        ClaimVerdict::IllPosed,
    ];

    /// The words that are printed.
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

/// Where a result was published.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// Title of the page or paper.
    pub title: String,
    /// Author or site.
    pub by: Option<String>,
    /// Year.
    pub year: Option<i64>,
    /// Address.
    pub url: Option<String>,
    /// Ids of the published experiments that the file covers.
    pub rows: Vec<String>,
}

/// What was published for a claim.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Published {
    /// The number.
    pub value: Option<f64>,
    /// Its unit; a plain number if absent.
    pub unit: Option<String>,
    /// Whether the number is a limit that any better one keeps, and not the size that was found.
    #[serde(default)]
    pub limit: bool,
    /// The figures that it stands for, in words.
    pub figures: Option<String>,
    /// Where it stands, if not in the source of the file.
    pub source: Option<String>,
}

/// A quantity of a claim as it was found here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measured {
    /// The part of the claim that it is the value of, as it was written.
    pub what: String,
    /// The number with its interval, in `unit`; absent where the answer is a text.
    pub estimate: Option<Estimate>,
    /// `s`, `B`, a rate such as `1/s`, a word, or empty for plain numbers.
    pub unit: String,
    /// The answer where it is not a number, such as the findings.
    pub text: Option<String>,
}

/// A combination of parameters, in the order of the file.
pub type Combination = Vec<(String, String)>;

/// The verdict under one combination of parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The parameters; empty if the claim depends on none.
    pub parameters: Combination,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Why, in words: by how much it differs, what is missing.
    pub reason: String,
    /// What was found.
    pub measured: Vec<Measured>,
}

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClaimResult {
    /// Name.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// What kind of statement it is.
    pub layer: Layer,
    /// The expression that was judged.
    pub holds: Option<String>,
    /// What was published.
    pub published: Option<Published>,
    /// Whether the run fails if it does not hold.
    pub budget: bool,
    /// Under the first value of each parameter.
    pub judged: Judged,
    /// Under the other combinations, where the claim depends on parameters.
    #[serde(rename = "with_other_parameters", alias = "elsewhere")]
    pub elsewhere: Vec<Judged>,
    /// The parameter values that alone change the verdict, as `sink=file: not reproduced`.
    #[serde(rename = "verdict_changes", alias = "flips")]
    pub flips: Vec<String>,
    /// What must be known beside the verdict.
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
    /// `answered`, `open`, `not supported here` where a claim that it rests on does not hold, or
    /// `not tested here` where one could not be judged.
    pub status: String,
    /// What was tried, where it is open.
    pub tried: Option<String>,
    /// Ids of the claims that it rests on, with their verdicts here.
    pub evidence: Vec<(String, ClaimVerdict)>,
}

/// A drawing: one metric over several subjects in an order that means something, such as releases.
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
    /// Name in the file.
    pub name: String,
    /// The first line of what it says of itself; absent if it is missing.
    pub version: Option<String>,
    /// Why it counts as missing, and how to get it.
    pub missing: Option<String>,
    /// What is not done without it.
    #[serde(rename = "needed_for", alias = "without")]
    pub without: Option<String>,
}

/// A measure and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeasureResult {
    /// Name.
    pub id: String,
    /// `bench`, `why` and so on.
    pub how: String,
    /// Whether everything that was to be measured was.
    pub complete: bool,
    /// Seconds that it took.
    pub seconds: f64,
    /// Files with the evidence, from the work folder.
    pub records: Vec<String>,
    /// What went wrong, one sentence each.
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
    /// Under which parameters.
    pub parameters: Combination,
    /// Unit of the values.
    pub unit: String,
    /// Number of values.
    pub runs: usize,
    /// Median with its interval.
    pub median: Option<Estimate>,
}

/// Everything about one run of an experiment file.
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
    /// When the first of its measures was begun, with `--resume` in an earlier run; RFC 3339, UTC.
    pub started_at: String,
    /// Where that was.
    pub environment: Environment,
    /// The job that it was made in, with `--on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::JobRun>,
    /// The experiment file as it was given.
    pub file: String,
    /// SHA-256 of the file.
    pub file_sha256: String,
    /// The folder with the records of all measures.
    pub work_folder: String,
    /// What it is about.
    pub title: String,
    /// The question that it asks.
    pub question: Option<String>,
    /// Where the result was published.
    pub source: Option<Source>,
    /// Whether the small set was run (`--quick`).
    pub quick: bool,
    /// False when it was interrupted, or when something that could be run failed.
    pub complete: bool,
    /// Seconds that it took.
    pub seconds: f64,
    /// What the runs of `bench` and `value` waited for a CPU; absent if there were none.
    pub cpu_waits: Option<CpuWaits>,
    /// Programs that it needs.
    pub tools: Vec<ToolResult>,
    /// What was measured.
    pub measures: Vec<MeasureResult>,
    /// The numbers.
    pub results: Vec<ResultRow>,
    /// The verdicts.
    pub claims: Vec<ClaimResult>,
    /// The answers.
    pub answers: Vec<AnswerResult>,
    /// What is drawn of the results.
    #[serde(default)]
    pub pictures: Vec<Picture>,
    /// What must be known to trust the verdicts.
    pub warnings: Vec<String>,
}
