//! What each part of an account is called.

use fathom_model::Spent;

use crate::line::Tone;

/// What kind of time a part is: it decides colour, pattern and height in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// On a CPU, in the program's own code.
    Own,
    /// On a CPU, in the kernel.
    Kernel,
    /// Asleep.
    Waiting,
    /// Runnable, and not running.
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

/// The kind of a part.
pub(super) fn kind(spent: Spent) -> Kind {
    match spent {
        Spent::UserCode => Kind::Own,
        Spent::KernelIo
        | Spent::KernelFiles
        | Spent::KernelMemory
        | Spent::KernelProcesses
        | Spent::KernelWaiting
        | Spent::KernelOther
        | Spent::PageFaults
        | Spent::Kernel => Kind::Kernel,
        Spent::WaitingForInput
        | Spent::WaitingForOutput
        | Spent::WaitingForPipe
        | Spent::Disk
        | Spent::Network
        | Spent::Locks
        | Spent::Sleeping
        | Spent::WaitingForChild
        | Spent::WaitingForEvents
        | Spent::Signals
        | Spent::OtherWait => Kind::Waiting,
        Spent::Ready | Spent::Stolen => Kind::Starved,
        Spent::Unaccounted => Kind::Unknown,
    }
}

/// The name of a part where it stands alone; at most 34 columns.
pub(super) fn name(spent: Spent) -> &'static str {
    match spent {
        Spent::UserCode => "the program's own code",
        Spent::KernelIo => "kernel: reading and writing",
        Spent::KernelFiles => "kernel: files and folders",
        Spent::KernelMemory => "kernel: memory calls",
        Spent::KernelProcesses => "kernel: processes and threads",
        Spent::KernelWaiting => "kernel: locks, clocks, polling",
        Spent::KernelOther => "kernel: other calls",
        Spent::PageFaults => "kernel: page faults",
        Spent::Kernel => "kernel: calls and page faults",
        Spent::WaitingForInput => "waiting for input",
        Spent::WaitingForOutput => "waiting for the output's reader",
        Spent::WaitingForPipe => "waiting for a pipe or terminal",
        Spent::Disk => "waiting for the disk",
        Spent::Network => "waiting for the network",
        Spent::Locks => "waiting for a lock",
        Spent::Sleeping => "sleeping as asked",
        Spent::WaitingForChild => "waiting for a child",
        Spent::WaitingForEvents => "waiting for events",
        Spent::Signals => "waiting for a signal",
        Spent::OtherWait => "waiting for something else",
        Spent::Ready => "ready, but not running",
        Spent::Stolen => "stolen by the hypervisor",
        Spent::Unaccounted => "unaccounted",
    }
}

/// One word or two, for small places.
pub(super) fn short(spent: Spent) -> &'static str {
    match spent {
        Spent::UserCode => "own code",
        Spent::KernelIo => "read/write",
        Spent::KernelFiles => "files",
        Spent::KernelMemory => "memory",
        Spent::KernelProcesses => "processes",
        Spent::KernelWaiting => "lock/clock calls",
        Spent::KernelOther => "other calls",
        Spent::PageFaults => "page faults",
        Spent::Kernel => "kernel",
        Spent::WaitingForInput => "stdin",
        Spent::WaitingForOutput => "stdout",
        Spent::WaitingForPipe => "pipe",
        Spent::Disk => "disk",
        Spent::Network => "network",
        Spent::Locks => "lock",
        Spent::Sleeping => "sleep",
        Spent::WaitingForChild => "child",
        Spent::WaitingForEvents => "events",
        Spent::Signals => "signal",
        Spent::OtherWait => "wait",
        Spent::Ready => "ready",
        Spent::Stolen => "stolen",
        Spent::Unaccounted => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_parts_share_a_name_and_all_fit_their_column() {
        let names: BTreeSet<&str> = Spent::ALL.into_iter().map(name).collect();
        let shorts: BTreeSet<&str> = Spent::ALL.into_iter().map(short).collect();
        assert_eq!(
            (names.len(), shorts.len()),
            (Spent::ALL.len(), Spent::ALL.len())
        );
        assert!(names.iter().all(|name| name.len() <= 34));
    }

    #[test]
    fn the_list_follows_the_model() {
        let places: Vec<usize> = Spent::ALL.into_iter().map(|spent| spent as usize).collect();
        assert_eq!(places, (0..Spent::ALL.len()).collect::<Vec<_>>());
        assert_eq!(Spent::Unaccounted as usize + 1, Spent::ALL.len());
    }
}
