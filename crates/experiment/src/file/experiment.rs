//! An experiment as the file says it.

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

/// What `fathom run` reads. See docs/experiments.md.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "an experiment file")]
pub struct Experiment {
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
    /// Its text.
    #[serde(skip)]
    pub text: String,
    /// Version of the format.
    #[serde(with = "Version")]
    pub schema_version: (),
    /// What it is about.
    pub title: String,
    /// The question that it asks.
    pub question: Option<String>,
    /// Where the result was published.
    #[serde(default, with = "SourceKeys")]
    pub source: Option<Source>,
    /// Longest time for measuring; builds don't count.
    #[serde(default, with = "Time")]
    pub time_budget: Option<Duration>,
    /// Programs that must be there.
    #[serde(default, with = "Named::<Tool>")]
    pub tools: Vec<Tool>,
    /// Files that are staged.
    #[serde(default, with = "Named::<Input>")]
    pub inputs: Vec<Input>,
    /// What is made before.
    #[serde(default, with = "Named::<Build>")]
    pub builds: Vec<Build>,
    /// Free variables; `quick` has the values of --quick.
    #[serde(default, rename = "parameters", with = "Parameters")]
    pub given: Vec<(Located<String>, Given)>,
    /// The same, with their values of both kinds.
    #[serde(skip)]
    pub parameters: Vec<Parameter>,
    /// What is run.
    #[serde(default, with = "Named::<Subject>")]
    pub subjects: Vec<Subject>,
    /// How it is measured.
    #[serde(default, with = "Listed::<Measure>", rename = "measure")]
    pub measures: Vec<Measure>,
    /// What is claimed.
    #[serde(default, with = "Listed::<Claim>")]
    pub claims: Vec<Claim>,
    /// Open questions.
    #[serde(default, with = "Listed::<Answer>")]
    pub answers: Vec<Answer>,
    /// Drawings.
    #[serde(default, with = "Listed::<Picture>")]
    pub pictures: Vec<Picture>,
    /// What `fathom gate` asks of a change. It is read from base.
    #[serde(default, rename = "gate")]
    pub gate_keys: GateKeys,
    /// The same, with budgets and waivers as they are used.
    #[serde(skip)]
    pub gate: GateSettings,
    /// What `--on` hands jobs to.
    pub fleet: Option<FleetKeys>,
}

/// From which package manager a tool comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// Debian and kin: `apt-get download`, unpacked
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
    /// All, with their keys.
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

/// A program that must be there.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a tool")]
pub struct Tool {
    /// Name.
    #[serde(skip)]
    pub name: Located<String>,
    /// A command that succeeds when it is there; the first line of its output is its version.
    pub check: Located<String>,
    /// Packages, as name@version, from the system's package manager (root only).
    #[serde(default, with = "Texts")]
    pub apt: Vec<Located<String>>,
    /// Packages, as name@version, from the Rust registry; ./FOLDER is a crate of the experiment's
    /// own whose dependencies come from there.
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
    /// Where to get it, and which packages.
    #[serde(skip)]
    pub packages: Option<(Registry, Vec<String>)>,
    /// What is not done without it.
    pub without: Option<String>,
    /// How to get it where no package manager has it.
    pub hint: Option<String>,
}

/// How an input comes to be.
#[derive(Debug, Clone)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// This file of the experiment's folder.
    File(Located<String>),
    /// What a command writes to standard output.
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
    /// A file of the experiment's folder.
    pub file: Option<Located<String>>,
    /// A command that writes it to standard output; {seed} and {size} are known to it.
    pub generate: Option<Located<String>>,
    /// How it comes to be.
    #[serde(skip)]
    pub content: Content,
    /// {seed} of the generator; 1 if absent.
    #[serde(default = "first_seed", with = "Whole")]
    pub seed: u64,
    /// {size} of the generator; the length to which text, hex and file are repeated.
    #[serde(default, with = "Size")]
    pub size: Option<u64>,
    /// The same with --quick.
    #[serde(default, with = "Size")]
    pub quick_size: Option<u64>,
    /// Builds and tools of the generator.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
}

/// What is made once, before anything is measured.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a build")]
pub struct Build {
    /// Name.
    #[serde(skip)]
    pub name: Located<String>,
    /// Split into words as a shell would, run without one. Placeholders in braces.
    pub command: Located<String>,
    /// Tools and other builds. Its own name means the tool of that name.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// Working directory, from the experiment's folder.
    pub cwd: Option<Located<String>>,
    /// Variables added to the environment.
    #[serde(default, with = "TextsByName")]
    pub env: Vec<(Located<String>, Located<String>)>,
    /// Longest time that it may take.
    #[serde(default, with = "Time")]
    pub timeout: Option<Duration>,
}

