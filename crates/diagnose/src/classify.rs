//! What does time in a call count as?

use std::collections::{HashMap, HashSet};

use fathom_model::Spent;
pub(crate) use fathom_trace::calls::is_poll;
use fathom_trace::{Cause, Interval, OffCpuRow, PollEnds, Tier, Trace};

use crate::descriptors::{Descriptors, Kind};
use crate::thresholds as t;

const READ_WRITE: &[&str] = &[
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "sendfile",
    "splice",
    "tee",
    "copy_file_range",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "lseek",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "sync",
    "msync",
];
const FILES: &[&str] = &[
    "open",
    "openat",
    "openat2",
    "creat",
    "close",
    "close_range",
    "stat",
    "lstat",
    "fstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents",
    "getdents64",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchown",
    "fchownat",
    "utimensat",
    "ftruncate",
    "truncate",
    "fallocate",
    "statfs",
    "fstatfs",
    "getxattr",
    "lgetxattr",
    "fgetxattr",
    "listxattr",
    "chdir",
    "fchdir",
    "getcwd",
    "fcntl",
    "flock",
    "fadvise64",
    "readahead",
    "dup",
    "dup2",
    "dup3",
    "umask",
];
const MEMORY: &[&str] = &[
    "mmap",
    "munmap",
    "mremap",
    "brk",
    "mprotect",
    "madvise",
    "mlock",
    "munlock",
    "mincore",
    "mbind",
    "pkey_mprotect",
];
const PROCESSES: &[&str] = &[
    "fork",
    "vfork",
    "clone",
    "clone3",
    "execve",
    "execveat",
    "wait4",
    "waitid",
    "exit",
    "exit_group",
    "kill",
    "tgkill",
    "tkill",
    "set_tid_address",
    "set_robust_list",
    "rseq",
    "pidfd_open",
];
const SLEEPS: &[&str] = &["nanosleep", "clock_nanosleep"];
/// Waits for signals: of the end of a child, where there are children. No sleeps: no time ends them.
const SIGNAL_WAITS: &[&str] = &["pause", "rt_sigsuspend", "rt_sigtimedwait"];
const LOCKS: &[&str] = &[
    "futex",
    "futex_wait",
    "futex_waitv",
    "futex_wake",
    "semop",
    "semtimedop",
];
/// Locks on files: by `fcntl` too, which never waits for anything else.
const FILE_LOCKS: &[&str] = &["flock", "fcntl"];
const CHILD_WAITS: &[&str] = &["wait4", "waitid", "vfork", "clone", "clone3", "fork"];
const CLOCKS: &[&str] = &[
    "clock_gettime",
    "gettimeofday",
    "time",
    "times",
    "getrusage",
    "clock_getres",
];
const SYNCS: &[&str] = &[
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "sync",
    "msync",
];
const OTHER_WAITING: &[&str] = &[
    "sched_yield",
    "eventfd2",
    "epoll_ctl",
    "epoll_create1",
    "timerfd_settime",
    "setitimer",
];
const READS: &[&str] = &[
    "read", "readv", "pread64", "preadv", "preadv2", "recvfrom", "recvmsg", "recvmmsg",
];
const WRITES: &[&str] = &[
    "write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendmmsg",
];

pub(crate) fn is_sleep(call: &str) -> bool {
    SLEEPS.contains(&call)
}
pub(crate) fn is_lock(call: &str) -> bool {
    LOCKS.contains(&call)
}
pub(crate) fn is_file_lock(call: &str) -> bool {
    FILE_LOCKS.contains(&call)
}
pub(crate) fn is_clock(call: &str) -> bool {
    CLOCKS.contains(&call)
}
pub(crate) fn is_sync(call: &str) -> bool {
    SYNCS.contains(&call)
}
pub(crate) fn is_read(call: &str) -> bool {
    READS.contains(&call)
}
pub(crate) fn is_write(call: &str) -> bool {
    WRITES.contains(&call)
}
/// Whether it opens a file.
pub(crate) fn opens_file(call: &str) -> bool {
    ["open", "openat", "openat2"].contains(&call)
}
/// Whether it asks what is at a path, or of an open file.
pub(crate) fn asks_about_path(call: &str) -> bool {
    let is_stat = call.contains("stat") && !call.contains("statfs");
    is_stat || call.contains("access") || call.contains("readlink")
}
/// Whether it gives the names in a folder.
pub(crate) fn lists_folder(call: &str) -> bool {
    ["getdents", "getdents64"].contains(&call)
}
/// Whether only sockets have this call.
pub(crate) fn is_of_sockets(call: &str) -> bool {
    let names = ["recv", "accept", "sendto", "sendm"];
    call == "connect" || names.iter().any(|name| call.starts_with(name))
}
pub(crate) fn is_memory(call: &str) -> bool {
    MEMORY.contains(&call)
}
pub(crate) fn is_child_wait(call: &str) -> bool {
    CHILD_WAITS.contains(&call)
}

