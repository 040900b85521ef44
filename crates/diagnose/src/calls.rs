//! A table of the purpose of each system call. It is the only such table in this crate; every question about
//! what a call does is answered from it.
//!
//! The meaning of a call's arguments, by the call's number, is in [`fathom_trace::calls`]. So is the list of
//! polling calls, because the tracer needs it.

use std::sync::LazyLock;

use fathom_model::TimeCategory;
pub(crate) use fathom_trace::calls::is_poll;

/// Reports whether a call waits for the descriptors that it names itself. If it has a descriptor, it waits for
/// that one alone.
pub(crate) fn polls_what_it_names(call: &str) -> bool {
    matches!(call, "poll" | "ppoll" | "select" | "pselect6")
}

/// Reads bytes from a descriptor.
const READ: u32 = 1;
/// Writes bytes to a descriptor.
const WRITE: u32 = 1 << 1;
/// Copies from file to file within the kernel.
const COPY: u32 = 1 << 2;
/// Is counted by the kernel as both a read and a write.
const COUNTED_AS_BOTH: u32 = 1 << 3;
/// Moves bytes through a socket, one message per call.
const MESSAGE: u32 = 1 << 4;
/// Works only on sockets.
const SOCKET: u32 = 1 << 5;
/// Waits until data is on the disk.
const SYNC: u32 = 1 << 6;
/// Opens a file.
const OPEN: u32 = 1 << 7;
/// Queries what is at a path, or an open file.
const ASK_PATH: u32 = 1 << 8;
/// Returns the names in a folder.
const LIST_FOLDER: u32 = 1 << 9;
/// Takes longer the more entries the folder that is changed has.
const CHANGE_FOLDER: u32 = 1 << 10;
/// Removes a name from a folder.
const REMOVE: u32 = 1 << 11;
/// Creates or removes a path, or changes what is at it; a failure of such a call is not part of a search.
const CHANGE_PATH: u32 = 1 << 12;
/// Waits for the file system's own data (folders and journal), or until a file's previous contents have
/// reached the disk or are discarded.
const JOURNAL: u32 = 1 << 13;
/// Opens and closes a file, and makes it standard output as shells do.
const REDIRECT: u32 = 1 << 14;
/// Is made by a loader for each library.
const LOAD: u32 = 1 << 15;
/// Is made by runtimes on a file that they opened, or to close it.
const AROUND_READ: u32 = 1 << 16;
/// Works on an open descriptor or on none, and only queries or sets something; no loop needs many such calls.
const SETTING: u32 = 1 << 17;
/// Releases or moves memory.
const GIVE_BACK: u32 = 1 << 18;
/// Creates a thread or a process.
const MAKE_THREAD: u32 = 1 << 19;
/// Waits for a child to end, or until it runs a program.
const CHILD_WAIT: u32 = 1 << 20;
/// Waits for a duration.
const SLEEP: u32 = 1 << 21;
/// Waits for signals; if there are children, this is a wait for the end of a child. It is not a sleep,
/// because it doesn't end after a set time.
const SIGNAL_WAIT: u32 = 1 << 22;
/// Waits for a lock in memory, or releases one.
const LOCK: u32 = 1 << 23;
/// Locks a file. `fcntl` has this flag because locks are the only thing for which it waits.
const FILE_LOCK: u32 = 1 << 24;
/// Scans all of the descriptors that it waits for in each call.
const SCAN: u32 = 1 << 25;
/// Queries the time, or resource usage.
const CLOCK: u32 = 1 << 26;
/// Reads bytes from its first descriptor and passes them on to another; the trace counts these bytes for
/// neither file.
const TAKE_WITHIN_KERNEL: u32 = 1 << 27;
/// Writes bytes to its first descriptor within the kernel; the trace counts them for neither file.
const PUT_WITHIN_KERNEL: u32 = 1 << 28;
/// Reads from the descriptor's current position, and so waits if the bytes come from another program.
const READ_ON: u32 = 1 << 29;
/// Waits for another process, whatever its descriptor refers to.
const AWAIT: u32 = 1 << 30;
/// Accepts a connection.
const ACCEPT: u32 = 1 << 31;
/// The flags of calls that remove a name from a folder.
const UNLINK: u32 = CHANGE_FOLDER | REMOVE | CHANGE_PATH | JOURNAL;

