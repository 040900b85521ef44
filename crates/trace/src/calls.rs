//! How system calls use their arguments.
//!
//! One table for all tiers: which argument is a descriptor or a path, which results are bytes, and which
//! calls create, name or close a descriptor.

use syscalls::Sysno;

/// The first argument is a descriptor.
pub const FD: u32 = 1;
/// A positive result is a number of bytes moved.
pub const BYTES: u32 = 1 << 1;
/// The first argument is a path.
pub const PATH0: u32 = 1 << 2;
/// The second argument is a path, relative to the directory in the first.
pub const PATH1: u32 = 1 << 3;
/// A success produces a separate record.
pub const RECORD_OK: u32 = 1 << 4;
/// A failure produces a separate record.
pub const RECORD_ERROR: u32 = 1 << 5;
/// The first argument points to two descriptors created by the call.
pub const PAIR0: u32 = 1 << 6;
/// The fourth argument points to two descriptors created by the call.
pub const PAIR3: u32 = 1 << 7;
/// The second argument is a socket address, the third its length.
pub const ADDRESS: u32 = 1 << 8;
/// Closes the first argument: the record carries the totals of that descriptor.
pub const CLOSE0: u32 = 1 << 9;
/// Closes the second argument if it was open: the record carries its totals.
pub const CLOSE1: u32 = 1 << 10;
/// Recorded only if the second argument requests a duplicate (`fcntl`).
pub const IF_DUP: u32 = 1 << 11;

/// One of [`TOTALS`].
pub const TOTALLED: u32 = 1 << 12;

/// Waits for one of several things, and returns 0 if its timeout expires first.
pub const POLL: u32 = 1 << 13;

/// The first argument points to an array of `struct pollfd`, and the second is its length. If the length is
/// 1, the call is on the descriptor in the first 4 bytes of the array.
pub const POLLS_ONE: u32 = 1 << 14;

/// Writes the data at the address in the second argument; the result is the number of bytes.
pub const BUFFER1: u32 = 1 << 15;

/// The second and third arguments point to the sets of descriptors to wait for, for reading and writing, one
/// bit each; the first argument is the number of bits. If a single set is given and one of its first 64 bits
/// is set, the call is on that descriptor.
pub const SELECTS_ONE: u32 = 1 << 16;

/// The fourth argument is the offset in the file; -1 means the current file position.
pub const PLACED: u32 = 1 << 17;

/// Replaces the caller's program, whose registers and stack no longer exist afterwards.
pub const REPLACES: u32 = 1 << 18;

/// A positive result is a number of bytes read from the descriptor in the first argument.
pub const READS_BYTES: u32 = 1 << 19;

/// A positive result is a number of bytes written to the descriptor in the first argument.
pub const WRITES_BYTES: u32 = 1 << 20;

/// Begins or accepts a connection.
pub const CONNECTS: u32 = 1 << 21;

/// Set by the kernel's programs: the first call of its kind by this thread on this descriptor.
pub(crate) const FIRST: u32 = 1 << 30;

/// A call at an offset continues the previous one if it begins less than this number of bytes after the
/// previous one's end, because a buffer reads that far ahead anyway.
pub const SHORT_SKIP: u64 = 4096;

/// Number of writes per table row whose last byte is checked for a line end; these are the row's first
/// writes.
pub const LINE_SAMPLES: u64 = 256;

/// Flags of calls that may need a record in addition to the counters.
pub const RECORD: u32 = RECORD_OK | RECORD_ERROR;

/// Set in the number of a call made through the 32-bit entry of x86 (by 32-bit programs, and by `int 0x80` in
/// others); the rest is the number of the equivalent call on this architecture.
pub const ENTRY_32: u32 = 0x1_0000;

/// Set in addition to [`ENTRY_32`] if there is no equivalent call: the rest is its number in the 32-bit
/// table.
pub const ENTRY_32_ONLY: u32 = 0x2_0000;

/// Calls with this number or a higher one are counted without a descriptor or path.
pub const TABLE_SIZE: u32 = 512;