/// How many times as long as the simplest call this one takes in the kernel, on an ordinary machine. A rough
/// guide, for where only the time of all calls together is known.
pub(crate) fn weight(call: &str) -> f64 {
    let call = call.strip_suffix(" (32-bit)").unwrap_or(call);
    match call {
        "execve" | "execveat" => 1500.0,
        "fork" | "vfork" | "clone" | "clone3" => 300.0,
        "wait4" | "waitid" | "close" => 2.0,
        // It looks for who else could run.
        "sched_yield" => 4.0,
        "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat" | "mkdir" | "rmdir" => 20.0,
        "open" | "openat" | "openat2" | "creat" => 6.0,
        "munmap" | "madvise" | "mremap" => 8.0,
        "mmap" | "brk" | "mprotect" => 5.0,
        "futex" | "poll" | "ppoll" | "epoll_wait" | "epoll_pwait" | "select" | "pselect6" => 2.0,
        "connect" | "accept" | "accept4" | "socket" => 30.0,
        "getdents64" | "getdents" => 10.0,
        // Those that the vDSO doesn't serve add up the threads' times.
        _ if is_clock(call) => 3.0,
        _ if is_of_sockets(call) => 10.0,
        _ if call.contains("stat") || call.contains("access") || call.contains("readlink") => 4.0,
        _ => 1.0,
    }
}

/// What CPU time in this call counts as.
pub(crate) fn on_cpu(call: &str) -> Spent {
    let call = call.strip_suffix(" (32-bit)").unwrap_or(call);
    let is_in = |list: &[&str]| list.contains(&call);
    if is_in(READ_WRITE) {
        Spent::KernelIo
    } else if is_in(FILES) {
        Spent::KernelFiles
    } else if is_in(MEMORY) {
        Spent::KernelMemory
    } else if is_in(PROCESSES) {
        Spent::KernelProcesses
    } else if is_poll(call)
        || is_in(SLEEPS)
        || is_in(SIGNAL_WAITS)
        || is_in(LOCKS)
        || is_in(CLOCKS)
        || is_in(OTHER_WAITING)
    {
        Spent::KernelWaiting
    } else {
        Spent::KernelOther
    }
}

/// What a process's polls wait for: told by what it does with its descriptors. A poll that ends with an
/// event is followed by a call that takes it, so the numbers of those calls say what most waits were for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PollContext {
    /// Calls that took bytes from a descriptor 0 that can keep one waiting, or from a named pipe that is
    /// written outside of the tree.
    pub input: u64,
    /// Calls that moved bytes through sockets, made connections or took them.
    pub sockets: u64,
    /// Calls that took bytes from sockets.
    pub answers: u64,
    /// Writes to sockets of this machine that found them full.
    pub full_sockets: u64,
    /// Writes to descriptor 1, or to a named pipe that is read outside of the tree, that found it full.
    pub output: u64,
    /// Calls that took bytes from other pipes.
    pub pipes: u64,
    /// Calls that took a count from an eventfd.
    pub events: u64,
    /// Calls that took a count from a timerfd.
    pub timers: u64,
    /// The polls themselves.
    pub polls: u64,
    /// How they ended, where that is known.
    pub ends: Option<PollEnds>,
    /// It has children.
    pub children: bool,
}

impl PollContext {
    fn spent(self) -> Spent {
        let pipes = if self.children { self.pipes } else { 0 };
        let (sockets, output) = self.at_sockets();
        let kinds = [
            (self.input, Spent::WaitingForInput),
            (self.output + output, Spent::WaitingForOutput),
            (sockets, Spent::Network),
            (pipes, Spent::WaitingForPipe),
        ];
        let all: u64 = kinds.iter().map(|(events, _)| events).sum();
        let rules = |(events, _): &&(u64, Spent)| is_most(*events, all);
        match kinds.iter().find(rules) {
            _ if all == 0 && self.children => Spent::WaitingForChild,
            _ if all == 0 && self.sleeps() => Spent::Sleeping,
            Some((_, spent)) if all > 0 => *spent,
            _ => Spent::WaitingForEvents,
        }
    }

    /// Events at sockets: those that the network brought, and those of a reader that took what had filled one.
    fn at_sockets(self) -> (u64, u64) {
        match is_most(self.full_sockets, self.full_sockets + self.answers) {
            true if self.full_sockets > 0 => (self.answers, self.full_sockets),
            _ => (self.sockets, 0),
        }
    }

