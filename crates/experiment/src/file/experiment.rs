//! An experiment as written in the file.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use fathom_model::{Layer, Metric, Published, Source};
use serde::Deserialize;

use super::fleet::FleetKeys;
use super::gate::GateKeys;
pub use super::gate::GateSettings;
use super::leaf::{
    Expression, Given, Hex, Lists, Metrics, NumberPattern, Parameters, PathsByName, Pattern,
    Positive, Quick, Several, Size, Texts, TextsByName, Time, UnitOf, Version, Whole,
};
pub use super::leaf::{Formula, MetricOf, Only};
use super::problem::Located;
#[cfg(test)]
use super::schema::NoDefault as _;
use super::shape::{Listed, Named, Part};
use super::source::{PublishedKeys, SourceKeys};
use crate::unit::{self, Unit};

/// The file format of `fathom run`. See docs/experiments.md.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "an experiment file")]
pub struct Experiment {
    /// Path of the file.
    #[serde(skip)]
    pub path: PathBuf,
    /// The file's text.
    #[serde(skip)]
    pub text: String,
    /// Version of the format.
    #[serde(with = "Version")]
    pub schema_version: (),
    /// The subject of the experiment.
    pub title: String,
    /// The question that the experiment asks.
    pub question: Option<String>,
    /// Where the result was published.
    #[serde(default, with = "SourceKeys")]
    pub source: Option<Source>,
    /// Time limit for measuring; builds don't count.
    #[serde(default, with = "Time")]
    pub time_budget: Option<Duration>,
    /// Programs that must be available.
    #[serde(default, with = "Named::<Tool>")]
    pub tools: Vec<Tool>,
    /// Files that are staged before measuring.
    #[serde(default, with = "Named::<Input>")]
    pub inputs: Vec<Input>,
    /// Builds that are made before measuring.
    #[serde(default, with = "Named::<Build>")]
    pub builds: Vec<Build>,
    /// Free variables; `quick` contains the values for --quick.
    #[serde(default, rename = "parameters", with = "Parameters")]
    pub given: Vec<(Located<String>, Given)>,
    /// The parameters, each with both sets of values.
    #[serde(skip)]
    pub parameters: Vec<Parameter>,
    /// The programs that are run.
    #[serde(default, with = "Named::<Subject>")]
    pub subjects: Vec<Subject>,
    /// How the subjects are measured.
    #[serde(default, with = "Listed::<Measure>", rename = "measure")]
    pub measures: Vec<Measure>,
    /// A claim and how it is judged.
    #[serde(default, with = "Listed::<Claim>")]
    pub claims: Vec<Claim>,
    /// Open questions.
    #[serde(default, with = "Listed::<Answer>")]
    pub answers: Vec<Answer>,
    /// Diagrams.
    #[serde(default, with = "Listed::<Picture>")]
    pub pictures: Vec<Picture>,
    /// What `fathom gate` requires of a change. It is read from base.
    #[serde(default, rename = "gate")]
    pub gate_keys: GateKeys,
    /// The settings of `gate`, with parsed budgets and waivers.
    #[serde(skip)]
    pub gate: GateSettings,
    /// The engine to which `--on` submits jobs.
    pub fleet: Option<FleetKeys>,
}

/// The package manager that provides a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// Debian and derivatives: `apt-get download`, unpacked
    Apt,
    /// `cargo install --root`
    Cargo,
    /// `npm install --prefix`
    Npm,
    /// `pip install` in a virtual environment
    Pypi,
    /// `go install`
    Go,
}

impl Registry {
    /// All registries with their keys.
    pub const ALL: [(Registry, &'static str); 5] = [
        (Registry::Apt, "apt"),
        (Registry::Cargo, "cargo"),
        (Registry::Npm, "npm"),
        (Registry::Pypi, "pypi"),
        (Registry::Go, "go"),
    ];

    /// The key in the file.
    pub fn key(self) -> &'static str {
        Registry::ALL
            .iter()
            .find(|(registry, _)| *registry == self)
            .map_or("", |(_, key)| key)
    }
}

