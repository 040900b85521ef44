//! Where in their own code the threads of a tree are, by a clock that runs while they do.
//!
//! A perf event of the CPU's clock notes the address at which it interrupts user code, some hundred
//! times in a second of CPU time; which file lies there is known from the records of mappings, and
//! which function from the file's symbols. Only the innermost function is known: few programs keep
//! what leads to their callers. Nothing is written into the program.

mod areas;
mod functions;
mod machine_wide;
mod pc_samples;
pub(crate) mod spaces;
mod spin;

use serde::{Deserialize, Serialize};

pub(crate) use machine_wide::MachineWide;
pub(crate) use pc_samples::PcSamples;

/// Functions in which a tree's own code was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// CPU time between two samples, ns: each sample stands for that much.
    pub period_ns: u64,
    /// One row for each thread and function; most samples first. Without rows where nobody was
    /// caught in own code.
    pub functions: Vec<FunctionRow>,
    /// Records of mappings, of new processes and of samples that found their buffer full: what a
    /// process executed after that was nobody's until its next `execve`.
    pub lost: u64,
}

/// Samples that found a thread in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The file that it is from, as the kernel names it: a path, `[vdso]`, or `//anon` and the like
    /// for code that was made at run time. Empty where nothing is known of the address.
    pub file: String,
    /// Its name as its author wrote it; `None` where the file has no symbol for it.
    pub function: Option<String>,
    /// How many.
    pub samples: u64,
    /// Of these: in a loop that waits for memory to be changed by somebody, or at the instruction
    /// by which code says that it spins (`pause`, `yield`).
    pub spins: u64,
}

impl FunctionRow {
    /// Whether the kernel's name of its file is one of memory into which a program can have written
    /// code.
    pub fn is_made_at_run_time(&self) -> bool {
        fathom_stacks::is_made_at_run_time(&self.file)
    }
}
