//! Computes what each thread did over time, for the picture.

use std::collections::BTreeMap;

use fathom_model::{Stretch, TimeCategory};
use fathom_trace::{Interval, Trace};

use crate::classify::Classifier;
use crate::descriptors::Descriptors;
use crate::intervals::woken_ns;

/// Returns the stretches of all threads, ordered by thread and time; there are about `most` of them at most.
///
/// Between two waits, a thread is on a CPU ([`TimeCategory::UserCode`], including kernel work). Waits that
/// are too short for a picture are merged into their surroundings: the minimum length is raised until all
/// stretches fit. Empty if the trace has no timeline.
pub fn timeline(trace: &Trace, most: usize) -> Vec<Stretch> {
    let Some(intervals) = &trace.timeline else {
        return Vec::new();
    };
    let descriptors = Descriptors::new(trace);
    let classifier = Classifier::new(trace, &descriptors);
    let mut of_thread: BTreeMap<u32, Vec<&Interval>> = BTreeMap::new();
    for interval in intervals {
        of_thread.entry(interval.tid).or_default().push(interval);
    }
    let mut shortest = 0;
    loop {
        let stretches = all(trace, &of_thread, &classifier, shortest);
        if stretches.len() <= most.max(trace.threads.len()) || shortest > trace.duration_ns {
            return stretches;
        }
        shortest = (shortest * 2).max(trace.duration_ns / 100_000).max(1000);
    }
}

fn all(
    trace: &Trace,
    of_thread: &BTreeMap<u32, Vec<&Interval>>,
    classifier: &Classifier<'_>,
    shortest: u64,
) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for thread in &trace.threads {
        let end = thread.ended_ns.unwrap_or(trace.duration_ns);
        let mut line = Line {
            pid: thread.pid,
            tid: thread.tid,
            at: thread.started_ns,
            out: Vec::new(),
        };
        let mut intervals = of_thread.get(&thread.tid).cloned().unwrap_or_default();
        intervals.sort_by_key(|i| i.from_ns);
        for interval in intervals
            .iter()
            .filter(|i| i.to_ns - i.from_ns.min(i.to_ns) >= shortest)
        {
            let waited_to = woken_ns(interval);
            let spent = classifier.interval(interval);
            let detail = interval.call.as_ref().map(|call| match interval.fd {
                Some(fd) => format!("{call} on descriptor {fd}"),
                None => call.clone(),
            });
            line.push(interval.from_ns, TimeCategory::UserCode, None);
            line.push(waited_to, spent, detail);
            line.push(interval.to_ns, TimeCategory::Ready, None);
        }
        line.push(end, TimeCategory::UserCode, None);
        stretches.append(&mut line.out);
    }
    stretches
}

struct Line {
    pid: u32,
    tid: u32,
    at: u64,
    out: Vec<Stretch>,
}

impl Line {
    /// Adds a stretch up to `to`, merging it with the previous one if they are the same.
    fn push(&mut self, to: u64, spent: TimeCategory, detail: Option<String>) {
        if to <= self.at {
            return;
        }
        let from = std::mem::replace(&mut self.at, to);
        if let Some(last) = self.out.last_mut()
            && last.spent == spent
            && last.detail == detail
        {
            last.to_ns = to;
            return;
        }
        self.out.push(Stretch {
            pid: self.pid,
            tid: self.tid,
            from_ns: from,
            to_ns: to,
            spent,
            detail,
        });
    }
}