/// A program that must be available.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a tool")]
pub struct Tool {
    /// Name.
    #[serde(skip)]
    pub name: Located<String>,
    /// A command that succeeds if the tool is available; the first line of its output is the version.
    pub check: Located<String>,
    /// Packages, as name@version, from the system's package manager (root only).
    #[serde(default, with = "Texts")]
    pub apt: Vec<Located<String>>,
    /// Packages, as name@version, from the Rust registry; ./FOLDER is a crate in the experiment's folder
    /// whose dependencies come from there.
    #[serde(default, with = "Texts")]
    pub cargo: Vec<Located<String>>,
    /// Packages, as name@version, from npm.
    #[serde(default, with = "Texts")]
    pub npm: Vec<Located<String>>,
    /// Packages, as name@version, from PyPI.
    #[serde(default, with = "Texts")]
    pub pypi: Vec<Located<String>>,
    /// Packages, as name@version, from the Go module proxy.
    #[serde(default, with = "Texts")]
    pub go: Vec<Located<String>>,
    /// The registry, and its packages.
    #[serde(skip)]
    pub packages: Option<(Registry, Vec<String>)>,
    /// What is skipped without the tool.
    pub without: Option<String>,
    /// How to get the tool if no package manager provides it.
    pub hint: Option<String>,
}

/// The way in which an input is produced.
#[derive(Debug, Clone)]
pub enum Content {
    /// Literal bytes.
    Bytes(Vec<u8>),
    /// A file in the experiment's folder.
    File(Located<String>),
    /// The standard output of a command.
    Generated(Located<String>),
}

impl Default for Content {
    fn default() -> Content {
        Content::Bytes(Vec::new())
    }
}

/// A file that is staged before anything is measured.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "an input")]
pub struct Input {
    /// Name.
    #[serde(skip)]
    pub name: Located<String>,
    /// The content.
    pub text: Option<String>,
    /// The content in hexadecimal digits.
    #[serde(default, with = "Hex")]
    pub hex: Option<Vec<u8>>,
    /// A file in the experiment's folder.
    pub file: Option<Located<String>>,
    /// A command that writes the content to standard output; it may use {seed} and {size}.
    pub generate: Option<Located<String>>,
    /// How the input is produced.
    #[serde(skip)]
    pub content: Content,
    /// The {seed} for the generator; 1 if absent.
    #[serde(default = "first_seed", with = "Whole")]
    pub seed: u64,
    /// The {size} for the generator; also the length to which text, hex and file are repeated.
    #[serde(default, with = "Size")]
    pub size: Option<u64>,
    /// The same size with --quick.
    #[serde(default, with = "Size")]
    pub quick_size: Option<u64>,
    /// Builds and tools that the generator needs.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
}

/// Something that is built once, before anything is measured.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a build")]
pub struct Build {
    /// Name.
    #[serde(skip)]
    pub name: Located<String>,
    /// The command. It is split into words like a shell command, but run without a shell. It may contain
    /// placeholders in braces.
    pub command: Located<String>,
    /// Tools and other builds that the build needs. Its own name means the tool of that name.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// Working directory, relative to the experiment's folder.
    pub cwd: Option<Located<String>>,
    /// Variables added to the environment.
    #[serde(default, with = "TextsByName")]
    pub env: Vec<(Located<String>, Located<String>)>,
    /// Time limit.
    #[serde(default, with = "Time")]
    pub timeout: Option<Duration>,
}

/// A free variable.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name.
    pub name: Located<String>,
    /// The values; verdicts are given for the first.
    pub values: Vec<String>,
    /// The values for `--quick`, which need not be among `values`.
    pub quick: Option<Vec<String>>,
}

impl Parameter {
    /// Returns every value of both sets.
    pub fn all_values(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.values.iter().map(String::as_str).collect();
        for value in self.quick.iter().flatten() {
            if !all.contains(&value.as_str()) {
                all.push(value);
            }
        }
        all
    }
}

