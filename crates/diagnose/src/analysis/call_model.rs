//! Models the cost of calls that weren't timed.

use fathom_trace::SyscallRow;

use super::Analysis;
use crate::calls;
use crate::entry_exit_overhead::ENTRY_EXIT_NS;
use crate::thresholds as t;

/// Reports whether the cost of such a call is unpredictable because it involves a device, memory, a peer, or
/// a process.
pub(super) fn may_be_dear(name: &str) -> bool {
    name == "ioctl" || calls::is_sync(name) || calls::weight(name) >= t::WEIGHT_OF_DEAR_CALLS
}

impl Analysis<'_> {
    /// Reports whether the cost of a call depends on its arguments: for example, a new file in a large
    /// folder, hundreds of descriptors, or text or random bytes that the kernel generates.
    pub(super) fn is_elastic(&self, row: &SyscallRow) -> bool {
        let pseudo = || {
            let name = self.name_of(row.pid, row.fd?)?;
            Some(name.starts_with("/proc/") || name.starts_with("/sys/"))
        };
        row.name == "getrandom"
            || calls::opens_file(&row.name)
            || calls::changes_folder(&row.name)
            || calls::is_poll(&row.name)
            || calls::is_read(&row.name) && pseudo().unwrap_or(false)
    }

    /// Returns the cost of the simplest call, including entry and exit.
    pub(super) fn base_ns(&self) -> f64 {
        self.call_ns() + ENTRY_EXIT_NS
    }

    /// Returns the cost of copying the bytes that a row moves.
    pub(super) fn copy_ns(&self, row: &SyscallRow) -> f64 {
        match calls::is_counted(&row.name) {
            true => (row.bytes + self.missed(row).1) as f64 * t::COPY_NS_PER_BYTE,
            false => 0.0,
        }
    }

    /// Returns the cost of one call of a row, by its kind and its entry into the kernel.
    pub(super) fn modelled_ns(&self, row: &SyscallRow) -> f64 {
        let limits = &self.observation.limits;
        let lookup = limits.lookup_seconds;
        let lookup = lookup.filter(|_| calls::asks_about_path(&row.name));
        let ns = match (limits.call_seconds.get(&row.name), lookup) {
            (Some(seconds), _) => seconds * 1e9,
            (_, Some(seconds)) => seconds * 1e9 + ENTRY_EXIT_NS,
            _ => self.base_ns() * calls::weight(&row.name),
        };
        ns + self.entry_ns(row)
    }

    /// Returns the part of such a call that the kernel's ticks charge to it. A tick that comes due on the way
    /// out of the kernel is charged to the program's own code.
    pub(super) fn charged_ns(&self, row: &SyscallRow) -> f64 {
        let simplest = self.observation.limits.syscall_seconds.unwrap_or(0.0) * 1e9;
        self.modelled_ns(row) - t::LATE_PART_OF_A_CALL * simplest
    }

    /// Returns the additional cost of each call of a row that is due to its entry into the kernel, compared
    /// with the usual entry.
    pub(super) fn entry_ns(&self, row: &SyscallRow) -> f64 {
        let seconds = self.observation.limits.entry_32_seconds;
        let seconds = seconds.filter(|_| row.by_32_bit_entry());
        seconds.map_or(0.0, |seconds| (seconds * 1e9 - self.call_ns()).max(0.0))
    }
}