/// A call's name, its kernel time as a multiple of the simplest call's, and its flags.
///
/// The times are rough values from an ordinary machine. They are used when only the total time of all calls
/// is known.
type Row = (&'static str, f64, u32);

/// All known calls, by the category of CPU time spent in them.
const CALLS: &[(TimeCategory, &[Row])] = &[
    (
        TimeCategory::KernelIo,
        &[
            ("read", 1.0, READ | READ_ON),
            ("write", 1.0, WRITE),
            ("readv", 1.0, READ | READ_ON),
            ("writev", 1.0, WRITE),
            ("pread64", 1.0, READ),
            ("pwrite64", 1.0, WRITE),
            ("preadv", 1.0, READ),
            ("pwritev", 1.0, WRITE),
            ("preadv2", 1.0, READ),
            ("pwritev2", 1.0, WRITE),
            ("sendfile", 1.0, COPY | COUNTED_AS_BOTH | PUT_WITHIN_KERNEL),
            ("splice", 1.0, COPY | TAKE_WITHIN_KERNEL),
            ("tee", 1.0, TAKE_WITHIN_KERNEL),
            ("copy_file_range", 1.0, COPY | COUNTED_AS_BOTH),
            ("recvfrom", 3.0, READ | MESSAGE | SOCKET | AWAIT),
            ("recvmsg", 3.0, READ | MESSAGE | SOCKET | AWAIT),
            ("recvmmsg", 3.0, READ | MESSAGE | SOCKET),
            // Sending wakes the receiver; receiving only takes data that is already there.
            ("sendto", 10.0, WRITE | MESSAGE | SOCKET),
            ("sendmsg", 10.0, WRITE | MESSAGE | SOCKET),
            ("sendmmsg", 10.0, WRITE | MESSAGE | SOCKET),
            ("lseek", 1.0, AROUND_READ),
            ("fsync", 1.0, SYNC),
            ("fdatasync", 1.0, SYNC),
            ("sync_file_range", 1.0, SYNC),
            ("syncfs", 1.0, SYNC),
            ("sync", 1.0, SYNC),
            ("msync", 1.0, SYNC),
        ],
    ),
    (
        TimeCategory::KernelFiles,
        &[
            ("open", 6.0, OPEN | JOURNAL | REDIRECT | LOAD),
            ("openat", 6.0, OPEN | JOURNAL | REDIRECT | LOAD),
            ("openat2", 6.0, OPEN | JOURNAL),
            ("creat", 6.0, CHANGE_FOLDER | CHANGE_PATH | JOURNAL),
            ("close", 2.0, JOURNAL | REDIRECT | LOAD | AROUND_READ),
            ("close_range", 1.0, 0),
            ("stat", 4.0, ASK_PATH | AROUND_READ),
            ("lstat", 4.0, ASK_PATH | AROUND_READ),
            ("fstat", 4.0, ASK_PATH | LOAD | AROUND_READ),
            ("newfstatat", 4.0, ASK_PATH | LOAD | AROUND_READ),
            ("statx", 4.0, ASK_PATH | AROUND_READ),
            ("access", 4.0, ASK_PATH),
            ("faccessat", 4.0, ASK_PATH),
            ("faccessat2", 4.0, ASK_PATH),
            ("readlink", 4.0, ASK_PATH),
            ("readlinkat", 4.0, ASK_PATH),
            ("getdents", 10.0, LIST_FOLDER),
            ("getdents64", 10.0, LIST_FOLDER),
            ("unlink", 20.0, UNLINK),
            ("unlinkat", 20.0, UNLINK),
            ("rename", 20.0, UNLINK),
            ("renameat", 20.0, UNLINK),
            ("renameat2", 20.0, UNLINK),
            ("mkdir", 20.0, CHANGE_FOLDER | CHANGE_PATH | JOURNAL),
            ("mkdirat", 1.0, CHANGE_FOLDER | CHANGE_PATH | JOURNAL),
            ("rmdir", 20.0, UNLINK),
            ("link", 1.0, CHANGE_PATH),
            ("linkat", 1.0, CHANGE_PATH),
            ("symlink", 1.0, CHANGE_PATH),
            ("symlinkat", 1.0, CHANGE_FOLDER | CHANGE_PATH),
            ("chmod", 1.0, CHANGE_PATH),
            ("fchmod", 1.0, 0),
            ("fchmodat", 1.0, CHANGE_PATH),
            ("chown", 1.0, CHANGE_PATH),
            ("fchown", 1.0, 0),
            ("fchownat", 1.0, CHANGE_PATH),
            ("utimensat", 1.0, CHANGE_PATH),
            ("ftruncate", 1.0, JOURNAL),
            ("truncate", 1.0, JOURNAL),
            ("fallocate", 1.0, 0),
            ("statfs", 4.0, 0),
            ("fstatfs", 4.0, SETTING),
            ("getxattr", 1.0, 0),
            ("lgetxattr", 1.0, 0),
            ("fgetxattr", 1.0, 0),
            ("listxattr", 1.0, 0),
            ("chdir", 1.0, 0),
            ("fchdir", 1.0, 0),
            ("getcwd", 1.0, SETTING),
            ("fcntl", 1.0, REDIRECT | SETTING | FILE_LOCK),
            ("flock", 1.0, SETTING | FILE_LOCK),
            ("fadvise64", 1.0, 0),
            ("readahead", 1.0, 0),
            ("dup", 1.0, SETTING),
            ("dup2", 1.0, REDIRECT | SETTING),
            ("dup3", 1.0, REDIRECT | SETTING),
            ("umask", 1.0, SETTING),
        ],
    ),
    (
        TimeCategory::KernelMemory,
        &[
            ("mmap", 5.0, LOAD),
            ("munmap", 8.0, LOAD | GIVE_BACK),
            ("mremap", 8.0, GIVE_BACK),
            ("brk", 5.0, GIVE_BACK),
            ("mprotect", 5.0, LOAD),
            ("madvise", 8.0, GIVE_BACK),
            ("mlock", 1.0, 0),
            ("munlock", 1.0, 0),
            ("mincore", 1.0, 0),
            ("mbind", 1.0, 0),
            ("pkey_mprotect", 1.0, 0),
        ],
    ),
    (
        TimeCategory::KernelProcesses,
        &[
            ("fork", 300.0, CHILD_WAIT),
            ("vfork", 300.0, CHILD_WAIT),
            ("clone", 300.0, MAKE_THREAD | CHILD_WAIT),
            ("clone3", 300.0, MAKE_THREAD | CHILD_WAIT),
            ("execve", 1500.0, 0),
            ("execveat", 1500.0, 0),
            ("wait4", 2.0, CHILD_WAIT | AWAIT),
            ("waitid", 2.0, CHILD_WAIT | AWAIT),
            ("exit", 1.0, 0),
            ("exit_group", 1.0, 0),
            ("kill", 1.0, 0),
            ("tgkill", 1.0, 0),
            ("tkill", 1.0, 0),
            ("set_tid_address", 1.0, 0),
            ("set_robust_list", 1.0, 0),
            ("rseq", 1.0, 0),
            ("pidfd_open", 1.0, 0),
        ],
    ),
    (
        TimeCategory::KernelWaiting,
        &[
            ("poll", 2.0, SCAN | AWAIT),
            ("ppoll", 2.0, SCAN | AWAIT),
            ("select", 2.0, SCAN | AWAIT),
            ("pselect6", 2.0, SCAN | AWAIT),
            ("epoll_wait", 2.0, AWAIT),
            ("epoll_pwait", 2.0, AWAIT),
            ("epoll_pwait2", 1.0, 0),
            ("io_uring_enter", 1.0, 0),
            ("io_getevents", 1.0, 0),
            ("nanosleep", 1.0, SLEEP),
            ("clock_nanosleep", 1.0, SLEEP),
            ("pause", 1.0, SIGNAL_WAIT),
            ("rt_sigsuspend", 1.0, SIGNAL_WAIT),
            ("rt_sigtimedwait", 1.0, SIGNAL_WAIT),
            ("futex", 2.0, LOCK | AWAIT),
            ("futex_wait", 1.0, LOCK),
            ("futex_waitv", 1.0, LOCK),
            ("futex_wake", 1.0, LOCK),
            ("semop", 1.0, LOCK),
            ("semtimedop", 1.0, LOCK),
            // Clocks that the vDSO doesn't serve add up the threads' times.
            ("clock_gettime", 3.0, CLOCK),
            ("gettimeofday", 3.0, CLOCK),
            ("time", 3.0, CLOCK),
            ("times", 3.0, CLOCK),
            ("getrusage", 3.0, CLOCK),
            ("clock_getres", 3.0, CLOCK),
            // The call looks for another thread to run.
            ("sched_yield", 4.0, 0),
            ("eventfd2", 1.0, 0),
            ("epoll_ctl", 1.0, 0),
            ("epoll_create1", 1.0, 0),
            ("timerfd_settime", 1.0, 0),
            ("setitimer", 1.0, 0),
        ],
    ),
    (
        TimeCategory::KernelOther,
        &[
            ("vmsplice", 1.0, PUT_WITHIN_KERNEL),
            ("accept", 30.0, SOCKET | AWAIT | ACCEPT),
            ("accept4", 30.0, SOCKET | AWAIT | ACCEPT),
            ("connect", 30.0, SOCKET),
            ("ustat", 4.0, ASK_PATH | AROUND_READ),
            ("statmount", 4.0, ASK_PATH),
            ("oldstat", 4.0, ASK_PATH),
            ("oldfstat", 4.0, ASK_PATH),
            ("oldlstat", 4.0, ASK_PATH),
            ("ioctl", 1.0, AROUND_READ),
            ("socket", 30.0, 0),
        ],
    ),
];

/// The entry for one call.
#[derive(Clone, Copy)]
struct Call {
    on_cpu: TimeCategory,
    weight: f64,
    does: u32,
}

/// The number of buckets in the table below; larger than the number of names.
const BUCKETS: usize = 1024;

/// Returns the bucket of a name. It is computed from the name's length and both of its ends, which
/// distinguish nearly all names.
fn bucket(name: &str) -> usize {
    let bytes = name.as_bytes();
    let end = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(*byte));
    (bytes.len() * 97 + end(bytes.first()) * 31 + end(bytes.last()) * 7) % BUCKETS
}