/// A program that is measured.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a subject")]
pub struct Subject {
    /// Name.
    #[serde(skip)]
    pub name: Located<String>,
    /// The command. It is split into words like a shell command, but run without a shell. It may contain
    /// placeholders in braces.
    pub command: Located<String>,
    /// Name of a staged input for standard input; /dev/null if absent.
    pub input: Option<Located<String>>,
    /// Where standard output goes: `null` (if absent), `pipe` or `file`.
    pub output: Option<Located<String>>,
    /// Variables added to the environment.
    #[serde(default, with = "TextsByName")]
    pub env: Vec<(Located<String>, Located<String>)>,
    /// Working directory, relative to the experiment's folder.
    pub cwd: Option<Located<String>>,
    /// The language in which the program is written.
    pub language: Option<String>,
    /// The subject of which this is a variant.
    pub variant_of: Option<Located<String>>,
    /// Builds and tools that the subject needs; without them, its claims can't be run here.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// Time limit of a run.
    #[serde(default, with = "Time")]
    pub timeout: Option<Duration>,
    /// Whether a failing run counts as a result.
    #[serde(default)]
    pub may_fail: bool,
    /// Parameter values to which it is restricted.
    #[serde(default, with = "Lists")]
    pub only: Only,
}

/// The method of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "way to measure")]
pub enum How {
    /// `fathom bench`
    Bench,
    /// `fathom why`
    Why,
    /// `fathom startup`
    Startup,
    /// `fathom serve`
    Serve,
    /// `fathom pipe`
    Pipe,
    /// `fathom machine`
    Machine,
    /// Reads numbers that the program prints.
    Value,
    /// Reads sizes and counts without running subjects.
    Static,
}

impl How {
    /// All methods with their keywords.
    pub const ALL: [(How, &'static str); 8] = [
        (How::Bench, "bench"),
        (How::Why, "why"),
        (How::Startup, "startup"),
        (How::Serve, "serve"),
        (How::Pipe, "pipe"),
        (How::Machine, "machine"),
        (How::Value, "value"),
        (How::Static, "static"),
    ];

    /// Returns the keyword in the file.
    pub fn name(self) -> &'static str {
        How::ALL
            .iter()
            .find(|(how, _)| *how == self)
            .map_or("", |(_, name)| name)
    }

    /// Returns whether this method runs subjects.
    pub fn has_subjects(self) -> bool {
        matches!(
            self,
            How::Bench | How::Why | How::Startup | How::Serve | How::Value
        )
    }
}

/// Which of a pattern's matches is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "way of choosing a match")]
pub enum Take {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum of all matches.
    Sum,
}

/// Which direction is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "direction")]
pub enum Better {
    /// Lower values are better.
    #[default]
    Lower,
    /// Higher values are better.
    Higher,
}

/// The stream that a pattern searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "stream")]
pub enum From {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
}

/// A number that a program prints.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a value")]
pub struct Value {
    /// Name of the metric.
    #[serde(skip)]
    pub name: Located<String>,
    /// A regular expression with one group around the number.
    #[serde(with = "NumberPattern")]
    pub pattern: regex_lite::Regex,
    /// The stream in which it appears.
    #[serde(default)]
    pub from: From,
    /// Its unit, such as us, KiB, GB/s, ops/s, and the factor that converts a number to base units.
    #[serde(default = "plain_number", with = "UnitOf")]
    pub unit: (Unit, f64),
    /// Which direction is better.
    #[serde(default)]
    pub better: Better,
    /// Which match is used.
    #[serde(default)]
    pub take: Take,
}

/// A count of a pattern in a command's output.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a count")]
pub struct Count {
    /// Name, used like that of a subject.
    #[serde(skip)]
    pub name: Located<String>,
    /// The command. It is split into words like a shell command, but run without a shell. It may contain
    /// placeholders in braces.
    pub command: Located<String>,
    /// A regular expression.
    #[serde(with = "Pattern")]
    pub pattern: regex_lite::Regex,
    /// The stream to search.
    #[serde(default)]
    pub from: From,
    /// Builds and tools that it needs.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
}

