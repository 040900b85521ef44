//! Where threads were in the code, with what led there.

use fathom_stacks::StackTree;
use serde::{Deserialize, Serialize};

/// Stacks of a tree's threads, by what they did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// Frames and paths.
    pub tree: StackTree,
    /// One row for each thread, activity and path; most time first.
    pub rows: Vec<StackRow>,
    /// Stacks that were taken.
    pub taken: u64,
    /// Of these: followed to the thread's first function.
    pub whole: u64,
    /// Of these: deeper than what was copied.
    pub cut_off: u64,
    /// Stacks whose copy was dropped because memory for copies is bounded: their time is shared out
    /// among the rest.
    pub thinned: u64,
    /// Stacks with frames of Python's.
    #[serde(default, skip_serializing_if = "is_none")]
    pub python: u64,
    /// Stacks whose frames of Python's changed while they were read: their time is shared out among
    /// the rest, too.
    #[serde(default, skip_serializing_if = "is_none")]
    pub torn: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Stacks of one thread that did the same at the same place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// What the thread did.
    pub activity: Activity,
    /// The call, for [`Activity::Call`] and [`Activity::Wait`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The call's descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fd: Option<i32>,
    /// The file or folder that the call was asked for by name, else what its descriptor led to then:
    /// a file, or a text as of [`crate::DescriptorKind`]. Of a page fault what was touched (kernel tier): a
    /// file by its path, `data of libc.so.6`, `heap`, `stack`, `anonymous mapping`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Of waits for a lock (`futex`) or a child (`wait4`, `waitid`): the thread that ended them, which
    /// mostly is the one that held the lock, or is the child's last; `None` where that isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken_by: Option<u32>,
    /// The path of frames, a node of [`Stacks::tree`]; `None` where no frame is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// How many stacks.
    pub samples: u64,
    /// Time that they stand for, ns; 0 where times hold stops (ptrace tier).
    pub ns: u64,
    /// Calls or faults that they stand for, estimated; 0 of own code.
    #[serde(default)]
    pub calls: u64,
}

/// What a thread did when its stack was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It executed its own code.
    OwnCode,
    /// The kernel served a page fault of its own code.
    Fault,
    /// It was in a call, on a CPU.
    Call,
    /// It was in a call, or without one in a page fault, off the CPU.
    Wait,
}

/// Stacks of which so few aren't whole need no sentence.
const FEW: f64 = 0.05;

impl Stacks {
    /// What they don't show, one sentence each.
    pub fn not_visible(&self) -> Vec<String> {
        let unwound = self.taken.saturating_sub(self.thinned);
        let are_many = self.cut_off as f64 > FEW * unwound as f64;
        let cut_off = are_many.then(|| {
            format!(
                "the outermost callers of {} of {unwound} stacks, which were deeper than what is copied of them",
                self.cut_off
            )
        });
        let thinned = (self.thinned > 0).then(|| {
            format!(
                "{} of {} stacks, for which there was no memory: the others stand for them",
                self.thinned, self.taken
            )
        });
        let python = self.python + self.torn;
        let torn = (self.torn as f64 > FEW * python as f64).then(|| {
            format!(
                "the functions of Python's of {} of {python} stacks, which changed while they were read: the others stand for them",
                self.torn
            )
        });
        cut_off.into_iter().chain(thinned).chain(torn).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_is_said() {
        let said = |taken, cut_off, thinned| {
            let stacks = Stacks {
                taken,
                cut_off,
                thinned,
                ..Stacks::default()
            };
            stacks.not_visible()
        };
        assert_eq!(said(100, 5, 0), Vec::<String>::new());
        assert!(said(100, 6, 0)[0].contains("6 of 100 stacks"));
        assert_eq!(said(1_000, 90, 900).len(), 2);
    }
}
