//! Determines what a descriptor number refers to.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use fathom_trace::{DescriptorKind, FileRow, Socket, SocketEnd, SocketFamily, Trace, UseRow};

use crate::calls;
use crate::use_names::{is_nearly_all, name_of_all};

/// If there is at least one open for this many calls, each open counts as being for one record. The number is
/// 2 because some programs write a record in two pieces.
const OPENS_FOR_EACH_CALL: u64 = 2;

/// Reports whether a socket's address is a path or abstract name rather than that of a host.
pub(crate) fn is_path(peer: &str) -> bool {
    ["/", "./", "@"].iter().any(|start| peer.starts_with(start))
}

/// Reports whether the peer of a socket is on this machine.
pub(crate) fn is_local(peer: &str) -> bool {
    let loopback = ["127.", "[::1]", "[::ffff:127."];
    is_path(peer) || loopback.iter().any(|it| peer.starts_with(it))
}

/// The kind of object behind a descriptor, as far as it matters for waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitKind {
    Pipe,
    Socket,
    Terminal,
    /// An eventfd, an epoll set and the like.
    Events,
    /// A timerfd.
    Timer,
    File,
    Unknown,
}

impl WaitKind {
    pub(crate) fn of(kind: &DescriptorKind) -> Self {
        match kind {
            DescriptorKind::Terminal(_) => Self::Terminal,
            DescriptorKind::File(_) => Self::File,
            // Both ends of a pair are created by one process, for itself or its children, so no network is
            // involved.
            DescriptorKind::Pipe(_) | DescriptorKind::NamedPipe(_) | DescriptorKind::SocketPair => {
                Self::Pipe
            }
            DescriptorKind::Socket(_) => Self::Socket,
            DescriptorKind::Events(_) => Self::Events,
            DescriptorKind::Timer => Self::Timer,
            DescriptorKind::Unknown(_) | DescriptorKind::Unnamed => Self::Unknown,
        }
    }
}

/// The names of all descriptors of a trace.
pub(crate) struct Descriptors<'a> {
    names: HashMap<(u32, i32), &'a [DescriptorKind]>,
    root: Option<u32>,
    /// Descriptors that were reused for more objects than are named; each has the kind of another object of
    /// its process.
    reused: HashMap<(u32, i32), WaitKind>,
    /// The files behind each descriptor, those with the most calls first.
    files: HashMap<(u32, i32), Vec<&'a FileRow>>,
    /// The objects behind each descriptor with the amounts moved, those with the most calls first.
    uses: HashMap<(u32, i32), Vec<&'a UseRow>>,
    /// Ports and paths at which a process of the tree accepts connections.
    answering: HashSet<&'a str>,
    /// The number of calls that moved bytes, or would have moved some.
    moving: HashMap<(u32, i32), u64>,
}

