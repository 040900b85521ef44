//! An experiment as the file says it.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use fathom_conduct::gate::Budget;
use fathom_model::{Layer, Published, Source, Waiver};

use super::table::Located;
use crate::expression::Expression;
use crate::unit::{self, Unit};

/// A whole file.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it is about.
    pub title: String,
    /// The question that it asks.
    pub question: Option<String>,
    /// Where the result was published.
    pub source: Option<Source>,
    /// How long all of it may take; with `--quick` a measure that would begin later is left out.
    pub time_budget: Option<Duration>,
    /// Programs that must be there.
    pub tools: Vec<Tool>,
    /// Files that are staged.
    pub inputs: Vec<Input>,
    /// What is made before.
    pub builds: Vec<Build>,
    /// Free variables.
    pub parameters: Vec<Parameter>,
    /// What is run.
    pub subjects: Vec<Subject>,
    /// How it is measured.
    pub measures: Vec<Measure>,
    /// What is claimed.
    pub claims: Vec<Claim>,
    /// Open questions.
    pub answers: Vec<Answer>,
    /// Drawings.
    pub pictures: Vec<Picture>,
    /// What `fathom gate` asks of it.
    pub gate: GateSettings,
}

/// `[gate]`: what a change may not make worse.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateSettings {
    /// Smallest change that counts, as a share.
    pub margin: Option<f64>,
    /// The same by benchmark.
    pub margins: Vec<(String, f64)>,
    /// The branch that is compared with.
    pub base: Option<String>,
    /// Whether `cannot tell` lets a suite pass.
    pub undecided_passes: Option<bool>,
    /// Name of a benchmark, and what a metric of it may be at most.
    pub budgets: Vec<(String, Budget)>,
    /// Known changes that are let pass until a day.
    pub waivers: Vec<Waiver>,
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
#[derive(Debug, Clone)]
pub struct Tool {
    /// Name.
    pub name: Located<String>,
    /// Succeeds when it is there.
    pub check: Located<String>,
    /// Where to get it, and which packages.
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

/// A file that is staged before anything is measured.
#[derive(Debug, Clone)]
pub struct Input {
    /// Name.
    pub name: Located<String>,
    /// How it comes to be.
    pub content: Content,
    /// `{seed}` of the generator.
    pub seed: u64,
    /// `{size}` of the generator in bytes, or the length to which `text`, `hex` and `file` are repeated.
    pub size: Option<u64>,
    /// The same with `--quick`.
    pub quick_size: Option<u64>,
    /// Builds and tools of the generator.
    pub needs: Vec<Located<String>>,
}

/// What is made once, before anything is measured.
#[derive(Debug, Clone)]
pub struct Build {
    /// Name.
    pub name: Located<String>,
    /// The command.
    pub command: Located<String>,
    /// Tools and other builds.
    pub needs: Vec<Located<String>>,
    /// Working directory.
    pub cwd: Option<Located<String>>,
    /// Variables.
    pub env: Vec<(Located<String>, Located<String>)>,
    /// Longest time that it may take.
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

/// A restriction to some values of a parameter.
pub type Only = Vec<(Located<String>, Vec<Located<String>>)>;

/// A program that is measured.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Name.
    pub name: Located<String>,
    /// The command.
    pub command: Located<String>,
    /// The staged input.
    pub input: Option<Located<String>>,
    /// `null`, `pipe` or `file`.
    pub output: Option<Located<String>>,
    /// Variables.
    pub env: Vec<(Located<String>, Located<String>)>,
    /// Working directory.
    pub cwd: Option<Located<String>>,
    /// In which language it is written.
    pub language: Option<String>,
    /// The subject that it is a variant of.
    pub variant_of: Option<Located<String>>,
    /// Builds and tools.
    pub needs: Vec<Located<String>>,
    /// Longest time that a run may take.
    pub timeout: Option<Duration>,
    /// A failing run is a result, not an end.
    pub may_fail: bool,
    /// Parameter values for which it is run.
    pub only: Only,
}

/// How a measure measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// The first.
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

impl Take {
    /// All, with their words.
    pub const ALL: [(Take, &'static str); 5] = [
        (Take::First, "first"),
        (Take::Last, "last"),
        (Take::Min, "min"),
        (Take::Max, "max"),
        (Take::Sum, "sum"),
    ];
}

/// Where a pattern searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A number that a program prints.
#[derive(Debug, Clone)]
pub struct Value {
    /// Name of the metric.
    pub name: Located<String>,
    /// With one group around the number.
    pub pattern: regex::Regex,
    /// Where it stands.
    pub from: From,
    /// Its unit.
    pub unit: crate::unit::Unit,
    /// What a number that was read is multiplied by to be in that unit.
    pub scale: f64,
    /// Which match counts.
    pub take: Take,
    /// Whether more is better.
    pub higher_is_better: bool,
}

/// A count of a pattern in a command's output.
#[derive(Debug, Clone)]
pub struct Count {
    /// Name, which stands in the place of a subject.
    pub name: Located<String>,
    /// The command.
    pub command: Located<String>,
    /// What is counted.
    pub pattern: regex::Regex,
    /// Where.
    pub from: From,
    /// Builds and tools.
    pub needs: Vec<Located<String>>,
}

/// How subjects are measured.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Name.
    pub id: Located<String>,
    /// How.
    pub how: How,
    /// What.
    pub subjects: Vec<Located<String>>,
    /// Rounds.
    pub rounds: u64,
    /// Rounds with `--quick`.
    pub quick_rounds: Option<u64>,
    /// Warm-up rounds.
    pub warmup: u64,
    /// Whether it belongs to the quick set.
    pub quick: bool,
    /// Whether rounds are added while a claim that rests on them is undecided.
    pub until_decided: bool,
    /// Longest time that a run may take.
    pub timeout: Option<Duration>,
    /// Parameter values for which it is made.
    pub only: Only,
    /// Numbers that programs print.
    pub values: Vec<Value>,
    /// Commands of a pipeline.
    pub stages: Vec<Located<String>>,
    /// Their names.
    pub names: Vec<Located<String>>,
    /// Files whose size is taken.
    pub files: Vec<(Located<String>, Located<String>)>,
    /// Patterns that are counted.
    pub counts: Vec<Count>,
    /// Caches of `startup` and of launches: warm, cold.
    pub cache: Vec<Located<String>>,
    /// Loads of `serve`: numbers of connections, and `websocket`; without any, launches.
    pub load: Vec<Located<String>>,
    /// What servers are asked for.
    pub path: Option<String>,
    /// Clients offer to compress their WebSocket messages.
    pub deflate: bool,
    /// Length of one step of a round under load.
    pub step: Option<Duration>,
    /// All probes of `machine`, not only the fingerprint.
    pub full: bool,
    /// Builds and tools of the stages, files and counts.
    pub needs: Vec<Located<String>>,
    /// Where it stands.
    pub span: Range<usize>,
}

impl Measure {
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

/// An expression of the file.
#[derive(Debug, Clone)]
pub struct Formula {
    /// As it was written, with its place.
    pub text: Located<String>,
    /// Parsed.
    pub expression: Expression,
}

/// What is claimed.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Name.
    pub id: Located<String>,
    /// In words.
    pub text: String,
    /// What kind of statement it is.
    pub layer: Layer,
    /// The expression.
    pub holds: Option<Formula>,
    /// What was published.
    pub published: Option<Published>,
    /// Whether the run fails if it does not hold.
    pub budget: bool,
    /// Tools without which it can't be judged.
    pub needs: Vec<Located<String>>,
    /// What must be known beside the verdict.
    pub note: Option<String>,
    /// If this holds, the claim contradicts itself.
    pub ill_posed_if: Option<Formula>,
    /// Why it then does.
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
#[derive(Debug, Clone)]
pub struct Answer {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: Option<String>,
    /// `answered` or `open`.
    pub open: bool,
    /// What was tried.
    pub tried: Option<String>,
    /// Ids of claims.
    pub evidence: Vec<Located<String>>,
}

/// One metric over several subjects, drawn.
#[derive(Debug, Clone)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// The metric.
    pub metric: Located<String>,
    /// The subjects, from left to right.
    pub over: Vec<Located<String>>,
}