/// A free variable.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name.
    pub name: Located<String>,
    /// Values; the first is the one that verdicts are for.
    pub values: Vec<String>,
    /// Values with `--quick`; they need not be among the others.
    pub quick: Option<Vec<String>>,
}

impl Parameter {
    /// Every value that it takes in one of the sets.
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
    /// Split into words as a shell would, run without one. Placeholders in braces.
    pub command: Located<String>,
    /// Name of the staged input; /dev/null if absent.
    pub input: Option<Located<String>>,
    /// `null` (if absent), `pipe` or `file`.
    pub output: Option<Located<String>>,
    /// Variables added to the environment.
    #[serde(default, with = "TextsByName")]
    pub env: Vec<(Located<String>, Located<String>)>,
    /// Working directory, from the experiment's folder.
    pub cwd: Option<Located<String>>,
    /// In which language it is written.
    pub language: Option<String>,
    /// The subject that it is a variant of.
    pub variant_of: Option<Located<String>>,
    /// Builds and tools; without them its claims are not runnable here.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// Longest time that a run may take.
    #[serde(default, with = "Time")]
    pub timeout: Option<Duration>,
    /// A failing run is a result.
    #[serde(default)]
    pub may_fail: bool,
    /// Parameter values for which it applies.
    #[serde(default, with = "Lists")]
    pub only: Only,
}

/// How a measure measures.
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
    /// Numbers that the program prints.
    Value,
    /// Sizes and counts without running subjects.
    Static,
}

impl How {
    /// All, with their words.
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

    /// The word of the file.
    pub fn name(self) -> &'static str {
        How::ALL
            .iter()
            .find(|(how, _)| *how == self)
            .map_or("", |(_, name)| name)
    }

    /// Whether it runs subjects.
    pub fn has_subjects(self) -> bool {
        matches!(
            self,
            How::Bench | How::Why | How::Startup | How::Serve | How::Value
        )
    }
}

/// Which of a pattern's matches counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "way to take a match")]
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
    /// All added up.
    Sum,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", expecting = "direction")]
pub enum Better {
    /// Less.
    #[default]
    Lower,
    /// More.
    Higher,
}

/// Where a pattern searches.
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
    /// Where it stands.
    #[serde(default)]
    pub from: From,
    /// Its unit, such as us, KiB, GB/s, ops/s, and what a number that was read is multiplied by to
    /// be in its bases.
    #[serde(default = "plain_number", with = "UnitOf")]
    pub unit: (Unit, f64),
    /// Which way is better.
    #[serde(default)]
    pub better: Better,
    /// Which match counts.
    #[serde(default)]
    pub take: Take,
}

/// A count of a pattern in a command's output.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a count")]
pub struct Count {
    /// Name, which stands in the place of a subject.
    #[serde(skip)]
    pub name: Located<String>,
    /// Split into words as a shell would, run without one. Placeholders in braces.
    pub command: Located<String>,
    /// A regular expression.
    #[serde(with = "Pattern")]
    pub pattern: regex_lite::Regex,
    /// Where.
    #[serde(default)]
    pub from: From,
    /// Builds and tools.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
}

