//! What a diagnosis is made from.

use std::collections::BTreeMap;

use fathom_model::Run;
use fathom_trace::{Profile, Trace};
use serde::{Deserialize, Serialize};

use crate::runtimes::Language;

/// A command that was timed and traced: all that a diagnosis is made from. It is kept as JSON where
/// a diagnosis is to be made again, in tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The traced run.
    pub trace: Trace,
    /// Untraced runs of the same command; their times are the times. May be empty: the trace then
    /// stands in for them.
    pub timed: Vec<Run>,
    /// Wall time of the empty program on this machine in seconds.
    pub floor_seconds: Option<f64>,
    /// CPUs that the command may use, at least 1.
    pub cpus: usize,
    /// What this machine can do at best.
    pub limits: Limits,
    /// CPUs that the command's control group may use (0.4 is 40 ms in each 100), if it is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_limit: Option<f64>,
    /// What the command's program is written in, if the caller knows better than by its name.
    pub language: Option<Language>,
    /// What the other programs of the tree are written in, likewise.
    pub languages: Languages,
    /// Whether a variable of the command's environment makes its runtime write each line at once, as
    /// `PYTHONUNBUFFERED` does.
    #[serde(rename = "python_unbuffered")]
    pub unbuffered_by_variable: bool,
    /// Samples of a further run, where the traced one was too short for its own to name a function.
    /// They say in which functions own code is, and nothing of threads.
    #[serde(default)]
    pub more_samples: Option<Profile>,
}

/// What probes of this machine measured. What is absent is modelled by an ordinary value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes that one thread copies in a second.
    pub memory_bandwidth: Option<f64>,
    /// The cheapest call into the kernel and back, in seconds.
    pub syscall_seconds: Option<f64>,
    /// To make, execute and await the empty program, in seconds.
    pub spawn_seconds: Option<f64>,
    /// To touch a page of memory for the first time, in seconds.
    pub page_fault_seconds: Option<f64>,
    /// To ask for a file by a name that the kernel has in its cache, in seconds.
    pub lookup_seconds: Option<f64>,
    /// The cheapest call through the 32-bit entry of x86 and back, in seconds.
    pub entry_32_seconds: Option<f64>,
    /// What calls take here that change nothing, by their names, in seconds with the way into the kernel
    /// and back; of those whose number is to be told from the time that they took.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub call_seconds: BTreeMap<String, f64>,
}

/// What programs are written in, by the path under which the trace knows them.
pub type Languages = BTreeMap<String, Language>;