/// Results from here down to [`INTERRUPTED_LAST`] are internal to the kernel and never reach a program: a
/// signal arrived, and the call is restarted or returns `EINTR` (`ERESTARTSYS` and similar).
pub const INTERRUPTED_FIRST: i32 = -512;
/// See [`INTERRUPTED_FIRST`].
pub const INTERRUPTED_LAST: i32 = -516;

/// The direction in which a call moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a descriptor to the program.
    Read,
    /// From the program to a descriptor.
    Write,
}

const READS: &[&str] = &[
    "read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg",
];

const WRITES: &[&str] = &[
    "write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg",
];

/// Calls that move bytes between two descriptors, or fill a buffer. The first argument is the descriptor,
/// except for `getrandom`, which has no descriptor.
const MOVES: &[&str] = &[
    "sendfile",
    "splice",
    "tee",
    "copy_file_range",
    "vmsplice",
    "getdents",
    "getdents64",
];

const FD_FIRST: &[&str] = &[
    "close",
    "fstat",
    "lseek",
    "ioctl",
    "fcntl",
    "flock",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchdir",
    "fchmod",
    "fchown",
    "fstatfs",
    "connect",
    "accept",
    "accept4",
    "shutdown",
    "bind",
    "listen",
    "getsockname",
    "getpeername",
    "setsockopt",
    "getsockopt",
    "dup",
    "dup2",
    "dup3",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_ctl",
    "recvmmsg",
    "sendmmsg",
    "sync_file_range",
    "fallocate",
    "timerfd_settime",
    "timerfd_gettime",
    "inotify_add_watch",
    "inotify_rm_watch",
    "syncfs",
    "fadvise64",
    "readahead",
    "io_uring_enter",
    "fsetxattr",
    "fgetxattr",
    "flistxattr",
    "fremovexattr",
];

const PATH_FIRST: &[&str] = &[
    "open",
    "creat",
    "stat",
    "lstat",
    "access",
    "readlink",
    "execve",
    "chdir",
    "mkdir",
    "rmdir",
    "unlink",
    "rename",
    "link",
    "symlink",
    "chmod",
    "chown",
    "statfs",
    "truncate",
    "getxattr",
    "lgetxattr",
    "mknod",
    "utime",
    "utimes",
];

const PATH_SECOND: &[&str] = &[
    "openat",
    "openat2",
    "newfstatat",
    "statx",
    "faccessat",
    "faccessat2",
    "readlinkat",
    "execveat",
    "mkdirat",
    "unlinkat",
    "renameat",
    "renameat2",
    "fchmodat",
    "fchownat",
    "utimensat",
    "inotify_add_watch",
    "name_to_handle_at",
];

const OPENS: &[&str] = &["open", "creat", "openat", "openat2"];

/// Calls that change the directory to which paths are relative.
const MOVES_CWD: &[&str] = &["chdir", "fchdir"];

/// Calls that create a descriptor and have no path argument.
const MAKES_FD: &[&str] = &[
    "socket",
    "accept",
    "accept4",
    "eventfd",
    "eventfd2",
    "epoll_create",
    "epoll_create1",
    "timerfd_create",
    "memfd_create",
    "inotify_init",
    "inotify_init1",
    "signalfd",
    "signalfd4",
    "io_uring_setup",
    "pidfd_open",
    "userfaultfd",
    "perf_event_open",
    "bpf",
    "fanotify_init",
];