/// The entries by bucket. They are looked up some hundred times for each row of a trace: in a debug build,
/// hashing took two thirds of a diagnosis, and a binary search of sorted names took as long.
static BY_NAME: LazyLock<Vec<Vec<(&str, Call)>>> = LazyLock::new(|| {
    let mut buckets = vec![Vec::new(); BUCKETS];
    for &(on_cpu, rows) in CALLS {
        for &(name, weight, does) in rows {
            let call = Call {
                on_cpu,
                weight,
                does,
            };
            buckets[bucket(name)].push((name, call));
        }
    }
    buckets
});

/// Returns the entry of a call. A call that exists only in the 32-bit table is listed under its name there.
fn find(call: &str) -> Call {
    let name = call.strip_suffix(" (32-bit)").unwrap_or(call);
    for (known, found) in &BY_NAME[bucket(name)] {
        if *known == name {
            return *found;
        }
    }
    Call {
        on_cpu: TimeCategory::KernelOther,
        weight: 1.0,
        does: 0,
    }
}

fn does(call: &str, what: u32) -> bool {
    find(call).does & what != 0
}

/// Returns the kernel time of this call as a multiple of the simplest call's.
pub(crate) fn weight(call: &str) -> f64 {
    find(call).weight
}

/// Returns the category of CPU time in this call.
pub(crate) fn on_cpu(call: &str) -> TimeCategory {
    find(call).on_cpu
}