/// How subjects are measured.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a measure")]
pub struct Measure {
    /// Name; the word of `how` if absent.
    #[serde(default)]
    pub id: Located<String>,
    /// How.
    pub how: How,
    /// Which; all if absent.
    #[serde(default, with = "Texts")]
    pub subjects: Vec<Located<String>>,
    /// 20 if absent; 5 for `why`.
    #[serde(default, with = "Positive")]
    pub rounds: u64,
    /// With --quick; at most 10 if absent.
    #[serde(default, with = "Quick")]
    pub quick_rounds: Option<u64>,
    /// Warm-up rounds.
    #[serde(default, with = "Whole")]
    pub warmup: u64,
    /// Whether it belongs to the quick set, as it does if absent.
    #[serde(default = "yes")]
    pub quick: bool,
    /// Whether rounds are added, up to four times as many, while a claim that rests on them is
    /// undecided: if absent they are (bench, value, startup; not with --quick).
    #[serde(default = "yes")]
    pub until_decided: bool,
    /// What is judged, such as ["peak_memory=5%", "wall"], where it isn't time: the first is what a subject's
    /// name alone stands for. Only for bench.
    #[serde(default, with = "Metrics")]
    pub metrics: Vec<MetricOf>,
    /// Longest time that a run may take.
    #[serde(default, with = "Time")]
    pub timeout: Option<Duration>,
    /// Parameter values for which it applies.
    #[serde(default, with = "Lists")]
    pub only: Only,
    /// Numbers that programs print.
    #[serde(default, with = "Named::<Value>")]
    pub values: Vec<Value>,
    /// Commands of a pipeline.
    #[serde(default, with = "Several")]
    pub stages: Vec<Located<String>>,
    /// Names of the stages.
    #[serde(default, with = "Several")]
    pub names: Vec<Located<String>>,
    /// Files whose size is taken: size.NAME.
    #[serde(default, with = "PathsByName")]
    pub files: Vec<(Located<String>, Located<String>)>,
    /// Patterns that are counted.
    #[serde(default, with = "Named::<Count>")]
    pub counts: Vec<Count>,
    /// `warm`, `cold`
    #[serde(default, with = "Texts")]
    pub cache: Vec<Located<String>>,
    /// Connections of closed loops, such as 1, 16, 64, or websocket; launches if absent. Only for
    /// serve.
    #[serde(default, with = "Texts")]
    pub load: Vec<Located<String>>,
    /// What servers are asked for; / if absent. Only for serve.
    pub path: Option<String>,
    /// Clients offer to compress their WebSocket messages. Only for serve.
    #[serde(default)]
    pub deflate: bool,
    /// Length of one step of a round under load, such as 1s; 3s if absent. Only for serve.
    #[serde(default, with = "Time")]
    pub step: Option<Duration>,
    /// All probes of the machine.
    #[serde(default)]
    pub full: bool,
    /// Builds and tools of stages, files and counts.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// Where it stands.
    #[serde(skip)]
    pub span: Range<usize>,
}

impl Measure {
    /// What the name of a subject alone stands for, where it is timed.
    pub fn main_metric(&self) -> Metric {
        self.metrics
            .first()
            .map_or(Metric::Wall, |(metric, _)| *metric)
    }

    /// Whether rounds can be added to those that there are. Counts over all launches of a server, or of
    /// one traced run, are no rounds.
    pub fn grows(&self) -> bool {
        self.until_decided && matches!(self.how, How::Bench | How::Value | How::Startup)
    }

    /// Whether it is also made with the programs' files out of memory.
    pub fn also_cold(&self) -> bool {
        self.cache.iter().any(|cache| cache.value == "cold")
    }
}

/// What is claimed.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a claim")]
pub struct Claim {
    /// Name.
    pub id: Located<String>,
    /// In words.
    pub text: String,
    /// What kind of statement it is.
    #[cfg_attr(test, schemars(with = "super::schema::LayerWord"))]
    pub layer: Layer,
    /// An expression over the results.
    #[serde(default, with = "Expression")]
    pub holds: Option<Formula>,
    /// What was published.
    #[serde(default, with = "PublishedKeys")]
    pub published: Option<Published>,
    /// The run ends with exit code 1 if it does not hold.
    #[serde(default)]
    pub budget: bool,
    /// Tools without which it can't be judged.
    #[serde(default, with = "Texts")]
    pub needs: Vec<Located<String>>,
    /// What must be known beside the verdict.
    pub note: Option<String>,
    /// If this expression holds, the claim contradicts itself.
    #[serde(default, with = "Expression")]
    pub ill_posed_if: Option<Formula>,
    /// Why it is ill-posed, where it is.
    pub because: Option<String>,
}

impl Claim {
    /// The published size in seconds, bytes or bare numbers, where the claim is about a size: a
    /// limit and a budget are not.
    pub fn published_size(&self) -> Option<f64> {
        let published = self.published.as_ref()?;
        if self.layer != Layer::Size || self.budget || published.limit {
            return None;
        }
        let (_, size) = self.published_unit()?;
        Some(published.value? * size)
    }

    /// The unit of the published value, and how many bases one of it is. `None` where nothing was
    /// published.
    pub fn published_unit(&self) -> Option<(Unit, f64)> {
        let text = self.published.as_ref()?.unit.as_deref().unwrap_or("");
        // The reader has refused texts that are no units.
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
    /// Whether it is open; if absent it is, where there is no answer.
    pub status: Option<Status>,
    /// What was tried, where it is open.
    pub tried: Option<String>,
    /// Ids of claims.
    #[serde(default, with = "Texts")]
    pub evidence: Vec<Located<String>>,
}

impl Answer {
    /// Whether nobody knows it.
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
    /// Nobody knows.
    Open,
    /// It has an answer.
    Answered,
}

/// One metric over several subjects in an order that means something, drawn in the reports: a line
/// for each combination of parameters.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "a picture")]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// A metric of these subjects, such as wall.
    pub metric: Located<String>,
    /// The subjects, from left to right.
    #[serde(with = "Several")]
    pub over: Vec<Located<String>>,
}

/// `{seed}` where the file says nothing.
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
