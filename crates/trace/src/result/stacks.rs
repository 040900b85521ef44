//! Where in the code threads were, with their callers.

use fathom_stacks::StackTree;
use serde::{Deserialize, Serialize};

/// Stacks of a tree's threads, by activity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// Frames and paths.
    pub tree: StackTree,
    /// One row for each thread, activity and path; most time first.
    pub rows: Vec<StackRow>,
    /// Number of stacks taken.
    pub taken: u64,
    /// Number of these stacks that were unwound to the thread's first function.
    pub whole: u64,
    /// Number of these stacks that were deeper than the copy.
    pub cut_off: u64,
    /// Number of stacks whose copy was dropped because the memory for copies is bounded; their time is
    /// distributed over the others.
    pub thinned: u64,
    /// Number of stacks with Python frames.
    #[serde(default, skip_serializing_if = "is_none")]
    pub python: u64,
    /// Number of stacks whose Python frames changed while they were read; their time is also distributed over
    /// the others.
    #[serde(default, skip_serializing_if = "is_none")]
    pub torn: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Stacks of one thread with the same activity at the same position in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The thread's activity.
    pub activity: Activity,
    /// The call, for [`Activity::Call`] and [`Activity::Wait`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The call's descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fd: Option<i32>,
    /// The path argument of the call, or else the target of its descriptor at that time: a file, or a text as
    /// in [`crate::DescriptorKind`]. For a page fault, the object that was touched (kernel tier): the path of
    /// a file, `data of libc.so.6`, `heap`, `stack`, `anonymous mapping`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For a wait for a lock (`futex`) or a child (`wait4`, `waitid`), the thread that ended it, which is
    /// usually the one that held the lock, or the child's last thread; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken_by: Option<u32>,
    /// The path of frames, a node of [`Stacks::tree`]; `None` if no frame is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// Number of stacks.
    pub samples: u64,
    /// Time that they represent, ns; 0 if times include stops (ptrace tier).
    pub ns: u64,
    /// Estimated number of calls or faults that they represent; 0 for the thread's own code.
    #[serde(default)]
    pub calls: u64,
}

/// A thread's activity when its stack was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// The thread executed its own code.
    OwnCode,
    /// The kernel served a page fault of the thread's own code.
    Fault,
    /// The thread was in a call, on a CPU.
    Call,
    /// The thread was off the CPU, either in a call or, outside calls, in a page fault.
    Wait,
}

/// Largest share of incomplete stacks that isn't reported.
const FEW: f64 = 0.05;

impl Stacks {
    /// Returns the limitations of these stacks, one sentence each.
    pub fn not_visible(&self) -> Vec<String> {
        let unwound = self.taken.saturating_sub(self.thinned);
        let are_many = self.cut_off as f64 > FEW * unwound as f64;
        let cut_off = are_many.then(|| {
            format!(
                "the outermost callers of {} of {unwound} stacks, which were deeper than the part that was copied",
                self.cut_off
            )
        });
        let thinned = (self.thinned > 0).then(|| {
            format!(
                "{} of {} stacks, for lack of memory: the others represent them",
                self.thinned, self.taken
            )
        });
        let python = self.python + self.torn;
        let torn = (self.torn as f64 > FEW * python as f64).then(|| {
            format!(
                "the Python functions of {} of {python} stacks, which changed while they were read: the others \
                 represent them",
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