/// Returns the flags of the call with this name.
pub fn flags_of_name(name: &str) -> u32 {
    let is_in = |list: &[&str]| list.contains(&name);
    let mut flags = 0;
    if is_in(READS) || is_in(WRITES) || is_in(MOVES) {
        flags |= FD | BYTES;
    }
    if is_in(READS) {
        flags |= READS_BYTES;
    }
    if is_in(WRITES) || name == "sendfile" {
        flags |= WRITES_BYTES;
    }
    if is_in(&["accept", "accept4", "connect"]) {
        flags |= CONNECTS;
    }
    if TOTALS.contains(&name) {
        flags |= TOTALLED;
    }
    if is_in(LIMITED_POLLS) {
        flags |= POLL;
    }
    if is_in(FD_FIRST) {
        flags |= FD;
    }
    if is_in(PATH_FIRST) {
        flags |= PATH0 | RECORD_ERROR;
    }
    if is_in(PATH_SECOND) {
        flags |= PATH1 | RECORD_ERROR;
    }
    if is_in(OPENS) || is_in(MAKES_FD) || is_in(MOVES_CWD) {
        flags |= RECORD_OK;
    }
    flags
        | match name {
            "poll" | "ppoll" => POLLS_ONE,
            "select" | "pselect6" => SELECTS_ONE,
            "write" => BUFFER1,
            "pwrite64" => BUFFER1 | PLACED,
            "pread64" | "preadv" | "preadv2" | "pwritev" | "pwritev2" => PLACED,
            "pipe" | "pipe2" => PAIR0 | RECORD_OK,
            "socketpair" => PAIR3 | RECORD_OK,
            "connect" | "bind" => ADDRESS | RECORD,
            // Its length is passed by address, so the maximum length of a name is read.
            "getsockname" => ADDRESS | RECORD_OK,
            "close" => CLOSE0 | RECORD_OK,
            "dup" | "setsockopt" => RECORD_OK,
            "dup2" | "dup3" => CLOSE1 | RECORD_OK,
            "fcntl" => IF_DUP | RECORD_OK,
            "kill" | "pidfd_send_signal" => RECORD_OK,
            "execve" | "execveat" => REPLACES,
            _ => 0,
        }
}

/// Returns the flags of the call with this number, as reported by the tiers; 0 for an unknown number.
pub fn flags(nr: u32) -> u32 {
    Sysno::new((nr & !ENTRY_32) as usize).map_or(0, |s| flags_of_name(own_name(s)))
}

/// Returns how the tiers report the call with this number of the 32-bit table.
pub fn through_32_bit_entry(nr: u32) -> u32 {
    let name = syscalls::x86::Sysno::new(nr as usize).map(|s| s.name());
    match name.and_then(same_meaning) {
        Some(native) => ENTRY_32 | native,
        None => ENTRY_32 | ENTRY_32_ONLY | nr,
    }
}

/// Returns the number of the equivalent call on this architecture for a call of the 32-bit table.
fn same_meaning(name: &str) -> Option<u32> {
    /// Suffixes of calls that differ only in the width of their arguments.
    const WIDTHS: [&str; 3] = ["_time64", "64", "32"];
    let own = match name {
        "_llseek" => "lseek",
        "_newselect" => "select",
        "mmap2" => "mmap",
        "fstatat64" => "newfstatat",
        "fadvise64_64" => "fadvise64",
        "ugetrlimit" => "getrlimit",
        "waitpid" => "wait4",
        "sigaction" => "rt_sigaction",
        "sigprocmask" => "rt_sigprocmask",
        "sigreturn" => "rt_sigreturn",
        "sigsuspend" => "rt_sigsuspend",
        "sigpending" => "rt_sigpending",
        name => name,
    };
    let shorter = WIDTHS.iter().filter_map(|width| own.strip_suffix(width));
    number(own).or_else(|| shorter.into_iter().find_map(number))
}

/// Returns the name of a call by its number as reported by the tiers, such as `read`; `socketcall (32-bit)`
/// for one that only the 32-bit table has; `call 9999` for an unknown number.
pub fn name(nr: u32) -> String {
    let nr = nr & !ENTRY_32;
    if nr & ENTRY_32_ONLY != 0 {
        let nr = nr & !ENTRY_32_ONLY;
        return match syscalls::x86::Sysno::new(nr as usize) {
            Some(s) => format!("{} (32-bit)", s.name()),
            None => format!("call {nr} of the 32-bit table"),
        };
    }
    match Sysno::new(nr as usize) {
        Some(s) => own_name(s).to_owned(),
        None => format!("call {nr}"),
    }
}

/// Returns the kernel's name of a call of this architecture. One name of the crate's table for AArch64 is
/// another.
fn own_name(call: Sysno) -> &'static str {
    match call.name() {
        "fstatat" => "newfstatat",
        name => name,
    }
}

