//! Turns time accounts and traces into findings. Pure functions.
//!
//! An [`Observation`] is a traced run together with the untraced, timed runs of the same command.
//! [`diagnose`] shows where the wall time went, and names what can be changed and how much that would save,
//! scaled to an untraced run. Nothing here accesses the machine.
//!
//! [`explanation()`] combines this with the tables of [`fathom_model::Explanation`]. [`pipeline`] and
//! [`startup`] evaluate the traces of the verbs `pipe` and `startup`.

mod analysis;
mod calls;
mod claim;
mod classify;
mod cpu_split;
mod critical_path;
mod descriptors;
pub mod difference;
mod entry_exit_overhead;
mod explanation;
#[cfg(test)]
mod fake;
mod faults;
mod file_name;
mod findings;
mod grouping;
mod intervals;
mod io;
mod kernel_outside;
mod lock_waits;
mod mechanisms;
mod numbers;
mod observation;
mod overhead_correction;
mod own_code;
pub mod pipeline;
mod rows;
mod runtimes;
mod second_run;
pub mod startup;
mod sums;
mod thread_account;
mod thread_times;
mod thresholds;
mod ticks;
mod timeline;
mod use_names;
mod whereabouts;

use std::collections::BTreeMap;

use fathom_model::{
    CallRow, CodePaths, Finding, FindingId, IoRow, OwnCode, ThreadAccount, TimeAccount, WhereRow,
};
use fathom_trace::Tier;

use analysis::Analysis;

pub use calls::asks_about_path;
pub use explanation::{Subject, end_in_words, explanation, is_quotable, timed_runs};
pub use observation::{Languages, Limits, Observation};
pub use rows::{phases, process_rows};
pub use runtimes::{Asked, Language, asked_by_hand, joined, lacks_names};
pub use second_run::add_calls;
pub use timeline::timeline;

/// The diagnosis of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The breakdown of the untraced runs' median wall time along the critical path of the traced run. Its
    /// parts add up to that time. Empty if the trace has no times (stops tier).
    pub account: TimeAccount,
    /// The largest pieces of the account, with their objects and locations in the code, those with the most
    /// time first.
    pub whereabouts: Vec<WhereRow>,
    /// The call paths in which the time was spent.
    pub paths: Vec<CodePaths>,
    /// The breakdown of each thread's time, in order of the threads' start.
    pub threads: Vec<ThreadAccount>,
    /// Possible improvements, those that could save the most time first. Empty for a clean program.
    pub findings: Vec<Finding>,
    /// Descriptors with the traffic through them, those with the most time first.
    pub io: Vec<IoRow>,
    /// System calls by name over all threads, those with the most time first.
    pub calls: Vec<CallRow>,
    /// The functions in which all threads spent their own code's time; `None` without samples.
    pub own_code: Option<OwnCode>,
    /// Warnings about how far the answer can be trusted, one sentence each; for example, that the machine was
    /// busy.
    pub warnings: Vec<String>,
}

/// Accounts for the time and names the causes.
///
/// The critical path begins at the end of the command and follows waits to what they were for: a child, a
/// joined thread, or the other end of a pipe of the tree. Other waits are shown as waits.
pub fn diagnose(observation: &Observation) -> Diagnosis {
    let analysis = Analysis::new(observation);
    let (whereabouts, paths) = whereabouts::rows_and_paths(&analysis);
    let mut findings = found(&analysis);
    whereabouts::name_places(&analysis, &mut findings, &whereabouts);
    let own = observation.trace.profile.as_ref();
    let samples = observation.more_samples.as_ref().or(own);
    Diagnosis {
        threads: match observation.trace.tier {
            Some(Tier::Ptrace) => Vec::new(),
            _ => thread_account::all(&observation.trace, &analysis.threads),
        },
        warnings: analysis.warnings(&findings),
        whereabouts,
        paths,
        findings,
        io: io::io_rows(&analysis),
        calls: rows::call_rows(&analysis),
        own_code: samples.and_then(own_code::of),
        account: analysis.account,
    }
}

/// Returns how large each finding would be, in ns of an untraced run, even if it is too small to be reported.
pub fn sizes(observation: &Observation) -> BTreeMap<FindingId, u64> {
    findings::sizes(&Analysis::new(observation))
}

/// Returns the findings. If a run was cut off, the total time is unknown, and therefore so are the savings.
fn found(analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut found = findings::all(analysis);
    if analysis.is_cut_off() {
        for finding in &mut found {
            (finding.could_win_ns, finding.could_win_cpu_ns) = (0, 0);
            finding.could_win_latency_ns = 0;
            finding.parts.clear();
            finding.saving = None;
        }
    }
    found
}
