//! The same is read again and again: of files that are opened anew each time, of one that stays
//! open, or of folders. What comes again costs its calls, and the work on what they brought.

mod files;
mod folders;
mod kept_open;
mod reopened;

use fathom_model::{FindingId, Place};

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::finding_builder::{FindingBuilder, is_significant, percent};
use crate::mechanisms::per_item::CallCost;
use crate::numbers::time;
use crate::thresholds as t;

pub(crate) use kept_open::{most_sought, place, reads_of, seeks_of};
pub(crate) use reopened::ReopenedFile;

/// What reading once more costs.
struct Cost {
    calls: CallCost,
    /// The program's own work on what was read, at most.
    work_ns: f64,
}

impl Cost {
    /// All of it, no more than there is.
    fn ns(&self, analysis: &Analysis<'_>) -> f64 {
        analysis.within_cpu(self.calls.ns(analysis) + self.work_ns)
    }

    /// The end of a sentence, in words.
    fn in_words(&self, analysis: &Analysis<'_>) -> String {
        let calls = time(self.calls.in_kernel_ns);
        let share = percent(analysis, self.ns(analysis));
        let is_much = self.work_ns > t::WORK_WORTH_REPORTING * self.calls.in_kernel_ns;
        let besides = match is_much {
            true => "",
            false => ", besides the work on what was read",
        };
        let work =
            is_much.then(|| format!("up to {} of work on what was read", time(self.work_ns)));
        let cost = match (self.calls.library_in_words("the calls"), work) {
            (Some(library), Some(work)) => format!("{calls} in the kernel, {library}, and {work}"),
            (Some(more), None) | (None, Some(more)) => format!("{calls} in the kernel and {more}"),
            (None, None) => calls,
        };
        format!("that cost {cost}, {share} of the wall time{besides}.")
    }
}

/// What is done again, and what doing it once would save.
struct Again {
    cost: Cost,
    /// The sentence up to what it cost.
    statement: String,
    /// Names, values and units.
    evidence: Vec<(&'static str, f64, &'static str)>,
    advice: &'static str,
    limit: Option<String>,
    place: Place,
}

impl Again {
    /// The claim on what it costs, where that is worth reporting.
    fn claim(self, analysis: &Analysis<'_>) -> Option<Claim> {
        let Cost { calls, work_ns } = &self.cost;
        let ns = self.cost.ns(analysis);
        if !is_significant(analysis, ns) {
            return None;
        }
        let statement = format!("{}; {}", self.statement, self.cost.in_words(analysis));
        let finding = FindingBuilder::new(FindingId::Rereading, analysis, ns, statement);
        let in_kernel = calls.in_kernel_ns.round();
        let mut finding = calls.evidence(finding, *work_ns);
        finding = finding.evidence("cost of the calls", in_kernel, "ns");
        if *work_ns > 0.0 {
            let work = "work on what was read, at most";
            finding = finding.evidence(work, work_ns.round(), "ns").likely();
        }
        for (name, value, unit) in self.evidence {
            finding = finding.evidence(name, value, unit);
        }
        let finding = finding.advice(self.advice).limit(self.limit);
        Some(finding.place(self.place).finish())
    }
}

/// The costliest of what is read, or listed, again and again.
pub(crate) fn again(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = [
        files::reopened(analysis),
        kept_open::rewound(analysis),
        kept_open::sought(analysis),
        folders::listed(analysis),
    ];
    let found = found.into_iter().flatten();
    found.max_by_key(|finding| finding.could_win_ns)
}

/// What it takes to go through as many bytes that are kept.
fn from_memory(analysis: &Analysis<'_>, bytes: f64) -> Option<String> {
    let bandwidth = analysis
        .observation
        .limits
        .memory_bandwidth
        .filter(|b| *b > 0.0)?;
    Some(format!(
        "reading it once more from memory would take {} here ({:.1} GB/s)",
        time(bytes / bandwidth * 1e9),
        bandwidth / 1e9,
    ))
}

pub(crate) fn part_of(of: u64, all: u64) -> f64 {
    (of as f64 / all.max(1) as f64).min(1.0)
}

/// The work of a process's own code on `bytes` that it reads once more, so many `times`, memory for
/// it included, at most. Nobody sees which of its time goes to which bytes: it is as much as such a
/// language takes to take bytes apart, and of the time that there is beside the calls' library the
/// part that these bytes are of all (`part`). Where that is less than anybody needs to take them
/// apart, the program doesn't look at all of them, and only the memory that they took is counted.
fn work_ns(
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