impl<'a> Descriptors<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let row = |d: &'a fathom_trace::DescriptorRow| ((d.pid, d.fd), d.names.as_slice());
        Self {
            names: trace.descriptors.iter().map(row).collect(),
            root: trace.processes.first().map(|p| p.pid),
            reused: reused(trace),
            files: files(trace),
            uses: uses(trace),
            answering: answering(trace),
            moving: moving(trace),
        }
    }

    /// Describes what was behind a descriptor: the only file, or the file with the most calls, or the number
    /// of files and one of them. Returns `None` if nothing is known about it. If far more calls were made
    /// than are known by file, as on sockets, describes the last object.
    pub(crate) fn describe(&self, pid: u32, fd: i32) -> Option<String> {
        let last = self.names(pid, fd).last().map(DescriptorKind::to_string);
        let used = self.uses(pid, fd);
        let known: u64 = used.iter().map(|one| one.moved.calls()).sum();
        let calls = self.moving.get(&(pid, fd)).copied().unwrap_or(0);
        match known * 2 >= calls {
            true => name_of_all(used).or(last),
            false => last,
        }
    }

    /// Returns the objects through which calls moved data on this descriptor, those with the most calls
    /// first.
    pub(crate) fn uses(&self, pid: u32, fd: i32) -> &[&'a UseRow] {
        self.uses.get(&(pid, fd)).map_or(&[], Vec::as_slice)
    }

    /// Returns the objects other than the one that got nearly all calls; empty if no object did.
    pub(crate) fn strays(&self, pid: u32, fd: i32) -> &[&'a UseRow] {
        match self.uses(pid, fd) {
            [first, others @ ..] if is_nearly_all(first, others) => others,
            _ => &[],
        }
    }

    /// Returns the names of a descriptor, in order.
    pub(crate) fn names(&self, pid: u32, fd: i32) -> &'a [DescriptorKind] {
        self.names.get(&(pid, fd)).copied().unwrap_or_default()
    }

    /// Returns the object that a call on the descriptor waits for.
    pub(crate) fn waited_for_name(&self, pid: u32, fd: i32) -> Option<&'a DescriptorKind> {
        let kind = self.waited_for(pid, fd);
        let used = self.files.get(&(pid, fd)).into_iter().flatten();
        let used = used.map(|file| &file.name);
        let mut both = used.chain(self.names(pid, fd));
        both.find(|name| WaitKind::of(name) == kind)
    }

    /// Returns the number of reads from sockets on this descriptor, which may have referred to files before;
    /// `None` if they aren't counted separately.
    pub(crate) fn socket_reads(&self, pid: u32, fd: i32) -> Option<u64> {
        let files = self.files.get(&(pid, fd))?.iter();
        let sockets = files.filter(|file| WaitKind::of(&file.name) == WaitKind::Socket);
        Some(sockets.map(|file| file.reads).sum())
    }

    /// Reports whether the descriptor is a named pipe whose other end no process of the tree uses.
    pub(crate) fn is_outer_fifo(&self, pid: u32, fd: i32, reads: bool) -> bool {
        let name = self.waited_for_name(pid, fd);
        name.is_some_and(|name| self.is_fifo_to_others(name, reads))
    }

    /// Like [`Self::is_outer_fifo`], but for a descriptor whose name is known.
    pub(crate) fn is_fifo_to_others(&self, name: &DescriptorKind, reads: bool) -> bool {
        let DescriptorKind::NamedPipe(_) = name else {
            return false;
        };
        let same = self.files.values().flatten().filter(|f| f.name == *name);
        let (mut read, mut written) = (false, false);
        for file in same {
            read |= file.reads > 0;
            written |= file.writes > 0;
        }
        !(if reads { written } else { read })
    }

    /// Returns the peer of a socket, formatted for display.
    pub(crate) fn peer(&self, pid: u32, fd: i32) -> Option<&'a str> {
        peer_of(self.waited_for_name(pid, fd)?)
    }

    /// Reports whether the descriptor is a socket connected to a program on this machine, without a network
    /// in between.
    pub(crate) fn is_local_socket(&self, pid: u32, fd: i32) -> bool {
        self.peer(pid, fd).is_some_and(is_local)
    }

    /// Reports whether a process of the tree accepts connections at this local address.
    pub(crate) fn answers_at(&self, peer: &str) -> bool {
        is_local(peer) && self.answering.contains(door(peer))
    }

    /// Reports whether this process accepted a connection.
    pub(crate) fn accepts(&self, pid: u32) -> bool {
        let mut own = self.names.iter().filter(|((of, _), _)| *of == pid);
        own.any(|(_, names)| names.iter().any(is_accepted))
    }

    /// Reports whether the descriptor is an accepted connection.
    pub(crate) fn is_accepted(&self, pid: u32, fd: i32) -> bool {
        self.waited_for_name(pid, fd).is_some_and(is_accepted)
    }

    /// Reports whether a small write to this socket may wait for the acknowledgement of the previous one.
    /// This is true for TCP unless disabled, and for unknown sockets.
    pub(crate) fn may_hold_back(&self, pid: u32, fd: i32) -> bool {
        match self.waited_for_name(pid, fd) {
            Some(DescriptorKind::Socket(socket)) => match &socket.end {
                SocketEnd::Loose(SocketFamily::Unix) => false,
                SocketEnd::To(peer) if is_path(peer) => false,
                _ => !socket.nodelay,
            },
            other => other != Some(&DescriptorKind::SocketPair),
        }
    }

    /// Returns the descriptor's kind for a call that waits. Calls don't wait for files, so the other uses of
    /// the number count; if there are several, the one with the most calls does.
    pub(crate) fn waited_for(&self, pid: u32, fd: i32) -> WaitKind {
        let kinds = || self.names(pid, fd).iter().map(WaitKind::of);
        let waitable = |kind: &WaitKind| !matches!(kind, WaitKind::File | WaitKind::Unknown);
        let used = self.files.get(&(pid, fd)).into_iter().flatten();
        used.filter(|file| file.reads + file.writes > 0)
            .map(|file| WaitKind::of(&file.name))
            .find(waitable)
            .or_else(|| kinds().find(waitable))
            .or_else(|| self.reused.get(&(pid, fd)).copied())
            .or_else(|| kinds().next())
            .unwrap_or(WaitKind::Unknown)
    }

    /// Returns the kind of object through which most calls moved data, if known. This matters because a
    /// number may have been a pipe for a moment and then one file after another.
    pub(crate) fn mostly(&self, pid: u32, fd: i32) -> WaitKind {
        match self.files.get(&(pid, fd)).and_then(|files| files.first()) {
            Some(file) => WaitKind::of(&file.name),
            None => self.waited_for(pid, fd),
        }
    }

    /// Reports whether a call moves data through a socket.
    pub(crate) fn is_socket(&self, pid: u32, fd: Option<i32>, call: &str) -> bool {
        let by_name = calls::is_message(call);
        match fd.map(|fd| self.waited_for(pid, fd)) {
            Some(WaitKind::Pipe) => false,
            kind => by_name || kind == Some(WaitKind::Socket),
        }
    }

    /// Returns the descriptor's last kind, or its most frequent one if it was reused too often to be kept in
    /// order.
    pub(crate) fn last(&self, pid: u32, fd: i32) -> WaitKind {
        if self.reused.contains_key(&(pid, fd)) {
            return self.mostly(pid, fd);
        }
        self.names(pid, fd)
            .last()
            .map_or(WaitKind::Unknown, WaitKind::of)
    }

    /// Reports whether descriptor 0 or 1 of this process can be that of the whole command, judging by its
    /// kind. A pipe inside of the tree can't be one of the command's descriptors.
    pub(crate) fn is_of_command(&self, pid: u32, fd: i32) -> bool {
        let Some(root) = self.root else { return false };
        if pid == root {
            return true;
        }
        let first = |pid| self.names(pid, fd).first().map(WaitKind::of);
        // A child starts with the command's own descriptor, and gets its pipe later. Files are skipped
        // because calls don't wait for them.
        let is_another =
            first(root) == Some(WaitKind::File) && self.waited_for(pid, fd) == WaitKind::Pipe;
        first(root) == first(pid) && !is_another
    }

    /// Reports whether `fd` is the command's standard input.
    pub(crate) fn is_input(&self, pid: u32, fd: i32) -> bool {
        fd == 0 || self.is_alias(pid, fd, &["/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"])
    }

    /// Reports whether `fd` is standard output or standard error.
    pub(crate) fn is_output(&self, pid: u32, fd: i32) -> bool {
        let aliases = ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "/dev/stderr"];
        fd == 1 || fd == 2 || self.is_alias(pid, fd, &aliases)
    }

    /// Reports whether `fd` is a file that is opened again for about every call that moves its bytes,
    /// whatever else the number was used for. For example, `echo x >> file` in a shell does this with
    /// standard output.
    pub(crate) fn is_reopened_file(&self, pid: u32, fd: i32) -> bool {
        let on_fd = self.files.get(&(pid, fd)).into_iter().flatten();
        let files = on_fd.filter(|file| WaitKind::of(&file.name) == WaitKind::File);
        let (opens, calls) = files.fold((0, 0), |(opens, calls), file| {
            (opens + file.opens, calls + file.reads + file.writes)
        });
        opens > 0 && opens * OPENS_FOR_EACH_CALL >= calls
    }

    /// Returns how often the objects behind `fd` were opened, if known.
    pub(crate) fn opens(&self, pid: u32, fd: i32) -> Option<u64> {
        let on_fd = self.files.get(&(pid, fd))?.iter();
        Some(on_fd.map(|file| file.opens).sum())
    }

    fn is_alias(&self, pid: u32, fd: i32, aliases: &[&str]) -> bool {
        let last = self.names(pid, fd).last();
        last.is_some_and(|name| aliases.iter().any(|alias| name == alias))
    }
}

