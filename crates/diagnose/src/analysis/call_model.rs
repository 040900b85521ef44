//! What does a call take that nobody timed?

use fathom_trace::SyscallRow;

use super::Analysis;
use crate::calls;
use crate::entry_exit_overhead::ENTRY_EXIT_NS;
use crate::thresholds as t;

/// Whether nobody knows what such a call takes: a device, memory, a peer, a process.
pub(super) fn may_be_dear(name: &str) -> bool {
    name == "ioctl" || calls::is_sync(name) || calls::weight(name) >= t::WEIGHT_OF_DEAR_CALLS
}

impl Analysis<'_> {
    /// Whether what a call takes depends on what it is asked for: a new file in a full folder,
    /// hundreds of descriptors, text or random bytes that the kernel makes.
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

    /// What the simplest call costs, with the way into it and back.
    pub(super) fn base_ns(&self) -> f64 {
        self.call_ns() + ENTRY_EXIT_NS
    }

    /// What the bytes take that a row moves.
    pub(super) fn copy_ns(&self, row: &SyscallRow) -> f64 {
        match calls::is_counted(&row.name) {
            true => (row.bytes + self.missed(row).1) as f64 * t::COPY_NS_PER_BYTE,
            false => 0.0,
        }
    }

    /// What one call of a row takes, by its kind and its way into the kernel.
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

    /// What of such a call the kernel's ticks charge to it: one that comes due on the way out finds the
    /// program's own code.
    pub(super) fn charged_ns(&self, row: &SyscallRow) -> f64 {
        let simplest = self.observation.limits.syscall_seconds.unwrap_or(0.0) * 1e9;
        self.modelled_ns(row) - t::LATE_PART_OF_A_CALL * simplest
    }

    /// What the way into each call of a row takes beyond the usual one.
    pub(super) fn entry_ns(&self, row: &SyscallRow) -> f64 {
        let seconds = self.observation.limits.entry_32_seconds;
        let seconds = seconds.filter(|_| row.by_32_bit_entry());
        seconds.map_or(0.0, |seconds| (seconds * 1e9 - self.call_ns()).max(0.0))
    }
}
