//! What does a call take that nobody timed?

use fathom_trace::SyscallRow;

use super::View;
use super::unseen::is_counted;
use crate::classify;
use crate::edges::AROUND_CALL_NS;
use crate::thresholds as t;

/// Whether nobody knows what such a call takes: a device, memory, a peer, a process.
pub(super) fn may_be_dear(name: &str) -> bool {
    name == "ioctl" || classify::is_sync(name) || classify::weight(name) >= t::WEIGHT_OF_DEAR_CALLS
}

impl View<'_> {
    /// Whether what a call takes depends on what it is asked for: a new file in a full folder, hundreds of
    /// descriptors, text or random bytes that the kernel makes.
    pub(super) fn is_elastic(&self, row: &SyscallRow) -> bool {
        let made_up = || {
            let name = self.name_of(row.pid, row.fd?)?;
            Some(name.starts_with("/proc/") || name.starts_with("/sys/"))
        };
        row.name == "getrandom"
            || classify::opens_file(&row.name)
            || classify::changes_folder(&row.name)
            || classify::is_poll(&row.name)
            || classify::is_read(&row.name) && made_up().unwrap_or(false)
    }

    /// What the simplest call costs, with the way into it and back.
    pub(super) fn base_ns(&self) -> f64 {
        self.call_ns() + AROUND_CALL_NS
    }

    /// What the bytes take that a row moves.
    pub(super) fn copy_ns(&self, row: &SyscallRow) -> f64 {
        match is_counted(&row.name) {
            true => (row.bytes + self.missed(row).1) as f64 * t::COPY_NS_PER_BYTE,
            false => 0.0,
        }
    }

    /// What one call of a row takes, by its kind and its way into the kernel.
    pub(super) fn modelled_ns(&self, row: &SyscallRow) -> f64 {
        let lookup = self.subject.limits.lookup_seconds;
        let ns = match lookup.filter(|_| classify::asks_about_path(&row.name)) {
            Some(seconds) => seconds * 1e9 + AROUND_CALL_NS,
            None => self.base_ns() * classify::weight(&row.name),
        };
        ns + self.entry_ns(row)
    }

    /// What the way into each call of a row takes beyond the usual one.
    pub(super) fn entry_ns(&self, row: &SyscallRow) -> f64 {
        let seconds = self.subject.limits.entry_32_seconds;
        let seconds = seconds.filter(|_| row.by_32_bit_entry());
        seconds.map_or(0.0, |seconds| (seconds * 1e9 - self.call_ns()).max(0.0))
    }
}