/// Returns the peer of a socket.
pub(crate) fn peer_of(name: &DescriptorKind) -> Option<&str> {
    match name {
        DescriptorKind::Socket(Socket {
            end: SocketEnd::To(peer),
            ..
        }) => Some(peer),
        _ => None,
    }
}

/// Reports whether requests sent through a socket are answered through it. This is true for a connected
/// socket, and for one that sends to any address.
pub(crate) fn takes_answers(name: &DescriptorKind) -> bool {
    match name {
        DescriptorKind::Socket(socket) => match &socket.end {
            SocketEnd::To(_) => true,
            SocketEnd::Loose(family) => *family == SocketFamily::Inet,
            SocketEnd::At(_) | SocketEnd::Accepted(_) => false,
        },
        _ => false,
    }
}

/// Groups the uses by descriptor. The trace already orders those of one descriptor by calls, largest number
/// first.
fn uses(trace: &Trace) -> HashMap<(u32, i32), Vec<&UseRow>> {
    let mut uses: HashMap<(u32, i32), Vec<&UseRow>> = HashMap::new();
    for row in &trace.uses {
        uses.entry((row.pid, row.fd)).or_default().push(row);
    }
    uses
}

fn files(trace: &Trace) -> HashMap<(u32, i32), Vec<&FileRow>> {
    let mut files: HashMap<(u32, i32), Vec<&FileRow>> = HashMap::new();
    for file in &trace.files {
        if let Some(fd) = file.fd {
            files.entry((file.pid, fd)).or_default().push(file);
        }
    }
    let calls = |file: &&FileRow| Reverse(file.reads + file.writes);
    files
        .values_mut()
        .for_each(|files| files.sort_by_key(calls));
    files
}