/// How subjects are measured.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a measure")]
pub struct Measure {
    /// Name; the value of `how` if absent.
    #[serde(default)]
    pub id: Located<String>,
    /// The method.
    pub how: How,
    /// Names of the measured subjects; all if absent.
    #[serde(default, with = "Texts")]
    pub subjects: Vec<Located<String>>,
    /// Number of rounds; 20 if absent, 5 for `why`.
    #[serde(default, with = "Positive")]
    pub rounds: u64,
    /// Number of rounds with --quick; at most 10 if absent.
    #[serde(default, with = "Quick")]
    pub quick_rounds: Option<u64>,
    /// Number of warm-up rounds.
    #[serde(default, with = "Whole")]
    pub warmup: u64,
    /// Whether it belongs to the quick set; true if absent.
    #[serde(default = "yes")]
    pub quick: bool,
    /// Whether rounds are added, up to four times as many, while a claim that depends on them is undecided;
    /// true if absent (bench, value, startup; not with --quick).
    #[serde(default = "yes")]
    pub until_decided: bool,
    /// The judged metrics, such as ["peak_memory=5%", "wall"]; time if absent. A subject's name alone means
    /// the first one. Only for bench.
    #[serde(default, with = "Metrics")]
    pub metrics: Vec<MetricOf>,
    /// Time limit of a run.
    #[serde(default, with = "Time")]
    pub timeout: Option<Duration>,
    /// Parameter values to which it is restricted.
    #[serde(default, with = "Lists")]
    pub only: Only,
    /// Numbers that programs print.
    #[serde(default, with = "Named::<Value>")]
    pub values: Vec<Value>,
    /// The commands of a pipeline.
    #[serde(default, with = "Several")]
    pub stages: Vec<Located<String>>,
    /// Names of the stages.
    #[serde(default, with = "Several")]
    pub names: Vec<Located<String>>,
    /// Files whose size is measured: size.NAME.
    #[serde(default, with = "PathsByName")]
    pub files: Vec<(Located<String>, Located<String>)>,
    /// Patterns whose matches are counted.
    #[serde(default, with = "Named::<Count>")]
    pub counts: Vec<Count>,
    /// Cache states: `warm`, `cold`
    #[serde(default, with = "Texts")]
    pub cache: Vec<Located<String>>,
    /// Numbers of connections of closed loops, such as 1, 16, 64, or websocket; launches are measured if
    /// absent. Only for serve.
    #[serde(default, with = "Texts")]
    pub load: Vec<Located<String>>,
    /// The path requested from servers; / if absent. Only for serve.
    pub path: Option<String>,
    /// Whether clients offer to compress their WebSocket messages. Only for serve.
    #[serde(default)]
    pub deflate: bool,
    /// Duration of one step of a round under load, such as 1s; 3s if absent. Only for serve.
    #[serde(default, with = "Time")]
    pub step: Option<Duration>,
    /// Whether all probes of the machine are run.
    #[serde(default)]
    pub full: bool,
    /// Builds and tools that stages, files and counts need.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// The stream in which it appears.
    #[serde(skip)]
    pub span: Range<usize>,
}

impl Measure {
    /// Returns the metric that is meant if only the name of a timed subject is given.
    pub fn main_metric(&self) -> Metric {
        self.metrics
            .first()
            .map_or(Metric::Wall, |(metric, _)| *metric)
    }

    /// Returns whether rounds can be added to the existing ones. Counts over all launches of a server, or
    /// over one traced run, are not rounds.
    pub fn grows(&self) -> bool {
        self.until_decided && matches!(self.how, How::Bench | How::Value | How::Startup)
    }

    /// Returns whether the measure is also made with the programs' files evicted from memory.
    pub fn also_cold(&self) -> bool {
        self.cache.iter().any(|cache| cache.value == "cold")
    }
}

