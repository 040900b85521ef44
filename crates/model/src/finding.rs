//! Named causes of slowness.

use serde::{Deserialize, Serialize};

use crate::{AccountPart, CodePlace, FindingId, Metric};

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A likely interpretation of the evidence.
    Likely,
    /// The evidence has no other interpretation.
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
    /// The unit: `calls`, `bytes`, `bytes/call`, `ns`, `files`, `1` for a plain ratio.
    pub unit: String,
}

/// Where in the process tree a finding applies.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place {
    /// The process id.
    pub pid: Option<u32>,
    /// The thread id.
    pub tid: Option<u32>,
    /// The descriptor.
    pub fd: Option<i32>,
    /// The path, or what else the descriptor is; not trustworthy: escape it.
    pub path: Option<String>,
}

/// The saving from fixing a cause, as a prediction with its interval, in nanoseconds of an untraced run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Saving {
    /// The prediction, the same as `saving_ns`.
    pub ns: u64,
    /// Nine of ten repaired programs of the corpus saved between this and `high_ns`. The value is lower if a
    /// part of the saving is a guess.
    pub low_ns: u64,
    /// See `low_ns`. At most the wall time.
    pub high_ns: u64,
}

/// The result of removing a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// The command takes less time without the cause or, if the cause can't be removed, the cause lies on the
    /// critical path.
    Proved,
    /// The command takes at least as long without the cause, or the cause is off the critical path.
    Refuted,
    /// More runs are needed, or only a part of the cause could be removed.
    Undecided,
    /// The command did something else without the cause.
    Void,
    /// No intervention can remove this cause from outside.
    NotPossible,
}

/// The time saved, in milliseconds, with its 95 % interval; negative if the command takes longer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SavedMilliseconds {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How much of a known delay of calls or of a thread appears in the total time. It is measured in randomly
/// ordered rounds, with the command as it is and with three sizes of the delay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slope {
    /// What was delayed, as accepted by `fathom bench --try`.
    pub of: String,
    /// The additional time of the command per unit of delay: the share of what was delayed that lies on the
    /// critical path. Its 95 % interval is from `low` to `high`.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of rounds from which it was computed.
    pub rounds: u32,
    /// The average delay of a run of each command, in milliseconds.
    pub added_ms: Vec<f64>,
}

impl Slope {
    /// The minimum share that must lie on the critical path for something to be a cause.
    pub const ON_THE_PATH: f64 = 0.25;
    /// The maximum slope that is believed. At most all of a delay can appear; the rest allows for the
    /// uncertainty of delays.
    pub const MOST: f64 = 1.25;

    /// Returns whether more time appeared than was added, because another program took the CPUs meanwhile.
    pub fn is_disturbed(&self) -> bool {
        self.low > Self::MOST
    }

    /// Returns whether what was delayed lies on the critical path; `None` if that isn't known well enough.
    pub fn is_on_the_path(&self) -> Option<bool> {
        match (self.low, self.high) {
            _ if self.is_disturbed() => None,
            (low, _) if low > Self::ON_THE_PATH => Some(true),
            (_, high) if high < Self::ON_THE_PATH => Some(false),
            _ => None,
        }
    }
}

/// A test in which the command was run with and without a cause, in randomly ordered rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proof {
    /// The result.
    pub verdict: ProofVerdict,
    /// The intervention that removed the cause, as accepted by `fathom bench --try`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervention: Option<String>,
    /// The median time of the command as it is, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_ms: Option<f64>,
    /// The median time without the cause, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_ms: Option<f64>,
    /// The saving, from the paired rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_ms: Option<SavedMilliseconds>,
    /// The metric of these values, if it isn't the time: `cpu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The result of delaying the cause, if it can't be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Slope>,
    /// Why it is undecided, void or not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A named cause with its evidence, its share of the time, and what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The cause.
    pub id: FindingId,
    /// One sentence with the numbers.
    pub statement: String,
    /// The numbers behind the statement.
    pub evidence: Vec<Evidence>,
    /// The share of the untraced runs' median wall time that is due to this cause, 0 to 1. If the runs had to
    /// wait for a CPU, that wait is part of the total.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub share: f64,
    /// The modelled wall time that fixing the cause could save, in nanoseconds of an untraced run. 0 if the
    /// time limit ended the command, because its full duration is unknown.
    #[serde(rename = "saving_ns", alias = "could_win_ns")]
    pub could_win_ns: u64,
    /// The saving with its interval; null if no saving is known, and in records of versions without
    /// intervals.
    #[serde(default)]
    pub saving: Option<Saving>,
    /// The modelled CPU time that fixing the cause could save, in nanoseconds of an untraced run, if it
    /// differs from the wall time: a loop that burns an otherwise idle CPU costs no wall time. 0 if it is the
    /// same.
    #[serde(default)]
    #[serde(rename = "cpu_saving_ns", alias = "could_win_cpu_ns")]
    pub could_win_cpu_ns: u64,
    /// The modelled time by which each of many pieces of work could finish sooner while the whole takes as
    /// long as before (too many threads), in nanoseconds of an untraced run; 0 for other findings.
    #[serde(default)]
    #[serde(rename = "latency_saving_ns", alias = "could_win_latency_ns")]
    pub could_win_latency_ns: u64,
    /// What to change, in terms of the program's language if that is known.
    pub advice: String,
    /// How certain it is.
    pub confidence: Confidence,
    /// The limit of this machine with which it is compared, if one applies.
    pub limit: Option<String>,
    /// Where in the process tree it applies.
    pub place: Place,
    /// The object on which most of its time is spent: a file, folder, pipe, peer, lock or command; null if
    /// unknown. Not trustworthy: escape it.
    #[serde(default)]
    pub object: Option<String>,
    /// The function in which most of its time is spent.
    #[serde(flatten)]
    pub code: CodePlace,
    /// The callers of that function, nearest first.
    #[serde(default)]
    pub callers: Vec<CodePlace>,
    /// The parts of the account that `saving_ns` would reduce, largest first. They add up to `saving_ns`;
    /// over all findings, they add up to at most what the account has of each part.
    #[serde(default)]
    pub parts: Vec<AccountPart>,
    /// The result of running the command without this cause; absent if that wasn't requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

impl Finding {
    /// Returns the value by which findings are ranked: the largest possible saving, ns.
    pub fn rank_ns(&self) -> u64 {
        let others = self.could_win_cpu_ns.max(self.could_win_latency_ns);
        self.could_win_ns.max(others)
    }
}