/// Returns the port of an address of this machine, because the machine may have several names; otherwise
/// returns the path.
fn door(address: &str) -> &str {
    match is_path(address) {
        true => address,
        // The socket's options may follow the address.
        false => {
            let bare = address.split(' ').next().unwrap_or(address);
            bare.rsplit(':').next().unwrap_or(bare)
        }
    }
}

fn answering(trace: &Trace) -> HashSet<&str> {
    let named = trace.descriptors.iter().flat_map(|row| &row.names);
    let used = trace.files.iter().map(|file| &file.name);
    named
        .chain(used)
        .filter_map(accepted_at)
        .map(door)
        .collect()
}

/// Returns the address at which a socket was accepted.
fn accepted_at(name: &DescriptorKind) -> Option<&str> {
    match name {
        DescriptorKind::Socket(Socket {
            end: SocketEnd::Accepted(by),
            ..
        }) => by.as_deref()?.strip_prefix("socket at "),
        _ => None,
    }
}

fn moving(trace: &Trace) -> HashMap<(u32, i32), u64> {
    let mut moving = HashMap::new();
    for row in &trace.syscalls {
        let moves = calls::is_read(&row.name) || calls::is_write(&row.name) || row.bytes > 0;
        if let Some(fd) = row.fd.filter(|_| moves) {
            *moving.entry((row.pid, fd)).or_default() += row.calls;
        }
    }
    moving
}

/// Finds descriptors that were reused for many files. Such a number may also have been a socket or pipe; if
/// the process had one, waits on the number are attributed to that.
fn reused(trace: &Trace) -> HashMap<(u32, i32), WaitKind> {
    let mut of_process: HashMap<u32, WaitKind> = HashMap::new();
    for file in &trace.files {
        match WaitKind::of(&file.name) {
            WaitKind::Socket => _ = of_process.insert(file.pid, WaitKind::Socket),
            WaitKind::Pipe => _ = of_process.entry(file.pid).or_insert(WaitKind::Pipe),
            _ => {}
        }
    }
    let many = trace.descriptors.iter().filter(|d| d.more_names > 0);
    many.filter_map(|d| Some(((d.pid, d.fd), *of_process.get(&d.pid)?)))
        .collect()
}

/// Returns the address at which a connection was accepted; empty if it is unknown.
pub(crate) fn door_of(kind: &DescriptorKind) -> Option<&str> {
    match kind {
        DescriptorKind::Socket(Socket {
            end: SocketEnd::Accepted(door),
            ..
        }) => Some(door.as_deref().unwrap_or_default()),
        _ => None,
    }
}

