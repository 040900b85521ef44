//! Where the wall time of a run went.

use serde::{Deserialize, Serialize};

/// What an interval of wall time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeCategory {
    /// On a CPU in the program's own code.
    UserCode,
    /// On a CPU in the kernel, in calls that read or write.
    KernelIo,
    /// On a CPU in the kernel, in calls on files and folders: open, stat, getdents.
    KernelFiles,
    /// On a CPU in the kernel, in calls that manage memory: mmap, munmap, brk, madvise.
    KernelMemory,
    /// On a CPU in the kernel, in calls that create, execute and wait for processes and threads.
    KernelProcesses,
    /// On a CPU in the kernel, in calls for synchronization, time and polling.
    KernelWaiting,
    /// On a CPU in the kernel, in other calls.
    KernelOther,
    /// On a CPU in the kernel, serving page faults.
    PageFaults,
    /// On a CPU in the kernel, outside of calls and page faults: exceptions, the delivery of signals,
    /// interrupts (kernel tier, if both samples and the kernel's own split show it).
    KernelOutside,
    /// On a CPU in the kernel, in calls or faults: separated from the program's own code by ticks, and not
    /// divided further (sampling tier).
    Kernel,
    /// Waiting for standard input: its producer is slower.
    WaitingForInput,
    /// Waiting for the reader of standard output.
    WaitingForOutput,
    /// Waiting for other pipes or for terminals.
    WaitingForPipe,
    /// Waiting for the storage device.
    #[serde(rename = "waiting_for_disk", alias = "disk")]
    Disk,
    /// Waiting for a socket.
    #[serde(rename = "waiting_for_network", alias = "network")]
    Network,
    /// Waiting for a lock, or for a thread that holds one.
    #[serde(rename = "waiting_for_locks", alias = "locks")]
    Locks,
    /// Asleep for a duration that the program requested.
    Sleeping,
    /// Waiting for a child process.
    WaitingForChild,
    /// Waiting for events (poll, select, epoll) of several kinds.
    WaitingForEvents,
    /// Waiting for a signal: pause, sigsuspend, sigwait.
    #[serde(rename = "waiting_for_signal", alias = "signals")]
    Signals,
    /// Waiting for something else.
    #[serde(rename = "other_waits", alias = "other_wait")]
    OtherWait,
    /// Ready to run, but other programs or threads had the CPU.
    #[serde(rename = "waiting_for_cpu", alias = "ready")]
    Ready,
    /// Ready to run, but the CPU limit of its control group was used up.
    Throttled,
    /// The hypervisor gave the CPU to others.
    #[serde(rename = "cpu_steal", alias = "stolen")]
    Stolen,
    /// Not explained.
    Unaccounted,
}

impl TimeCategory {
    /// Every category that an account can have, in order.
    pub const ALL: [Self; 25] = [
        Self::UserCode,
        Self::KernelIo,
        Self::KernelFiles,
        Self::KernelMemory,
        Self::KernelProcesses,
        Self::KernelWaiting,
        Self::KernelOther,
        Self::PageFaults,
        Self::KernelOutside,
        Self::Kernel,
        Self::WaitingForInput,
        Self::WaitingForOutput,
        Self::WaitingForPipe,
        Self::Disk,
        Self::Network,
        Self::Locks,
        Self::Sleeping,
        Self::WaitingForChild,
        Self::WaitingForEvents,
        Self::Signals,
        Self::OtherWait,
        Self::Ready,
        Self::Throttled,
        Self::Stolen,
        Self::Unaccounted,
    ];
    /// The categories in which the kernel works for the program.
    pub const IN_KERNEL: [Self; 9] = [
        Self::KernelIo,
        Self::KernelFiles,
        Self::KernelMemory,
        Self::KernelProcesses,
        Self::KernelWaiting,
        Self::KernelOther,
        Self::PageFaults,
        Self::KernelOutside,
        Self::Kernel,
    ];

    /// Returns its name in the JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::UserCode => "user_code",
            Self::KernelIo => "kernel_io",
            Self::KernelFiles => "kernel_files",
            Self::KernelMemory => "kernel_memory",
            Self::KernelProcesses => "kernel_processes",
            Self::KernelWaiting => "kernel_waiting",
            Self::KernelOther => "kernel_other",
            Self::PageFaults => "page_faults",
            Self::KernelOutside => "kernel_outside",
            Self::Kernel => "kernel",
            Self::WaitingForInput => "waiting_for_input",
            Self::WaitingForOutput => "waiting_for_output",
            Self::WaitingForPipe => "waiting_for_pipe",
            Self::Disk => "waiting_for_disk",
            Self::Network => "waiting_for_network",
            Self::Locks => "waiting_for_locks",
            Self::Sleeping => "sleeping",
            Self::WaitingForChild => "waiting_for_child",
            Self::WaitingForEvents => "waiting_for_events",
            Self::Signals => "waiting_for_signal",
            Self::OtherWait => "other_waits",
            Self::Ready => "waiting_for_cpu",
            Self::Throttled => "throttled",
            Self::Stolen => "cpu_steal",
            Self::Unaccounted => "unaccounted",
        }
    }

    /// Reports whether it is CPU time of the kernel working for the program.
    pub fn is_in_kernel(self) -> bool {
        Self::IN_KERNEL.contains(&self)
    }
}

/// One part of an account.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccountPart {
    /// What the time was spent on.
    #[serde(rename = "category", alias = "spent")]
    pub spent: TimeCategory,
    /// Nanoseconds.
    pub ns: u64,
}

/// Parts that add up to a wall time, largest first. In [`crate::Explanation::account`], this is the median
/// wall time of the untraced runs; in [`ThreadAccount`], the time from start to end of a thread of the
/// observed run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeAccount {
    /// The total in nanoseconds.
    pub wall_ns: u64,
    /// The parts, whose sum is `wall_ns`; empty if the observed times describe only the observer itself.
    pub parts: Vec<AccountPart>,
}

impl TimeAccount {
    /// Returns the nanoseconds in this category; 0 if the account has no such part.
    pub fn ns(&self, spent: TimeCategory) -> u64 {
        self.parts
            .iter()
            .filter(|part| part.spent == spent)
            .map(|part| part.ns)
            .sum()
    }

    /// Returns this category's share of the wall time, 0 to 1.
    pub fn share(&self, spent: TimeCategory) -> f64 {
        if self.wall_ns == 0 {
            0.0
        } else {
            self.ns(spent) as f64 / self.wall_ns as f64
        }
    }
}

/// The account of one thread, for `--threads` and `--processes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThreadAccount {
    /// The process id.
    pub pid: u32,
    /// The thread id.
    pub tid: u32,
    /// The name, not trustworthy: escape it.
    pub name: String,
    /// When it began, in nanoseconds from the start of the run.
    pub from_ns: u64,
    /// When it ended, in nanoseconds from the start of the run.
    pub to_ns: u64,
    /// Where its time went; the total is the time from its start to its end.
    pub account: TimeAccount,
}

#[cfg(test)]
mod tests {
    use super::TimeCategory;

    #[test]
    fn keys_are_those_of_the_json() {
        for spent in TimeCategory::ALL {
            assert_eq!(serde_json::to_value(spent).unwrap(), spent.key());
        }
    }
}
