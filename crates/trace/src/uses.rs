//! The data that moved through a descriptor while it had one target.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::descriptor::DescriptorKind;

/// Totals of the calls in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Number of calls that returned.
    pub calls: u64,
    /// Number of bytes that they moved.
    pub bytes: u64,
    /// Number of failed calls.
    pub errors: u64,
    /// Time from entry to return as traced, ns.
    pub total_ns: u64,
    /// Part of `total_ns` during which the thread was asleep, ns.
    pub blocked_ns: u64,
}

impl Flow {
    /// Returns the increase since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            bytes: self.bytes.saturating_sub(before.bytes),
            errors: self.errors.saturating_sub(before.errors),
            total_ns: self.total_ns.saturating_sub(before.total_ns),
            blocked_ns: self.blocked_ns.saturating_sub(before.blocked_ns),
        }
    }
}

impl AddAssign for Flow {
    fn add_assign(&mut self, more: Self) {
        self.calls = self.calls.saturating_add(more.calls);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.errors = self.errors.saturating_add(more.errors);
        self.total_ns = self.total_ns.saturating_add(more.total_ns);
        self.blocked_ns = self.blocked_ns.saturating_add(more.blocked_ns);
    }
}

/// Totals of reads, writes and seeks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Read calls.
    pub read: Flow,
    /// Write calls.
    pub written: Flow,
    /// Calls of `lseek`.
    pub sought: Flow,
}

impl Moved {
    /// Returns the number of calls that moved bytes, or would have.
    pub fn calls(&self) -> u64 {
        self.read.calls.saturating_add(self.written.calls)
    }

    /// Returns the increase since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            read: self.read.since(before.read),
            written: self.written.since(before.written),
            sought: self.sought.since(before.sought),
        }
    }
}

impl AddAssign for Moved {
    fn add_assign(&mut self, more: Self) {
        self.read += more.read;
        self.written += more.written;
        self.sought += more.sought;
    }
}

/// The data that moved through a descriptor number of a process while it was this file, pipe or socket.
///
/// Covers only `read`, `write`, `readv`, `writev`, `pread64`, `pwrite64` and `lseek`: other calls appear only
/// in the [`SyscallRow`](crate::SyscallRow)s of the number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseRow {
    /// Process.
    pub pid: u32,
    /// Descriptor number.
    pub fd: i32,
    /// The target.
    pub name: DescriptorKind,
    /// The calls and bytes.
    pub moved: Moved,
}