    /// Whether polls of a process that takes nothing from outside end by time.
    fn sleeps(self) -> bool {
        if self.timers * 2 > self.events && self.timers > 0 {
            return true;
        }
        if let Some(ends) = self.ends.filter(|ends| ends.total_ns > 0) {
            return ends.by_limit_ns as f64 >= t::PART_BY_LIMIT * ends.total_ns as f64;
        }
        // Threads tell each other through pipes and eventfds. Where far more polls ended, they ended by time.
        let pipes = if self.children { 0 } else { self.pipes };
        let told = self.events + pipes;
        told == 0 || (told as f64) < t::PART_TOLD_BY_THREADS * self.polls as f64
    }
}

fn is_most(events: u64, all: u64) -> bool {
    events as f64 >= t::PART_OF_EVENTS * all as f64
}

/// A stretch off the CPU, as the trace tells it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Off<'a> {
    pub pid: u32,
    pub tid: u32,
    pub call: Option<&'a str>,
    pub fd: Option<i32>,
    pub cause: Cause,
    /// Most of the thread's futex waits ran into their time limit.
    pub timed_out: bool,
}

/// Whether a wait is for a disk. The kernel tier sees the kernel's own mark. Looks see only that no signal may
/// interrupt it: in a call that moves bytes of a file or syncs it that is a disk; outside of calls, if page
/// faults of the run waited for one.
pub(crate) fn from_disk(trace: &Trace, cause: Cause, call: Option<&str>) -> bool {
    match (cause, call) {
        (Cause::Disk, _) => true,
        (Cause::Uninterruptible, call) if trace.tier.is_some_and(Tier::only_looks) => match call {
            Some(call) => is_sync(call) || is_read(call) || is_write(call) || FILES.contains(&call),
            None => trace.accounts.major_faults > 0,
        },
        _ => false,
    }
}

/// What time off the CPU counts as.
pub(crate) fn off_cpu(off: Off<'_>, descriptors: &Descriptors<'_>, polls: PollContext) -> Spent {
    match off.cause {
        Cause::Preempted | Cause::Ready => return Spent::Ready,
        Cause::Running => return Spent::UserCode,
        Cause::Disk => return Spent::Disk,
        Cause::Stopped => return Spent::OtherWait,
        Cause::Asleep | Cause::Uninterruptible => {}
    }
    let Some(call) = off.call else {
        return Spent::OtherWait;
    };
    if is_sync(call) {
        Spent::Disk
    } else if SIGNAL_WAITS.contains(&call) && polls.children {
        Spent::WaitingForChild
    } else if SIGNAL_WAITS.contains(&call) {
        Spent::Signals
    } else if is_sleep(call) {
        Spent::Sleeping
    } else if is_lock(call) {
        if off.timed_out {
            Spent::Sleeping
        } else {
            Spent::Locks
        }
    } else if is_file_lock(call) {
        Spent::Locks
    } else if is_child_wait(call) {
        Spent::WaitingForChild
    } else if is_poll(call) {
        polls.spent()
    } else if let Some(fd) = off.fd {
        on_descriptor(off, fd, call, descriptors)
    } else {
        Spent::OtherWait
    }
}

/// Tells what the waits of one trace count as.
pub(crate) struct Classifier<'a> {
    pub descriptors: &'a Descriptors<'a>,
    /// What each process's polls wait for.
    pub polls: HashMap<u32, PollContext>,
    /// How the polls of each thread ended, where that is known.
    pub ends: HashMap<u32, PollEnds>,
    /// Threads that use locks as timers.
    pub timed: HashSet<u32>,
    pub trace: &'a Trace,
}

impl Classifier<'_> {
    /// What a row of the off-CPU table counts as.
    pub(crate) fn row(&self, row: &OffCpuRow) -> Spent {
        self.off(Off {
            pid: row.pid,
            tid: row.tid,
            call: row.call.as_deref(),
            fd: row.fd,
            cause: row.cause,
            timed_out: self.timed.contains(&row.tid),
        })
    }

    /// What the part of an interval before its wake-up counts as.
    pub(crate) fn interval(&self, interval: &Interval) -> Spent {
        self.off(Off {
            pid: interval.pid,
            tid: interval.tid,
            call: interval.call.as_deref(),
            fd: interval.fd,
            cause: interval.cause,
            timed_out: self.timed.contains(&interval.tid),
        })
    }

    fn off(&self, off: Off<'_>) -> Spent {
        if from_disk(self.trace, off.cause, off.call) {
            return Spent::Disk;
        }
        let mut polls = self.polls.get(&off.pid).copied().unwrap_or_default();
        // One thread's event loop says nothing of another one's.
        polls.ends = self.ends.get(&off.tid).copied().or(polls.ends);
        off_cpu(off, self.descriptors, polls)
    }
}