/// Reports whether the call operates on files by name.
pub(crate) fn is_on_files(call: &str) -> bool {
    on_cpu(call) == TimeCategory::KernelFiles
}

/// Reports whether the call allocates or releases memory.
pub(crate) fn is_memory(call: &str) -> bool {
    on_cpu(call) == TimeCategory::KernelMemory
}

/// Defines queries about calls by name, each answered from the table.
macro_rules! questions {
    ($($question:ident: $what:expr,)*) => {$(
        /// See the flag of the same name.
        pub(crate) fn $question(call: &str) -> bool {
            does(call, $what)
        }
    )*};
}

questions! {
    is_read: READ,
    is_write: WRITE,
    moves_bytes: READ | WRITE,
    is_copy: COPY,
    is_counted_as_both: COUNTED_AS_BOTH,
    is_message: MESSAGE,
    is_of_sockets: SOCKET,
    is_sync: SYNC,
    opens_file: OPEN,
    lists_folder: LIST_FOLDER,
    changes_folder: CHANGE_FOLDER,
    removes: REMOVE,
    changes_path: CHANGE_PATH,
    waits_for_journal: JOURNAL,
    redirects: REDIRECT,
    loads: LOAD,
    is_around_read: AROUND_READ,
    is_setting: SETTING,
    gives_back: GIVE_BACK,
    makes_thread: MAKE_THREAD,
    is_child_wait: CHILD_WAIT,
    is_sleep: SLEEP,
    is_signal_wait: SIGNAL_WAIT,
    is_lock: LOCK,
    is_file_lock: FILE_LOCK,
    is_any_lock: LOCK | FILE_LOCK,
    scans_descriptors: SCAN,
    is_clock: CLOCK,
    takes_within_kernel: TAKE_WITHIN_KERNEL,
    puts_within_kernel: PUT_WITHIN_KERNEL,
    reads_on: READ_ON,
    awaits: AWAIT,
    is_accept: ACCEPT,
}

