//! Names of the parts of an account.

use fathom_model::{TimeAccount, TimeCategory};

use crate::line::Tone;

/// The kind of time of a part, which determines color, pattern and height in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// On a CPU, in the program's own code.
    Own,
    /// On a CPU, in the kernel.
    Kernel,
    /// Asleep, waiting.
    Waiting,
    /// Runnable, but not running.
    Starved,
    /// Not explained.
    Unknown,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Own => "own",
            Kind::Kernel => "kernel",
            Kind::Waiting => "waiting",
            Kind::Starved => "starved",
            Kind::Unknown => "unknown",
        }
    }

    pub(super) fn tone(self) -> Tone {
        match self {
            Kind::Own => Tone::OwnTime,
            Kind::Kernel => Tone::KernelTime,
            Kind::Waiting => Tone::WaitTime,
            Kind::Starved => Tone::StarvedTime,
            Kind::Unknown => Tone::Quiet,
        }
    }
}

/// The smallest part of the wall time that tells anything about the command.
pub(super) const LEAST_OWN_PART: f64 = 0.02;

/// Returns the kind of a part.
pub(super) fn kind(spent: TimeCategory) -> Kind {
    match spent {
        TimeCategory::UserCode => Kind::Own,
        TimeCategory::KernelIo
        | TimeCategory::KernelFiles
        | TimeCategory::KernelMemory
        | TimeCategory::KernelProcesses
        | TimeCategory::KernelWaiting
        | TimeCategory::KernelOther
        | TimeCategory::PageFaults
        | TimeCategory::KernelOutside
        | TimeCategory::Kernel => Kind::Kernel,
        TimeCategory::WaitingForInput
        | TimeCategory::WaitingForOutput
        | TimeCategory::WaitingForPipe
        | TimeCategory::Disk
        | TimeCategory::Network
        | TimeCategory::Locks
        | TimeCategory::Sleeping
        | TimeCategory::WaitingForChild
        | TimeCategory::WaitingForEvents
        | TimeCategory::Signals
        | TimeCategory::OtherWait => Kind::Waiting,
        TimeCategory::Ready | TimeCategory::Throttled | TimeCategory::Stolen => Kind::Starved,
        TimeCategory::Unaccounted => Kind::Unknown,
    }
}

/// Returns the command's own part of the wall time: what remains without the waits for a CPU. Shares are judged
/// relative to it, so that other programs don't change the answer. At least [`LEAST_OWN_PART`].
pub(super) fn own_part(account: &TimeAccount) -> f64 {
    let parts = TimeCategory::ALL.into_iter();
    let parts = parts.filter(|part| kind(*part) == Kind::Starved);
    let starved: f64 = parts.map(|part| account.share(part)).sum();
    (1.0 - starved).max(LEAST_OWN_PART)
}

/// Returns the name of a part on its own; at most 34 columns.
pub(super) fn name(spent: TimeCategory) -> &'static str {
    match spent {
        TimeCategory::UserCode => "the program's own code",
        TimeCategory::KernelIo => "kernel: reading and writing",
        TimeCategory::KernelFiles => "kernel: files and folders",
        TimeCategory::KernelMemory => "kernel: memory calls",
        TimeCategory::KernelProcesses => "kernel: processes and threads",
        TimeCategory::KernelWaiting => "kernel: locks, clocks, polling",
        TimeCategory::KernelOther => "kernel: other calls",
        TimeCategory::PageFaults => "kernel: page faults",
        TimeCategory::KernelOutside => "kernel: outside calls and faults",
        TimeCategory::Kernel => "kernel: calls and page faults",
        TimeCategory::WaitingForInput => "waiting for input",
        TimeCategory::WaitingForOutput => "waiting for the output's reader",
        TimeCategory::WaitingForPipe => "waiting for a pipe or terminal",
        TimeCategory::Disk => "waiting for the disk",
        TimeCategory::Network => "waiting for the network",
        TimeCategory::Locks => "waiting for a lock",
        TimeCategory::Sleeping => "sleeping",
        TimeCategory::WaitingForChild => "waiting for a child",
        TimeCategory::WaitingForEvents => "waiting for events",
        TimeCategory::Signals => "waiting for a signal",
        TimeCategory::OtherWait => "other waits",
        TimeCategory::Ready => "waiting for a CPU",
        TimeCategory::Throttled => "stopped by the group's CPU limit",
        TimeCategory::Stolen => "stolen by the hypervisor",
        TimeCategory::Unaccounted => "unaccounted",
    }
}

/// Returns a word or two, for small spaces.
pub(super) fn short(spent: TimeCategory) -> &'static str {
    match spent {
        TimeCategory::UserCode => "own code",
        TimeCategory::KernelIo => "read/write",
        TimeCategory::KernelFiles => "files",
        TimeCategory::KernelMemory => "memory",
        TimeCategory::KernelProcesses => "processes",
        TimeCategory::KernelWaiting => "lock/clock/poll",
        TimeCategory::KernelOther => "other calls",
        TimeCategory::PageFaults => "page faults",
        TimeCategory::KernelOutside => "kernel, no call",
        TimeCategory::Kernel => "kernel",
        TimeCategory::WaitingForInput => "input",
        TimeCategory::WaitingForOutput => "output",
        TimeCategory::WaitingForPipe => "pipe",
        TimeCategory::Disk => "disk",
        TimeCategory::Network => "network",
        TimeCategory::Locks => "lock",
        TimeCategory::Sleeping => "sleeping",
        TimeCategory::WaitingForChild => "child",
        TimeCategory::WaitingForEvents => "events",
        TimeCategory::Signals => "signal",
        TimeCategory::OtherWait => "other waits",
        TimeCategory::Ready => "CPU wait",
        TimeCategory::Throttled => "throttled",
        TimeCategory::Stolen => "stolen",
        TimeCategory::Unaccounted => "unaccounted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_parts_share_a_name_and_all_fit_their_column() {
        let names: BTreeSet<&str> = TimeCategory::ALL.into_iter().map(name).collect();
        let shorts: BTreeSet<&str> = TimeCategory::ALL.into_iter().map(short).collect();
        assert_eq!(
            (names.len(), shorts.len()),
            (TimeCategory::ALL.len(), TimeCategory::ALL.len())
        );
        assert!(names.iter().all(|name| name.len() <= 34));
    }

    #[test]
    fn the_list_follows_the_model() {
        let places: Vec<usize> = TimeCategory::ALL
            .into_iter()
            .map(|spent| spent as usize)
            .collect();
        assert_eq!(places, (0..TimeCategory::ALL.len()).collect::<Vec<_>>());
        assert_eq!(
            TimeCategory::Unaccounted as usize + 1,
            TimeCategory::ALL.len()
        );
    }
}