/// Returns the number of the call with this name; `None` if this architecture doesn't have it.
pub fn number(name: &str) -> Option<u32> {
    Sysno::iter()
        .find(|s| own_name(*s) == name)
        .map(|s| s.id() as u32)
}

/// Returns the direction in which the named call moves bytes; `None` if it moves none or both ways.
pub fn direction(name: &str) -> Option<Direction> {
    if READS.contains(&name) {
        Some(Direction::Read)
    } else if WRITES.contains(&name) {
        Some(Direction::Write)
    } else {
        None
    }
}

/// Calls that wait for one of several things; which one isn't visible.
const POLLS: &[&str] = &[
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "io_uring_enter",
    "io_getevents",
];

/// Polling calls that return 0 if nothing arrives within their timeout.
const LIMITED_POLLS: &[&str] = &[
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
];

/// Returns whether the named call waits for one of several descriptors or operations.
pub fn is_poll(name: &str) -> bool {
    POLLS.contains(&name)
}

/// Calls whose totals are part of a close record, in this order.
pub const TOTALS: [&str; 7] = [
    "read", "write", "pread64", "pwrite64", "readv", "writev", "lseek",
];

/// Number of 8-byte values for each of [`TOTALS`]: calls, bytes, errors, time and time asleep in ns.
pub const TOTALS_OF_CALL: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree_with_the_kernel_headers() {
        for (wanted, nr) in [
            ("read", libc::SYS_read),
            ("openat", libc::SYS_openat),
            ("futex", libc::SYS_futex),
            ("newfstatat", libc::SYS_newfstatat),
        ] {
            assert_eq!(name(nr as u32), wanted);
            assert_eq!(number(wanted), Some(nr as u32));
        }
        let written = FD | BYTES | WRITES_BYTES;
        assert_eq!(flags_of_name("write"), written | TOTALLED | BUFFER1);
        assert_eq!(name(9999), "call 9999");
    }

    /// Only x86 has two call tables.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn names_of_the_32_bit_table_agree_with_the_kernel_headers() {
        for (nr, reported) in [
            (3, "read"),
            (140, "lseek"),
            (192, "mmap"),
            (195, "stat"),
            (300, "newfstatat"),
            (220, "getdents64"),
            (199, "getuid"),
            (403, "clock_gettime"),
            (422, "futex"),
            (102, "socketcall (32-bit)"),
            (9999, "call 9999 of the 32-bit table"),
        ] {
            assert_eq!(name(through_32_bit_entry(nr)), reported);
        }
        assert_eq!(flags(through_32_bit_entry(4)), flags_of_name("write"));
        assert_eq!(flags(through_32_bit_entry(102)), 0);
    }

    #[test]
    fn every_named_call_fits_the_kernel_side_table() {
        let beyond: Vec<_> = Sysno::iter()
            .filter(|s| s.id() as u32 >= TABLE_SIZE && flags(s.id() as u32) != 0)
            .collect();
        assert_eq!(beyond, []);
    }

    #[test]
    fn descriptors_and_paths_are_distinguished() {
        let read = FD | BYTES | READS_BYTES;
        assert_eq!(flags_of_name("read"), read | TOTALLED);
        assert_eq!(flags_of_name("getdents64"), FD | BYTES);
        assert_eq!(flags_of_name("openat"), PATH1 | RECORD);
        assert_eq!(flags_of_name("newfstatat"), PATH1 | RECORD_ERROR);
        assert_eq!(flags_of_name("close"), FD | CLOSE0 | RECORD_OK);
        assert_eq!(flags_of_name("chdir"), PATH0 | RECORD);
        assert_eq!(flags_of_name("fchdir"), FD | RECORD_OK);
        assert_eq!(flags_of_name("futex"), 0);
        assert_eq!(flags_of_name("epoll_wait"), FD | POLL);
        assert_eq!(flags_of_name("io_uring_enter"), FD);
        assert_eq!(flags_of_name("inotify_add_watch") & FD, FD);
        assert_eq!(direction("pwritev2"), Some(Direction::Write));
        assert_eq!(direction("sendfile"), None);
    }
}
