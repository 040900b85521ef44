//! The ways through the code that the time went.

use serde::{Deserialize, Serialize};

use crate::{CodePlace, ThreadRole, TimeCategory};

/// Of which time a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CodePath {
    /// On a CPU: own code, and what the kernel did for it.
    Cpu,
    /// Waits, each below the code that waited.
    Waits,
}

/// A tree of callers, and what the time was spent on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodePaths {
    /// Of which time.
    pub of: CodePath,
    /// All of it in nanoseconds of an untraced run, along the critical path.
    pub ns: u64,
    /// Its steps, callers first, at most 1,000: what is below 0.1 % is in its caller's time.
    pub steps: Vec<PathStep>,
}

/// A function below its callers, or at the end of a way what it called or waited for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathStep {
    /// The number of its caller's step, a smaller one than its own; null for the outermost.
    pub parent: Option<u32>,
    /// Nanoseconds, with all that it called.
    pub ns: u64,
    /// The function; nothing at the end of a way.
    #[serde(flatten)]
    pub place: CodePlace,
    /// At the end of a way: the part of the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<TimeCategory>,
    /// At the end of a way: the system call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// At the end of a way: what the runtime did there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ThreadRole>,
    /// At the end of a way: the file, pipe, peer, lock or command. Not trustworthy: escape it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// The ways of two commands laid over each other, and what each spent on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathsDifference {
    /// Of which time.
    pub of: CodePath,
    /// All of A's in nanoseconds of an untraced run: the mean of its observed runs.
    pub a_ns: u64,
    /// All of B's.
    pub b_ns: u64,
    /// Steps that A or B has, callers first, at most 1,000. Functions of both are one step if they have
    /// one name and are from files of one name, or there are no others of that name.
    pub steps: Vec<StepDifference>,
}

/// A step of A, of B or of both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepDifference {
    /// The step; its `ns` is the time of both together. Its place is B's where both have one.
    #[serde(flatten)]
    pub step: PathStep,
    /// Nanoseconds of A, with all that the step called.
    pub a_ns: u64,
    /// Nanoseconds of B.
    pub b_ns: u64,
    /// Whether both differ by more than the observed runs of one command do among themselves; null where
    /// one of them was observed once.
    pub is_clear: Option<bool>,
}

impl CodePaths {
    /// Of each step the nanoseconds that none of its steps below has.
    pub fn own_ns(&self) -> Vec<u64> {
        let mut own: Vec<u64> = self.steps.iter().map(|step| step.ns).collect();
        for step in &self.steps {
            if let Some(of) = step.parent.and_then(|parent| own.get_mut(parent as usize)) {
                *of = of.saturating_sub(step.ns);
            }
        }
        own
    }

    /// The steps of a way, outermost first. A damaged record may lead in a circle, which is cut.
    pub fn way(&self, step: usize) -> Vec<&PathStep> {
        let mut way = Vec::new();
        let mut next = Some(step);
        while let Some(at) = next {
            let Some(step) = self.steps.get(at) else {
                break;
            };
            way.push(step);
            let parent = step.parent.map(|parent| parent as usize);
            next = parent.filter(|parent| *parent < at);
        }
        way.reverse();
        way
    }
}
