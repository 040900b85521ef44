//! The input of a diagnosis.

use std::collections::BTreeMap;

use fathom_model::Run;
use fathom_trace::{Profile, Trace};
use serde::{Deserialize, Serialize};

use crate::runtimes::Language;

/// A command that was timed and traced, which is the complete input of a diagnosis. It can be stored as JSON
/// to repeat a diagnosis in tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The traced run.
    pub trace: Trace,
    /// Untraced runs of the same command; the reported times come from these. If empty, the trace is used
    /// instead.
    pub timed: Vec<Run>,
    /// Wall time of the empty program on this machine, in seconds.
    pub floor_seconds: Option<f64>,
    /// Number of CPUs that the command may use, at least 1.
    pub cpus: usize,
    /// The best performance that this machine is capable of.
    pub limits: Limits,
    /// The CPU limit of the command's control group, in CPUs (0.4 is 40 ms in each 100), if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<f64>,
    /// The language of the command's program, if the caller knows it better than the name tells.
    pub language: Option<Language>,
    /// The languages of the other programs of the tree, if the caller knows them.
    pub languages: Languages,
    /// Whether an environment variable of the command makes its runtime write each line at once, as
    /// `PYTHONUNBUFFERED` does.
    #[serde(rename = "python_unbuffered")]
    pub unbuffered_by_variable: bool,
    /// Samples of a further run, if the traced one was too short for its own samples to name a function. They
    /// show in which functions the program's own code runs, but not in which threads.
    #[serde(default)]
    pub more_samples: Option<Profile>,
}

/// Results of probes of this machine. A missing value is replaced by a typical one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The number of bytes that one thread copies per second.
    pub memory_bandwidth: Option<f64>,
    /// The cheapest call into the kernel and back, in seconds.
    pub syscall_seconds: Option<f64>,
    /// Time to create and execute the empty program and wait for it, in seconds.
    pub spawn_seconds: Option<f64>,
    /// Time to touch a page of memory for the first time, in seconds.
    pub page_fault_seconds: Option<f64>,
    /// Time to look up a file by a name that the kernel has in its cache, in seconds.
    pub lookup_seconds: Option<f64>,
    /// The cheapest call through the 32-bit entry of x86 and back, in seconds.
    pub entry_32_seconds: Option<f64>,
    /// The time per call of calls that have no effect, by call name, in seconds, including entry to and
    /// return from the kernel. Only calls whose number can be derived from their total time are included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub call_seconds: BTreeMap<String, f64>,
}

/// The languages of programs, by their path in the trace.
pub type Languages = BTreeMap<String, Language>;