/// Reports whether a connection was accepted.
pub(crate) fn is_accepted(kind: &DescriptorKind) -> bool {
    door_of(kind).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, reads: u64) -> FileRow {
        FileRow {
            pid: 1,
            name: name.into(),
            reads,
            fd: Some(3),
            ..FileRow::default()
        }
    }

    fn used(name: &str, calls: u64) -> UseRow {
        let mut used = UseRow {
            pid: 1,
            fd: 3,
            name: name.into(),
            ..UseRow::default()
        };
        used.moved.read.calls = calls;
        used
    }

    fn reported(uses: Vec<UseRow>) -> Option<String> {
        let trace = Trace {
            uses,
            ..Trace::default()
        };
        Descriptors::new(&trace).describe(1, 3)
    }

    #[test]
    fn a_number_that_was_many_files_names_the_one_at_fault() {
        let many = |n: u64| (0..n).map(|i| used(&format!("/data/in/{i}"), 5));
        assert_eq!(reported(vec![used("/a/b", 2)]).as_deref(), Some("/a/b"));
        assert_eq!(
            reported(many(3).collect()).as_deref(),
            Some("3 files under /data/in, e.g. /data/in/0")
        );
        let ruled = [used("/log", 100)].into_iter().chain(many(2)).collect();
        assert_eq!(reported(ruled).as_deref(), Some("/log and 2 others"));
        let alone = [used("/log", 200)].into_iter().chain(many(2)).collect();
        assert_eq!(reported(alone).as_deref(), Some("/log"));
        assert_eq!(
            reported(vec![used("/a", 1), used("/b", 1)]).as_deref(),
            Some("2 files, e.g. /a")
        );
        assert_eq!(reported(Vec::new()), None);
    }

    #[test]
    fn calls_that_no_file_is_known_to_have_got_went_to_what_it_last_was() {
        let names = ["/lib/libc.so.6", "socket pair"].map(DescriptorKind::from);
        let trace = Trace {
            uses: vec![used("/lib/libc.so.6", 2)],
            descriptors: vec![fathom_trace::DescriptorRow {
                pid: 1,
                fd: 3,
                names: names.to_vec(),
                more_names: 0,
            }],
            syscalls: vec![fathom_trace::SyscallRow {
                pid: 1,
                fd: Some(3),
                name: "sendfile".to_owned(),
                calls: 1000,
                bytes: 512_000,
                ..fathom_trace::SyscallRow::default()
            }],
            ..Trace::default()
        };
        let reported = Descriptors::new(&trace).describe(1, 3);
        assert_eq!(reported.as_deref(), Some("socket pair"));
    }

    #[test]
    fn a_number_that_was_a_pipe_and_then_many_files_is_mostly_files() {
        let trace = Trace {
            files: vec![file("pipe", 1), file("/etc/certificates", 68)],
            ..Trace::default()
        };
        assert_eq!(Descriptors::new(&trace).mostly(1, 3), WaitKind::File);
    }

    #[test]
    fn a_number_that_was_a_pipe_and_then_a_socket_waits_for_what_most_calls_went_to() {
        let names = |names: &[&str]| fathom_trace::DescriptorRow {
            pid: 1,
            fd: 3,
            names: names.iter().map(|name| (*name).into()).collect(),
            more_names: 0,
        };
        let mut trace = Trace {
            files: vec![file("pipe", 1), file("socket to 127.0.0.1:80", 40)],
            descriptors: vec![names(&[
                "/etc/ld.so.cache",
                "pipe",
                "socket to 127.0.0.1:80",
            ])],
            ..Trace::default()
        };
        assert_eq!(Descriptors::new(&trace).waited_for(1, 3), WaitKind::Socket);
        trace.files.clear();
        assert_eq!(Descriptors::new(&trace).waited_for(1, 3), WaitKind::Pipe);
    }

    #[test]
    fn a_file_that_is_opened_for_each_call_is_distinguished_from_one_that_is_kept_open() {
        let reopened = |opens: u64, name: &str| {
            let row = FileRow {
                opens,
                ..file(name, 1000)
            };
            let trace = Trace {
                files: vec![row],
                ..Trace::default()
            };
            Descriptors::new(&trace).is_reopened_file(1, 3)
        };
        assert!(reopened(1000, "/tmp/log"));
        assert!(!reopened(1, "/tmp/log"));
        assert!(!reopened(1000, "pipe"));
    }

    #[test]
    fn kinds_differ_by_how_they_are_waited_for() {
        let of = |text: &str| WaitKind::of(&text.into());
        assert_eq!(of("pipe"), WaitKind::Pipe);
        assert_eq!(
            of("accepted socket from socket at [::]:80"),
            WaitKind::Socket
        );
        assert_eq!(of("/dev/pts/3"), WaitKind::Terminal);
        assert_eq!(of("eventfd"), WaitKind::Events);
        assert_eq!(of("/dev/null"), WaitKind::File);
        assert_eq!(of("relative.txt"), WaitKind::File);
        assert_eq!(of("descriptor 9"), WaitKind::Unknown);
    }
}
