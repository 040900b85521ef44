//! Finds data that is read or written again and again: from files that are reopened each time, from a file
//! that stays open, or from folders. Each repetition costs its calls, and the work on the data.

pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod kept_open;
pub(crate) mod made_up;
mod reopened;
pub(crate) mod rewritten;

use crate::mechanisms::prelude::*;
use reopened::ReopenedFile;

/// What a program's own work on repeated data is called.
const ON_READ: &str = "work on the data read";
const ON_WRITTEN: &str = "work on the data written";

/// Builds a finding about data that is read or written again. `statement` is the text before the cost;
/// `work_ns` is an upper bound on the program's own work, and `on` what it is called.
fn finding(
    id: FindingId,
    analysis: &Analysis<'_>,
    calls: &CallCost,
    (work_ns, on): (f64, &str),
    statement: &str,
) -> Claim {
    let ns = analysis.within_cpu(calls.ns(analysis) + work_ns);
    let is_much = work_ns > t::WORK_WORTH_REPORTING * calls.in_kernel_ns;
    let besides = if_so(!is_much, || format!(", besides the {on}"));
    let work = is_much.then(|| format!("up to {} of {on}", time(work_ns)));
    let in_kernel = time(calls.in_kernel_ns);
    let cost = match (calls.library_in_words("the calls"), work) {
        (Some(library), Some(work)) => format!("{in_kernel} in the kernel, {library}, and {work}"),
        (Some(more), None) | (None, Some(more)) => format!("{in_kernel} in the kernel and {more}"),
        (None, None) => in_kernel,
    };
    let share = analysis.percent(ns);
    let statement = format!("{statement}; that cost {cost}, {share} of the wall time{besides}.");
    let claim = Claim::new(id, analysis, ns, statement).guessing(calls.library_ns + work_ns);
    let claim = calls.evidence(claim, work_ns);
    let claim = claim.evidence("cost of the calls", calls.in_kernel_ns.round(), "ns");
    match work_ns > 0.0 {
        true => claim
            .evidence(&format!("{on}, at most"), work_ns.round(), "ns")
            .likely(),
        false => claim,
    }
}

/// Returns whether a file is a database with a journal beside it. The journal may only have been looked up. The pages of
/// a database are read and written at their places.
fn is_database(analysis: &Analysis<'_>, path: &str) -> bool {
    let opened = analysis.trace.files.iter().map(|file| file.name.text());
    let missing = analysis.trace.failed_lookups.iter();
    let mut names = opened.chain(missing.map(|lookup| lookup.path.as_str().into()));
    names.any(|name| {
        let end = name.strip_prefix(path);
        end.is_some_and(|end| ["-journal", "-wal"].contains(&end))
    })
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

/// What a process reads or writes again.
struct Again<'a> {
    pid: u32,
    paths: &'a [String],
    /// The part of it that is repeated, 0 to 1.
    again: f64,
    /// Its bytes, and how often it is read or written.
    bytes: f64,
    times: f64,
    /// The part of all bytes of the process that it is, 0 to 1.
    part: f64,
}

impl Again<'_> {
    /// Returns the work of the process's own code on the repeated data: the modelled time or that from
    /// samples, whichever is larger. It is without the library code of the calls.
    fn work_ns(&self, analysis: &Analysis<'_>, calls: &CallCost) -> f64 {
        // Samples found this in the functions that open these paths or read and use their content.
        let sampled = analysis.in_openers_ns(self.pid, self.paths) * self.again - calls.library_ns;
        let most = t::SLOWEST_PARSING_NS_PER_BYTE * self.bytes * self.again;
        self.modelled_ns(analysis, calls)
            .max(sampled.clamp(0.0, most))
    }

    /// Returns an upper limit for that work, including memory for the data. It is unknown which part of the
    /// code's time goes to which bytes, so the result is the usual parsing time of its language, limited to
    /// their share of its time. If that is less than any parser needs, the program doesn't look at all of the
    /// bytes, and only the memory for them is counted.
    fn modelled_ns(&self, analysis: &Analysis<'_>, calls: &CallCost) -> f64 {
        if self.part < t::PART_OF_INPUT {
            return 0.0;
        }
        let (bytes, times) = (self.bytes * self.again, self.times * self.again);
        let own = (analysis.own_ns(self.pid) - calls.library_ns).max(0.0) * self.part;
        let library = &analysis.runtime(Some(self.pid)).library;
        let each = match own < t::QUICKEST_PARSING_NS_PER_BYTE * bytes {
            true => library.collect,
            false if bytes <= t::MOST_OF_A_SETTINGS_FILE * times => library.parse_settings,
            false => library.parse,
        };
        (bytes * each).min(own)
    }
}
