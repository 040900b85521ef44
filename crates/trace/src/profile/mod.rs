//! Samples where in their own code the threads of a tree are, by a clock that runs while they do.
//!
//! Some hundred times per second of CPU time, a perf event of the CPU clock records the address at which it
//! interrupts user code. The file is known from the records of mappings, and the function from the file's
//! symbols. Only the innermost function is known, because few programs keep the information that leads to
//! their callers. Nothing is written into the program.

mod areas;
mod functions;
mod machine_wide;
mod pc_samples;
pub(crate) mod spaces;
mod spin;

use serde::{Deserialize, Serialize};

pub(crate) use machine_wide::MachineWide;
pub(crate) use pc_samples::PcSamples;

/// The functions of a tree's own code in which threads were sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// CPU time between two samples, ns: each sample represents this time.
    pub period_ns: u64,
    /// One row for each thread and function, most samples first. Empty if no sample found a thread in its own
    /// code.
    pub functions: Vec<FunctionRow>,
    /// Number of records of mappings, new processes and samples that found their buffer full. After such a
    /// loss, code that a process executed was not attributed until the process's next `execve`.
    pub lost: u64,
}

/// Samples that found a thread in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionRow {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The file that contains the function, as named by the kernel: a path, `[vdso]`, or `//anon` and similar
    /// for code generated at run time. Empty if nothing is known of the address.
    pub file: String,
    /// The function's name as its author wrote it; `None` if the file has no symbol for it.
    pub function: Option<String>,
    /// Number of samples.
    pub samples: u64,
    /// Number of these samples that were in a loop that waits for another thread to change memory, or at the
    /// instruction that marks a spin loop (`pause`, `yield`).
    pub spins: u64,
}

impl FunctionRow {
    /// Returns whether the function is in memory into which a program may have written code, judging by the
    /// kernel's name for it.
    pub fn is_made_at_run_time(&self) -> bool {
        fathom_stacks::is_made_at_run_time(&self.file)
    }
}
