//! Time account and trace in, findings out: pure functions.
//!
//! An [`Observation`] is a traced run together with the untraced, timed runs of the same command.
//! [`diagnose`] says where the wall time of the traced run went and names what can be changed and
//! what that would save, in time of an untraced run. Nothing here touches the machine.
//!
//! [`explanation()`] puts it together with the tables of [`fathom_model::Explanation`]. [`pipeline`]
//! and [`startup`] read the traces of those verbs.

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
mod intervals;
mod io;
mod kernel_outside;
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
pub use findings::findings_page;
pub use observation::{Languages, Limits, Observation};
pub use rows::{phases, process_rows};
pub use runtimes::{Asked, Language, asked_by_hand, joined, lacks_names};
pub use second_run::add_calls;
pub use timeline::timeline;

/// What is made of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Where the median wall time of the untraced runs goes, along the critical path of the traced
    /// one. The parts add up to it. Without parts where a trace has no times to make them from
    /// (stops tier).
    pub account: TimeAccount,
    /// The largest pieces of the account, with their objects and places in the code, most time
    /// first.
    pub whereabouts: Vec<WhereRow>,
    /// The ways through the code that the time went.
    pub paths: Vec<CodePaths>,
    /// Where the time of each thread went, in the order in which they began.
    pub threads: Vec<ThreadAccount>,
    /// What can be changed, by the time that could be saved, most first. Empty for a clean program.
    pub findings: Vec<Finding>,
    /// Descriptors with what went through them, most time first.
    pub io: Vec<IoRow>,
    /// Calls by name over all threads, most time first.
    pub calls: Vec<CallRow>,
    /// In which functions the own code of all threads was; `None` where nothing was sampled.
    pub own_code: Option<OwnCode>,
    /// What must be known to trust the answer, a sentence each: that the machine was busy, say.
    pub warnings: Vec<String>,
}

/// Accounts for the time and names the causes.
///
/// The critical path begins at the end of the command and follows what was waited for: a child, a
/// thread that is joined, the other end of a pipe of the tree. Other waits are shown as such.
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

/// How large each finding would be, whether it is large enough to be reported or not, in ns of an untraced
/// run.
pub fn sizes(observation: &Observation) -> BTreeMap<FindingId, u64> {
    findings::sizes(&Analysis::new(observation))
}

/// What is found. Nobody knows what a run that was cut off would have taken, so nothing is
/// known to be saved by it.
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
