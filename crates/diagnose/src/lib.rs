//! Time account and trace in, findings out: pure functions.
//!
//! An [`Observation`] is a traced run together with the untraced, timed runs of the same command.
//! [`diagnose`] says where the wall time of the traced run went and names what can be changed and what
//! that would win, in time of an untraced run. Nothing here touches the machine.
//!
//! The other functions make the tables of [`fathom_model::Explanation`].

mod account;
mod classify;
mod descriptors;
mod draft;
mod edges;
#[cfg(test)]
mod fake;
mod faults;
mod functions;
mod io;
mod language;
mod own_code;
mod path;
pub mod pipeline;
mod rows;
mod rules;
pub mod startup;
mod thresholds;
mod ticks;
mod timeline;
mod untraced;
mod used;
mod view;

use fathom_model::{CallRow, Finding, IoRow, OwnCode, Run, ThreadAccount, TimeAccount};
use fathom_trace::{Tier, Trace};
use serde::{Deserialize, Serialize};

pub use language::Language;
pub use rows::{phases, process_rows};
pub use timeline::timeline;

/// A command that was timed and traced: all that a diagnosis is made from. It is kept as JSON where
/// a diagnosis is to be made again, in tests of the rules.
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
    /// What the command's program is written in, if the caller knows better than by its name.
    pub language: Option<Language>,
    /// What the other programs of the tree are written in, likewise.
    pub languages: Languages,
    /// Whether `PYTHONUNBUFFERED` is set in the command's environment, and not to nothing: Python then
    /// writes each print at once.
    pub python_unbuffered: bool,
}

/// What probes of this machine measured. What is absent is modelled by an ordinary value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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
}

/// What programs are written in, by the path under which the trace knows them.
pub type Languages = std::collections::BTreeMap<String, Language>;

/// What is made of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Where the median wall time of the untraced runs goes, along the critical path of the traced one.
    /// The parts add up to it. Without parts where a trace has no times to make them from (stops tier).
    pub account: TimeAccount,
    /// Where the life of each thread went, in the order in which they began.
    pub threads: Vec<ThreadAccount>,
    /// What can be changed, by the time that could be won, most first. Empty for a clean program.
    pub findings: Vec<Finding>,
    /// Descriptors with what went through them, most time first.
    pub io: Vec<IoRow>,
    /// Calls by name over all threads, most time first.
    pub calls: Vec<CallRow>,
    /// In which functions the own code of all threads was; `None` where nobody looked or saw any.
    pub own_code: Option<OwnCode>,
    /// What must be known to trust the answer, a sentence each: that the machine was busy, say.
    pub warnings: Vec<String>,
}

/// Accounts for the time and names the causes.
///
/// The critical path begins at the end of the command and follows what was waited for: a child, a
/// thread that is joined, the other end of a pipe of the tree. Other waits are shown as such.
pub fn diagnose(observation: &Observation) -> Diagnosis {
    let view = view::View::new(observation);
    let findings = findings(&view);
    Diagnosis {
        threads: match observation.trace.tier {
            Some(Tier::Stops) => Vec::new(),
            _ => account::of_threads(&observation.trace, &view.lives),
        },
        warnings: view.warnings(&findings),
        findings,
        io: io::io_rows(&view),
        calls: rows::call_rows(&view),
        own_code: observation.trace.profile.as_ref().and_then(own_code::of),
        account: view.account,
    }
}

/// What the rules find. Nobody knows what a run that was cut off would have taken, so nothing is known
/// to be won from it.
fn findings(view: &view::View<'_>) -> Vec<Finding> {
    let mut found = rules::all(view);
    if view.is_cut_off() {
        for finding in &mut found {
            (finding.could_win_ns, finding.could_win_cpu_ns) = (0, 0);
            finding.could_win_latency_ns = 0;
        }
    }
    found
}
