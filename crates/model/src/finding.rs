//! Named causes of what is slow.

use serde::{Deserialize, Serialize};

use crate::{AccountPart, CodePlace, FindingId};

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A likely reading of the evidence.
    Likely,
    /// The evidence has no other reading.
    Certain,
}

/// A number that supports a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// What it counts or measures, such as `write calls`.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit: `calls`, `bytes`, `bytes/call`, `ns`, `files`, `1` for a plain ratio.
    pub unit: String,
}

/// Where in the process tree a finding applies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// Process.
    pub pid: Option<u32>,
    /// Thread.
    pub tid: Option<u32>,
    /// Descriptor.
    pub fd: Option<i32>,
    /// Path or what else the descriptor is; not trustworthy: escape it.
    pub path: Option<String>,
}

/// What mending a cause saves, as a prediction with its interval, in nanoseconds of an untraced run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Saving {
    /// The prediction, the same as `saving_ns`.
    pub ns: u64,
    /// Nine of ten repaired programs of the corpus saved between this and `high_ns`; less than that where a
    /// part of it is a guess.
    pub low_ns: u64,
    /// See `low_ns`. No more than the wall time.
    pub high_ns: u64,
}

/// What came of taking a cause away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// The command takes less without it, or where that can't be tried: it lies on the critical path.
    Proved,
    /// The command takes as long without it, or longer, or it lies off the critical path.
    Refuted,
    /// More runs are needed, or only a part of the cause could be taken away.
    Undecided,
    /// The command did something else without it.
    Void,
    /// Nothing takes this cause away from outside.
    NotPossible,
}

/// A time that is saved, in milliseconds, with its 95 % interval; less than 0 where more is taken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SavedMilliseconds {
    /// The estimate.
    pub value: f64,
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
}

/// How much of a known delay of calls or of a thread came out at the end, by random rounds of the command
/// as it is and with three sizes of the delay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slope {
    /// What was delayed, as `fathom bench --try` takes it.
    pub of: String,
    /// Time that the command takes more for each unit of delay: the share of what was delayed that lies on
    /// the critical path. Its 95 % interval goes from `low` to `high`.
    pub value: f64,
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
    /// Rounds that it follows from.
    pub rounds: u32,
    /// Delay of a run, in milliseconds on average, of each command.
    pub added_ms: Vec<f64>,
}

impl Slope {
    /// So much of it must lie on the critical path to be a cause.
    pub const ON_THE_PATH: f64 = 0.25;
    /// No more than all of it can come out; the rest is how far delays are known.
    pub const MOST: f64 = 1.25;

    /// Whether more came out than was added: something else took the CPUs meanwhile.
    pub fn is_disturbed(&self) -> bool {
        self.low > Self::MOST
    }

    /// Whether it lies on the critical path; `None` where that isn't known well enough.
    pub fn is_on_the_path(&self) -> Option<bool> {
        match (self.low, self.high) {
            _ if self.is_disturbed() => None,
            (low, _) if low > Self::ON_THE_PATH => Some(true),
            (_, high) if high < Self::ON_THE_PATH => Some(false),
            _ => None,
        }
    }
}

/// The command was run with and without a cause, in random rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proof {
    /// What came of it.
    pub verdict: ProofVerdict,
    /// What took the cause away, as `fathom bench --try` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervention: Option<String>,
    /// Median time of the command as it is, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_ms: Option<f64>,
    /// The same without the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_ms: Option<f64>,
    /// What is saved, by the paired rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_ms: Option<SavedMilliseconds>,
    /// Where nothing can be taken away: what came of delaying it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Slope>,
    /// Why it is not decided, void or not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A named cause with its evidence, its share of the time, and what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Which cause.
    pub id: FindingId,
    /// One sentence with the numbers.
    pub statement: String,
    /// The numbers.
    pub evidence: Vec<Evidence>,
    /// Share of the median wall time of the untraced runs that goes to this cause, 0 to 1. Where
    /// they had to wait for a CPU, that wait is part of the whole.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
    /// Wall time that mending it could save, in nanoseconds of an untraced run. Modelled. 0 where
    /// the command was ended by the time limit: nobody knows how long it would have taken.
    #[serde(rename = "saving_ns", alias = "could_win_ns")]
    pub could_win_ns: u64,
    /// The same with its interval; null in records of versions that had none, and where nothing is
    /// known to be saved.
    #[serde(default)]
    pub saving: Option<Saving>,
    /// CPU time that it could save, in nanoseconds of an untraced run, where that is another figure
    /// than wall time: a loop that burns a CPU which nobody else wants saves no wall time.
    /// Modelled; 0 where it is the same.
    #[serde(default)]
    #[serde(rename = "cpu_saving_ns", alias = "could_win_cpu_ns")]
    pub could_win_cpu_ns: u64,
    /// Time by which each of many pieces of work could be done sooner, where the whole takes as
    /// long as before: too many threads. In nanoseconds of an untraced run, modelled; 0 elsewhere.
    #[serde(default)]
    #[serde(rename = "latency_saving_ns", alias = "could_win_latency_ns")]
    pub could_win_latency_ns: u64,
    /// What to change, in the words of the program's language where it is known.
    pub advice: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The limit of this machine that it is measured against, if one applies.
    pub limit: Option<String>,
    /// Where.
    pub place: Place,
    /// What most of its time is on: a file, folder, pipe, peer, lock or command; null where nothing
    /// is known. Not trustworthy: escape it.
    #[serde(default)]
    pub object: Option<String>,
    /// The function that most of its time is in.
    #[serde(flatten)]
    pub code: CodePlace,
    /// What called that function, the nearest first.
    #[serde(default)]
    pub callers: Vec<CodePlace>,
    /// From which parts of the account `saving_ns` would go, most first. They add up to it, and
    /// those of all findings to no more than the account has.
    #[serde(default)]
    pub parts: Vec<AccountPart>,
    /// What came of running the command without this cause; absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

impl Finding {
    /// What findings are ranked by: the greatest of what could be saved, ns.
    pub fn rank_ns(&self) -> u64 {
        let others = self.could_win_cpu_ns.max(self.could_win_latency_ns);
        self.could_win_ns.max(others)
    }
}
