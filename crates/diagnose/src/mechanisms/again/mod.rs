//! Finds data that is read or written again and again: from files that are reopened each time, from a file
//! that stays open, or from folders. Each repetition costs its calls, and the work on the data.

mod files;
mod folders;
mod kept_open;
mod made_up;
mod reopened;
mod rewritten;

use fathom_model::FindingId;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::mechanisms::per_item::CallCost;
use crate::numbers::{if_so, time};
use crate::thresholds as t;

pub(crate) use files::reopened;
pub(crate) use folders::listed;
pub(crate) use kept_open::{refilled, rewound, sought};
pub(crate) use made_up::made_up;
use reopened::ReopenedFile;
pub(crate) use rewritten::rewritten;

/// The kind of data that a program's own work is about.
#[derive(Clone, Copy)]
enum Worked {
    Read,
    Written,
}

impl Worked {
    fn in_words(self) -> &'static str {
        match self {
            Worked::Read => "work on the data read",
            Worked::Written => "work on what was written",
        }
    }
}

/// The cost of reading or writing the same data again.
struct Cost {
    calls: CallCost,
    /// An upper bound on the program's own work.
    work_ns: f64,
    on: Worked,
}

impl Cost {
    /// Returns the total, limited to the available time.
    fn ns(&self, analysis: &Analysis<'_>) -> f64 {
        analysis.within_cpu(self.calls.ns(analysis) + self.work_ns)
    }

    /// Builds a finding about the repeated reads. `statement` is the text before the cost.
    fn finding(&self, id: FindingId, analysis: &Analysis<'_>, statement: &str) -> Claim {
        let statement = format!("{statement}; {}", self.in_words(analysis));
        let ns = self.ns(analysis);
        let finding =
            Claim::new(id, analysis, ns, statement).guessing(self.calls.library_ns + self.work_ns);
        let finding = self.calls.evidence(finding, self.work_ns);
        let in_kernel = self.calls.in_kernel_ns.round();
        let finding = finding.evidence("cost of the calls", in_kernel, "ns");
        if self.work_ns == 0.0 {
            return finding;
        }
        let work = format!("{}, at most", self.on.in_words());
        finding.evidence(&work, self.work_ns.round(), "ns").likely()
    }

    /// Formats the end of the sentence.
    fn in_words(&self, analysis: &Analysis<'_>) -> String {
        let calls = time(self.calls.in_kernel_ns);
        let share = analysis.percent(self.ns(analysis));
        let is_much = self.work_ns > t::WORK_WORTH_REPORTING * self.calls.in_kernel_ns;
        let on = self.on.in_words();
        let besides = if_so(!is_much, || format!(", besides the {on}"));
        let work = is_much.then(|| format!("up to {} of {on}", time(self.work_ns)));
        let cost = match (self.calls.library_in_words("the calls"), work) {
            (Some(library), Some(work)) => format!("{calls} in the kernel, {library}, and {work}"),
            (Some(more), None) | (None, Some(more)) => format!("{calls} in the kernel and {more}"),
            (None, None) => calls,
        };
        format!("that cost {cost}, {share} of the wall time{besides}.")
    }
}

/// Describes how long it takes to read this many bytes from memory.
fn from_memory(analysis: &Analysis<'_>, bytes: f64) -> Option<String> {
    let bandwidth = analysis.observation.limits.memory_bandwidth;
    let bandwidth = bandwidth.filter(|it| *it > 0.0)?;
    Some(format!(
        "reading it again from memory would take {} here ({:.1} GB/s)",
        time(bytes / bandwidth * 1e9),
        bandwidth / 1e9,
    ))
}

/// Returns an upper limit for the work of a process's own code on `bytes` that it reads again, including
/// memory for them; `times` is how often. It is unknown which part of the code's time goes to which bytes, so
/// the result is the usual parsing time of its language, limited to the share `part` of its time without the
/// library code of calls. If that is less than any parser needs, the program doesn't look at all of the
/// bytes, and only the memory for them is counted.
fn modelled_ns(
    analysis: &Analysis<'_>,
    pid: u32,
    (bytes, times): (f64, f64),
    part: f64,
    calls: &CallCost,
) -> f64 {
    if part < t::PART_OF_INPUT {
        return 0.0;
    }
    let own = (analysis.own_ns(pid) - calls.library_ns).max(0.0) * part;
    let runtime = analysis.runtime(Some(pid));
    let each = match own < t::QUICKEST_PARSING_NS_PER_BYTE * bytes {
        true => runtime.collecting_ns(),
        false => runtime.parsing_ns(bytes <= t::MOST_OF_A_SETTINGS_FILE * times),
    };
    (bytes * each).min(own)
}

/// Returns the own-code time that samples found in the functions that open these paths or read and use their
/// content. Only the repeated part, `again`, is counted, without the library code of calls. The result is at
/// most what a slow parser takes for `bytes`.
fn sampled_ns(
    analysis: &Analysis<'_>,
    pid: u32,
    (paths, again): (&[String], f64),
    bytes: f64,
    calls: &CallCost,
) -> f64 {
    let sampled = analysis.in_openers_ns(pid, paths) * again - calls.library_ns;
    sampled.clamp(0.0, t::SLOWEST_PARSING_NS_PER_BYTE * bytes)
}

/// Returns the work of a process's own code on data that it reads again from `paths`; the part `again` of it
/// is repeated. The result is the modelled time or that from samples, whichever is larger.
fn work_ns(
    analysis: &Analysis<'_>,
    pid: u32,
    opened: (&[String], f64),
    read_again: (f64, f64),
    part: f64,
    calls: &CallCost,
) -> f64 {
    let modelled = modelled_ns(analysis, pid, read_again, part, calls);
    modelled.max(sampled_ns(analysis, pid, opened, read_again.0, calls))
}
