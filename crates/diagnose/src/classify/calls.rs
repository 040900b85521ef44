//! Which system call is for what?

use fathom_model::Spent;
pub(crate) use fathom_trace::calls::is_poll;

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
pub(super) const FILES: &[&str] = &[
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
pub(super) const SIGNAL_WAITS: &[&str] = &["pause", "rt_sigsuspend", "rt_sigtimedwait"];
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

/// Whether it changes what a folder holds.
pub(crate) fn changes_folder(call: &str) -> bool {
    const CHANGES: [&str; 10] = [
        "creat",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "mkdir",
        "mkdirat",
        "rmdir",
        "symlinkat",
    ];
    CHANGES.contains(&call)
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
        // To send wakes the other side; what is there already is only taken.
        _ if call.starts_with("recv") => 3.0,
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