/// A claim and how it is judged.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a claim")]
pub struct Claim {
    /// Name.
    pub id: Located<String>,
    /// The claim in words.
    pub text: String,
    /// The kind of statement.
    #[cfg_attr(test, schemars(with = "super::schema::LayerWord"))]
    pub layer: Layer,
    /// An expression over the results that must hold.
    #[serde(default, with = "Expression")]
    pub holds: Option<Formula>,
    /// The published figure.
    #[serde(default, with = "PublishedKeys")]
    pub published: Option<Published>,
    /// Whether the run ends with exit code 1 if the claim does not hold.
    #[serde(default)]
    pub budget: bool,
    /// The tools that are needed to judge the claim.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// A note shown with the verdict.
    pub note: Option<String>,
    /// If this expression holds, the claim contradicts itself.
    #[serde(default, with = "Expression")]
    pub ill_posed_if: Option<Formula>,
    /// Why the claim is ill-posed, if it is.
    pub because: Option<String>,
}

impl Claim {
    /// Returns the published size in seconds, bytes or plain numbers if the claim is about a size. Limits and
    /// budgets are not sizes.
    pub fn published_size(&self) -> Option<f64> {
        let published = self.published.as_ref()?;
        if self.layer != Layer::Size || self.budget || published.limit {
            return None;
        }
        let (_, size) = self.published_unit()?;
        Some(published.value? * size)
    }

    /// Returns the unit of the published value, and its size in base units. `None` if nothing was published.
    pub fn published_unit(&self) -> Option<(Unit, f64)> {
        let text = self.published.as_ref()?.unit.as_deref().unwrap_or("");
        // The reader has already refused texts that aren't units.
        unit::parse(text).ok()
    }
}

/// An open question of the source.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "an answer")]
pub struct Answer {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: Option<String>,
    /// Whether it is open; if absent, it is open if there is no answer.
    pub status: Option<Status>,
    /// What was tried, if the question is open.
    pub tried: Option<String>,
    /// The ids of the claims to which the answer refers.
    #[serde(default, with = "Texts")]
    pub evidence: Vec<Located<String>>,
}

impl Answer {
    /// Returns whether the question is still open.
    pub fn is_open(&self) -> bool {
        self.status
            .map_or(self.answer.is_none(), |status| status == Status::Open)
    }
}

/// Whether a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "status")]
pub enum Status {
    /// The question has no answer.
    Open,
    /// The question has an answer.
    Answered,
}

/// A diagram in the reports. It shows one metric over several subjects in a meaningful order, with a line for
/// each combination of parameters.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a picture")]
pub struct Picture {
    /// The diagram's title.
    pub title: String,
    /// A metric of these subjects, such as wall.
    pub metric: Located<String>,
    /// The subjects, from left to right.
    #[serde(with = "Several")]
    pub over: Vec<Located<String>>,
}

/// The default of `{seed}`.
fn first_seed() -> u64 {
    1
}

fn plain_number() -> (Unit, f64) {
    (Unit::plain(), 1.0)
}

fn yes() -> bool {
    true
}

impl Part for Input {
    fn placed(&mut self, place: Located<String>) {
        self.name = place;
        let bytes = self
            .text
            .clone()
            .map(String::into_bytes)
            .or_else(|| self.hex.clone());
        let file = || self.file.clone().map(Content::File);
        let generated = || self.generate.clone().map(Content::Generated);
        self.content = bytes
            .map(Content::Bytes)
            .or_else(file)
            .or_else(generated)
            .unwrap_or_default();
    }
}

impl Part for Measure {
    fn placed(&mut self, place: Located<String>) {
        self.span = place.span;
        if self.id.span.is_empty() {
            self.id = Located {
                value: self.how.name().to_string(),
                span: self.span.clone(),
            };
        }
        if self.rounds == 0 {
            self.rounds = match self.how {
                How::Why => 5,
                How::Serve if !self.load.is_empty() => 5,
                How::Serve => 30,
                _ => 20,
            };
        }
    }
}

macro_rules! named {
    ($($part:ident)*) => {$(
        impl Part for $part {
            fn placed(&mut self, place: Located<String>) {
                self.name = place;
            }
        }
    )*};
}

named!(Tool Build Subject Value Count);

impl Part for Claim {}
impl Part for Answer {}
impl Part for Picture {}
