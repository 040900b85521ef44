//! Reads and writes that the kernel counted but that weren't traced.

use fathom_trace::SyscallRow;

use super::Analysis;
use super::median::median;
use crate::calls;

/// Selects one of the kernel's counts of a run.
type IoCount = fn(&fathom_model::IoCounts) -> u64;

/// The calls of one kind that the kernel counted but that weren't traced.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Untraced {
    /// The index of the busiest row of the kind, to which they are attributed.
    pub(super) row: Option<usize>,
    pub(super) calls: u64,
    pub(super) bytes: u64,
}

impl Analysis<'_> {
    /// Returns the reads and writes that the kernel counted in addition to the traced calls.
    pub(super) fn count_untraced_io(&self) -> [Untraced; 2] {
        if !self.by_stops() {
            return [Untraced::default(); 2];
        }
        let of = |fits: fn(&str) -> bool, calls: IoCount, bytes: IoCount| {
            let rows = self.trace.syscalls.iter().enumerate();
            let same: Vec<(usize, &SyscallRow)> = rows
                .filter(|(_, row)| {
                    fits(&row.name) && !calls::is_message(&row.name)
                        || calls::is_counted_as_both(&row.name)
                })
                .collect();
            let busiest = same
                .iter()
                .max_by_key(|(_, row)| (row.calls, row.tid, row.fd));
            let rest = |of: IoCount, traced: u64| {
                let runs = self.timed.iter();
                let all = median(runs.filter_map(|run| run.io.as_ref().map(of)).collect());
                all.map_or(0, |all| (all as u64).saturating_sub(traced))
            };
            Untraced {
                row: busiest.map(|(place, _)| *place),
                calls: rest(calls, same.iter().map(|(_, row)| row.calls).sum()),
                bytes: rest(bytes, same.iter().map(|(_, row)| row.bytes).sum()),
            }
        };
        [
            of(calls::is_read, |io| io.read_calls, |io| io.read_bytes),
            of(calls::is_write, |io| io.write_calls, |io| io.written_bytes),
        ]
    }
}
