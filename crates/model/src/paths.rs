//! The call paths in which the time was spent.

use serde::{Deserialize, Serialize};

use crate::{CodePlace, ThreadRole, TimeCategory};

/// The kind of time in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CodePath {
    /// On a CPU: own code, and the kernel's work for it.
    Cpu,
    /// Waits, each below the code that waited.
    Waits,
}

/// A tree of callers, and what the time was spent on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodePaths {
    /// The kind of time.
    pub of: CodePath,
    /// The total in nanoseconds of an untraced run, along the critical path.
    pub ns: u64,
    /// The steps, callers first, at most 1,000. Steps below 0.1 % are included in their caller's time.
    pub steps: Vec<PathStep>,
}

/// A function below its callers or, at the end of a path, what the last function called or waited for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathStep {
    /// The index of its caller's step, which is smaller than its own; null for the outermost.
    pub parent: Option<u32>,
    /// The time in nanoseconds, including everything it called.
    pub ns: u64,
    /// The function; empty at the end of a path.
    #[serde(flatten)]
    pub place: CodePlace,
    /// At the end of a path: the part of the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<TimeCategory>,
    /// At the end of a path: the system call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// At the end of a path: what the runtime did there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ThreadRole>,
    /// At the end of a path: the file, pipe, peer, lock or command. Not trustworthy: escape it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// The overlaid call trees of two commands, and what each spent on the steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathsDifference {
    /// The kind of time.
    pub of: CodePath,
    /// The total of A in nanoseconds of an untraced run: the mean over its observed runs.
    pub a_ns: u64,
    /// The total of B.
    pub b_ns: u64,
    /// Steps of A or B, callers first, at most 1,000. Functions of A and B become one step if their names and
    /// file names are equal, or if no other functions have that name.
    pub steps: Vec<StepDifference>,
}

/// A step of A, of B or of both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepDifference {
    /// The step; its `ns` is the sum of both times. Its location is B's if both have one.
    #[serde(flatten)]
    pub step: PathStep,
    /// Nanoseconds of A, including everything that the step called.
    pub a_ns: u64,
    /// Nanoseconds of B.
    pub b_ns: u64,
    /// Whether the two differ by more than the observed runs of one command vary; null if one of them was
    /// observed only once.
    pub is_clear: Option<bool>,
}

impl CodePaths {
    /// Returns, for each step, the nanoseconds that aren't in any step below it.
    pub fn own_ns(&self) -> Vec<u64> {
        let mut own: Vec<u64> = self.steps.iter().map(|step| step.ns).collect();
        for step in &self.steps {
            if let Some(of) = step.parent.and_then(|parent| own.get_mut(parent as usize)) {
                *of = of.saturating_sub(step.ns);
            }
        }
        own
    }

    /// Returns the steps of a path, outermost first. A damaged record may contain a cycle, which is cut.
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