/// Reports whether a call queries what is at a path without changing anything.
pub fn asks_about_path(call: &str) -> bool {
    does(call, ASK_PATH)
}

/// Reports whether a signal handler ends with this call.
pub(crate) fn ends_signal(call: &str) -> bool {
    matches!(call, "rt_sigreturn" | "sigreturn")
}

/// Reports whether the kernel counts the call as a read or a write in `/proc/PID/io`.
pub(crate) fn is_counted(call: &str) -> bool {
    does(call, READ | WRITE) && !does(call, MESSAGE) || does(call, COUNTED_AS_BOTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::calls::{Direction, direction};

    #[test]
    fn cpu_time_in_calls_is_grouped_by_what_they_do() {
        assert_eq!(on_cpu("pread64"), TimeCategory::KernelIo);
        assert_eq!(on_cpu("newfstatat"), TimeCategory::KernelFiles);
        assert_eq!(on_cpu("brk"), TimeCategory::KernelMemory);
        assert_eq!(on_cpu("execve"), TimeCategory::KernelProcesses);
        assert_eq!(on_cpu("sched_yield"), TimeCategory::KernelWaiting);
        assert_eq!(on_cpu("getpid"), TimeCategory::KernelOther);
        assert_eq!(on_cpu("read (32-bit)"), TimeCategory::KernelIo);
    }

    #[test]
    fn a_call_has_one_row_and_moves_bytes_the_way_the_tracer_has_it() {
        let rows = || CALLS.iter().flat_map(|(_, rows)| rows.iter());
        let names: std::collections::BTreeSet<&str> = rows().map(|(name, _, _)| *name).collect();
        assert_eq!(rows().count(), names.len());
        for (name, _, _) in rows() {
            match direction(name) {
                Some(Direction::Read) => assert!(is_read(name), "{name}"),
                Some(Direction::Write) => assert!(is_write(name), "{name}"),
                None => {}
            }
        }
    }
}
