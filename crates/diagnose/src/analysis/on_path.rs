//! Breaks the account down by thread and call.

use std::collections::HashMap;

use fathom_model::TimeCategory;
use fathom_trace::{Cause, DescriptorKind, OffCpuRow};

use super::Analysis;
use crate::calls;
use crate::entry_exit_overhead::cpu_in_calls;

/// A time on the critical path, scaled to an untraced run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnPath<'a> {
    pub pid: u32,
    pub tid: u32,
    pub spent: TimeCategory,
    /// The call in which the time was spent; `None` if it was spent outside of calls or the call is unknown.
    pub call: Option<&'a str>,
    pub fd: Option<i32>,
    /// What the descriptor referred to at that time, if its number was reused.
    pub object: Option<&'a DescriptorKind>,
    pub ns: f64,
    /// The count for the whole thread: calls, waits or page faults; `None` if unknown.
    pub count: Option<u64>,
}

/// Categories that are outside of calls, or whose calls are unknown.
const OUTSIDE_OF_CALLS: [TimeCategory; 4] = [
    TimeCategory::UserCode,
    TimeCategory::PageFaults,
    TimeCategory::KernelOutside,
    TimeCategory::Kernel,
];

impl Analysis<'_> {
    /// Returns the object that a row waited for, if the descriptor's number was reused.
    pub(crate) fn object_of<'t>(&'t self, row: &OffCpuRow) -> Option<&'t DescriptorKind> {
        self.trace.objects.get(row.object? as usize)
    }

    /// Returns the approximate parts of [`Analysis::account`]. Because weights apply to whole threads, the
    /// sum of a category is only near that of the account. Empty if the run was stopped at its calls, because
    /// the account isn't derived from the trace's times then.
    pub(crate) fn on_path(&self) -> Vec<OnPath<'_>> {
        if self.factors.is_empty() {
            return Vec::new();
        }
        let of_calls = self.trace.syscalls.iter().map(|row| {
            let spent = calls::on_cpu(&row.name);
            let cpu = cpu_in_calls(row, self.entry_exit.call_ns);
            OnPath {
                pid: row.pid,
                tid: row.tid,
                spent,
                call: Some(&row.name),
                fd: row.fd,
                object: None,
                ns: cpu * self.weight(row.tid) * self.factor(spent),
                count: Some(row.calls + row.unfinished),
            }
        });
        // If the kernel doesn't time calls, all of its time is one part.
        let of_calls = of_calls.filter(|_| !self.by_stops());
        let off = self.trace.off_cpu.iter().zip(&self.off_spent);
        let off = off.filter(|(row, _)| row.cause != Cause::Running);
        let off = off.map(|(row, spent)| OnPath {
            pid: row.pid,
            tid: row.tid,
            spent: *spent,
            call: row.call.as_deref(),
            fd: row.fd,
            object: self.object_of(row),
            ns: row.total_ns as f64 * self.path.wait_weight(row.tid, *spent) * self.factor(*spent),
            count: self.counts_waits().then_some(row.count),
        });
        let faults: HashMap<u32, u64> = self
            .trace
            .threads
            .iter()
            .filter_map(|thread| Some((thread.tid, thread.timed_faults.or(thread.minor_faults)?)))
            .collect();
        let faults = &faults;
        let outside = self.threads.iter().flat_map(|times| {
            OUTSIDE_OF_CALLS.map(|spent| OnPath {
                pid: times.pid,
                tid: times.tid,
                spent,
                call: None,
                fd: None,
                object: None,
                ns: times.sums.get(spent) * self.weight(times.tid) * self.factor(spent),
                count: (spent == TimeCategory::PageFaults)
                    .then(|| faults.get(&times.tid).copied())
                    .flatten(),
            })
        });
        let all = of_calls.chain(off).chain(outside);
        all.filter(|part| part.ns > 0.0).collect()
    }

    /// Returns the part of the work for processes that belongs to no call, in ns: the work of taking down
    /// what ended, which comes after the last record of its `exit_group`.
    pub(crate) fn taken_down_ns(&self) -> f64 {
        let kind = TimeCategory::KernelProcesses;
        let on_path = self.on_path();
        let known = on_path.iter().filter(|part| part.spent == kind);
        self.spent_ns(kind) - known.map(|part| part.ns).sum::<f64>()
    }
}