fn on_descriptor(off: Off<'_>, fd: i32, call: &str, descriptors: &Descriptors<'_>) -> Spent {
    let pid = off.pid;
    // Nothing is asked of a peer where the writing itself has to wait.
    if is_write(call) && descriptors.is_local_socket(pid, fd) {
        return Spent::WaitingForOutput;
    }
    if is_of_sockets(call) && descriptors.waited_for(pid, fd) != Kind::Pipe {
        return Spent::Network;
    }
    let kind = match descriptors.waited_for(pid, fd) {
        // A wait for a disk can't be interrupted: what has a path and can is a named pipe or a device.
        Kind::File if off.cause == Cause::Asleep => Kind::Pipe,
        kind => kind,
    };
    let of_command = descriptors.is_of_command(pid, fd);
    let fifo = || descriptors.is_outer_fifo(pid, fd, is_read(call));
    if is_read(call) && (fd == 0 && of_command && kind != Kind::File || fifo()) {
        return Spent::WaitingForInput;
    }
    let standard = fd == 1 || fd == 2;
    if is_write(call) && (standard && of_command && kind != Kind::File || fifo()) {
        return Spent::WaitingForOutput;
    }
    match kind {
        Kind::Socket => Spent::Network,
        Kind::Pipe | Kind::Terminal => Spent::WaitingForPipe,
        Kind::Timer => Spent::Sleeping,
        Kind::Events => Spent::WaitingForEvents,
        Kind::File | Kind::Unknown if is_read(call) || is_write(call) => Spent::Disk,
        Kind::File | Kind::Unknown => Spent::OtherWait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_take_what_no_signal_may_interrupt_for_a_disk_where_it_can_be_one() {
        let mut trace = Trace {
            tier: Some(Tier::Perf),
            ..Trace::default()
        };
        let told = |trace: &Trace, call| from_disk(trace, Cause::Uninterruptible, call);
        assert!(told(&trace, Some("pread64")) && told(&trace, Some("openat")));
        assert!(!told(&trace, Some("vfork")) && !told(&trace, None));
        trace.accounts.major_faults = 1;
        assert!(told(&trace, None));
        trace.tier = Some(Tier::Kernel);
        assert!(!told(&trace, Some("pread64")), "it has a mark of its own");
    }

    #[test]
    fn cpu_time_in_calls_is_grouped_by_what_they_do() {
        assert_eq!(on_cpu("pread64"), Spent::KernelIo);
        assert_eq!(on_cpu("newfstatat"), Spent::KernelFiles);
        assert_eq!(on_cpu("brk"), Spent::KernelMemory);
        assert_eq!(on_cpu("execve"), Spent::KernelProcesses);
        assert_eq!(on_cpu("sched_yield"), Spent::KernelWaiting);
        assert_eq!(on_cpu("getpid"), Spent::KernelOther);
        assert_eq!(on_cpu("read (32-bit)"), Spent::KernelIo);
    }

    #[test]
    fn a_poll_waits_for_what_the_process_then_does() {
        let context = PollContext::default();
        assert_eq!(context.spent(), Spent::Sleeping);
        let told = |events| PollContext {
            events,
            polls: 100,
            ..context
        };
        assert_eq!(told(5).spent(), Spent::Sleeping);
        assert_eq!(told(90).spent(), Spent::WaitingForEvents);
        let reads = PollContext {
            input: 100,
            ..context
        };
        assert_eq!(reads.spent(), Spent::WaitingForInput);
        let asks = PollContext {
            sockets: 100,
            ..context
        };
        assert_eq!(asks.spent(), Spent::Network);
        let both = PollContext {
            sockets: 100,
            ..reads
        };
        assert_eq!(both.spent(), Spent::WaitingForEvents);
        let mostly = PollContext {
            sockets: 2000,
            ..reads
        };
        assert_eq!(mostly.spent(), Spent::Network);
    }

    #[test]
    fn polls_that_something_ended_are_no_timers() {
        let ended = |by_limit_ns| PollContext {
            polls: 100,
            ends: Some(PollEnds {
                by_limit: 1,
                by_limit_ns,
                total_ns: 1000,
            }),
            ..PollContext::default()
        };
        assert_eq!(ended(0).spent(), Spent::WaitingForEvents);
        assert_eq!(ended(900).spent(), Spent::Sleeping);
        // Messages of workers come before the end of each pause, and don't end the waiting.
        let told = PollContext {
            events: 90,
            ..ended(900)
        };
        assert_eq!(told.spent(), Spent::Sleeping);
        let timerfd = PollContext {
            timers: 100,
            ..ended(0)
        };
        assert_eq!(timerfd.spent(), Spent::Sleeping);
    }

    #[test]
    fn who_writes_to_a_full_socket_waits_for_its_reader() {
        let context = |answers| PollContext {
            sockets: 160,
            answers,
            full_sockets: 22,
            ..PollContext::default()
        };
        assert_eq!(context(1).spent(), Spent::WaitingForOutput);
        assert_eq!(context(100).spent(), Spent::Network);
    }
}
