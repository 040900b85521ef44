//! Tracks the targets of descriptor numbers, and how much was moved to and from each file.
//!
//! Follows the changes that processes make to their descriptor tables: opens, duplicates, pipes, sockets,
//! closes, forks and execs. It takes events and returns names. It is bounded: anything beyond the bounds is
//! counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::descriptor::{DescriptorKind, SocketEnd};
use crate::result::{DescriptorRow, FileRow, LookupRow};
use crate::signals::{RefusedRow, SignalRow, Signals};
use crate::uses::{Moved, UseRow};

/// Maximum number of different files, and of different failed lookups, kept for one tree.
pub(crate) const MOST_NAMES: usize = 50_000;
/// Maximum number of different names kept for one descriptor number.
const MOST_NAMES_OF_FD: usize = 8;

/// `PATH_MAX` of the kernel: the maximum length of a path.
const LONGEST_PATH: usize = 4096;

#[derive(Clone, Debug)]
struct Open {
    kind: Arc<DescriptorKind>,
    close_on_exec: bool,
}

#[derive(Debug, Default)]
struct Seen {
    kinds: Vec<Arc<DescriptorKind>>,
    more: u64,
}

/// Names of the descriptors of a process tree.
#[derive(Debug, Default)]
pub(crate) struct Names {
    open: HashMap<u32, HashMap<i32, Open>>,
    /// Known working directories, by process.
    cwd: HashMap<u32, Arc<str>>,
    seen: HashMap<(u32, i32), Seen>,
    files: HashMap<(u32, Arc<DescriptorKind>), FileRow>,
    uses: HashMap<(u32, i32, Arc<DescriptorKind>), Moved>,
    /// Failed lookups by call, error and path: a thousand short processes look up the same paths.
    lookups: HashMap<(u32, i32, Arc<str>), LookupRow>,
    /// The totals of each (thread, descriptor) when it was last settled.
    settled: HashMap<(u32, i32), Moved>,
    /// Number of names and lookups that were not kept.
    pub lost: u64,
    /// Signals sent, and connections refused.
    pub signals: Signals,
}

/// The rows of a trace that have names.
#[derive(Debug)]
pub(crate) struct NameRows {
    pub descriptors: Vec<DescriptorRow>,
    pub files: Vec<FileRow>,
    pub uses: Vec<UseRow>,
    pub lookups: Vec<LookupRow>,
    pub signals: Vec<SignalRow>,
    pub refused: Vec<RefusedRow>,
}

impl Seen {
    /// Keeps the name if there is room for it, or if it isn't that of a file: a program may open many files
    /// in sequence before it connects the socket that it then waits for.
    fn add(&mut self, kind: Arc<DescriptorKind>) {
        if self.kinds.len() >= MOST_NAMES_OF_FD {
            self.more += 1;
            let is_file = |kind: &DescriptorKind| kind.absolute().is_some();
            let Some(at) = self.kinds.iter().rposition(|kind| is_file(kind)) else {
                return;
            };
            if is_file(&kind) {
                return;
            }
            self.kinds.remove(at);
        }
        self.kinds.push(kind);
    }
}

impl Names {
    /// Notes that `fd` of `pid` now has this target. `made` means that the process opened it and did not
    /// inherit it.
    pub(crate) fn opened(
        &mut self,
        pid: u32,
        fd: i32,
        kind: impl Into<Arc<DescriptorKind>>,
        cloexec: bool,
        made: bool,
        time: u64,
    ) {
        let kind = kind.into();
        let seen = self.seen.entry((pid, fd)).or_default();
        if !seen.kinds.contains(&kind) {
            seen.add(kind.clone());
        }
        if made && let Some(file) = self.file(pid, &kind, time) {
            file.opens += 1;
        }
        let open = Open {
            kind,
            close_on_exec: cloexec,
        };
        self.open.entry(pid).or_default().insert(fd, open);
    }

    /// Notes that `to` of `pid` now has the same target as `from`.
    pub(crate) fn duplicated(&mut self, pid: u32, from: i32, to: i32, cloexec: bool, time: u64) {
        let kind = self.kind(pid, from);
        let kind = kind.unwrap_or_else(|| DescriptorKind::Unknown(None).into());
        self.opened(pid, to, kind, cloexec, false, time);
    }

    /// Refines the target of `fd`, for example a socket that was connected.
    pub(crate) fn refined(&mut self, pid: u32, fd: i32, kind: DescriptorKind, time: u64) {
        self.opened(pid, fd, kind, false, true, time);
    }

    /// Refines the target of `fd` and of all descriptors that processes inherited from it or duplicated.
    pub(crate) fn refined_everywhere(
        &mut self,
        pid: u32,
        fd: i32,
        kind: DescriptorKind,
        time: u64,
    ) {
        let before = self.kind(pid, fd);
        self.refined(pid, fd, kind, time);
        let (Some(before), Some(kind)) = (before, self.kind(pid, fd)) else {
            return;
        };
        let tables = self.open.iter_mut();
        let all = tables.flat_map(|(pid, table)| table.iter_mut().map(move |it| (*pid, it)));
        for (pid, (fd, open)) in all.filter(|(_, (_, open))| Arc::ptr_eq(&open.kind, &before)) {
            open.kind = kind.clone();
            self.seen.entry((pid, *fd)).or_default().add(kind.clone());
        }
    }

    /// Notes a thread's total on `fd` when `fd` was closed or the trace ended. The increase since the
    /// previous time is attributed to the file behind `fd`.
    pub(crate) fn settle(&mut self, who: (u32, u32), fd: i32, total: Moved, time: u64) {
        let (pid, tid) = who;
        let before = self.settled.insert((tid, fd), total).unwrap_or_default();
        let new = total.since(before);
        if new == Moved::default() {
            return;
        }
        // A descriptor that an exec closed is identified by its last target.
        let last = || self.seen.get(&(pid, fd))?.kinds.last().cloned();
        let kind = self.kind(pid, fd).or_else(last);
        let kind = kind.unwrap_or_else(|| DescriptorKind::Unknown(Some(fd)).into());
        if let Some(file) = self.file(pid, &kind, time) {
            // Querying the position moves no bytes: of several pipes, the one that was read or written gets
            // the name.
            if new.calls() > 0 {
                file.fd = Some(fd);
            }
            file.reads = file.reads.saturating_add(new.read.calls);
            file.read_bytes = file.read_bytes.saturating_add(new.read.bytes);
            file.writes = file.writes.saturating_add(new.written.calls);
            file.written_bytes = file.written_bytes.saturating_add(new.written.bytes);
        }
        let room = self.uses.len() < MOST_NAMES;
        match self.uses.entry((pid, fd, kind)) {
            Entry::Occupied(mut there) => *there.get_mut() += new,
            Entry::Vacant(place) if room => _ = place.insert(new),
            Entry::Vacant(_) => self.lost += 1,
        }
    }

    /// Notes that `fd` of `pid` is closed.
    pub(crate) fn closed(&mut self, pid: u32, fd: i32) {
        if let Some(table) = self.open.get_mut(&pid) {
            table.remove(&fd);
        }
    }

    /// Notes a new process, which inherits all of its parent's descriptors and its working directory.
    pub(crate) fn forked(&mut self, parent: u32, child: u32) {
        let table = self.open.get(&parent).cloned().unwrap_or_default();
        for (fd, open) in &table {
            let seen = self.seen.entry((child, *fd)).or_default();
            seen.kinds.push(open.kind.clone());
        }
        self.open.insert(child, table);
        if let Some(cwd) = self.cwd.get(&parent).cloned() {
            self.cwd.insert(child, cwd);
        }
    }

    /// Sets the working directory of `pid` to `path`. The directory becomes unknown if `path` is relative, or
    /// too long to be extended. `..` is kept as written, because the path may contain a link.
    pub(crate) fn moved_to(&mut self, pid: u32, path: &str) {
        match path.starts_with('/') && path.len() <= LONGEST_PATH {
            true => self.cwd.insert(pid, path.into()),
            false => self.cwd.remove(&pid),
        };
    }

    /// Returns the working directory of `pid`, if known.
    pub(crate) fn cwd(&self, pid: u32) -> Option<&str> {
        self.cwd.get(&pid).map(|path| &**path)
    }

    /// Notes that a process executes a new program, which closes its close-on-exec descriptors.
    pub(crate) fn execed(&mut self, pid: u32) {
        if let Some(table) = self.open.get_mut(&pid) {
            table.retain(|_, open| !open.close_on_exec);
        }
    }

    /// Notes that a call failed to open or find `path`.
    pub(crate) fn failed(
        &mut self,
        pid: u32,
        call: (u32, &str),
        path: &str,
        errno: i32,
        time: u64,
    ) {
        let key = (call.0, errno, Arc::from(path));
        if !self.lookups.contains_key(&key) && self.lookups.len() >= MOST_NAMES {
            self.lost += 1;
            return;
        }
        let row = self.lookups.entry(key).or_insert_with(|| LookupRow {
            pid,
            call: call.1.to_owned(),
            path: path.to_owned(),
            errno,
            calls: 0,
            first_ns: time,
        });
        row.calls += 1;
    }

    /// Returns the current target of `fd` of `pid`.
    pub(crate) fn kind(&self, pid: u32, fd: i32) -> Option<Arc<DescriptorKind>> {
        Some(self.open.get(&pid)?.get(&fd)?.kind.clone())
    }

    /// Returns the open connections, by process and descriptor.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (u32, i32)> {
        let all = self.open.iter();
        let all = all.flat_map(|(pid, table)| table.iter().map(|(fd, open)| (*pid, *fd, open)));
        let connects = |open: &Open| match &*open.kind {
            DescriptorKind::Socket(socket) => {
                matches!(socket.end, SocketEnd::Accepted(_) | SocketEnd::To(_))
            }
            _ => false,
        };
        all.filter_map(move |(pid, fd, open)| connects(open).then_some((pid, fd)))
    }

    /// Returns whether this descriptor number of a process had several targets, as far as seen.
    pub(crate) fn was_several(&self, pid: u32, fd: i32) -> bool {
        let seen = self.seen.get(&(pid, fd));
        seen.is_some_and(|seen| seen.kinds.len() > 1 || seen.more > 0)
    }

    fn file(&mut self, pid: u32, kind: &Arc<DescriptorKind>, time: u64) -> Option<&mut FileRow> {
        let key = (pid, kind.clone());
        if !self.files.contains_key(&key) && self.files.len() >= MOST_NAMES {
            self.lost += 1;
            return None;
        }
        Some(self.files.entry(key).or_insert_with(|| FileRow {
            pid,
            name: DescriptorKind::clone(kind),
            first_ns: time,
            ..FileRow::default()
        }))
    }

    /// Returns the rows of descriptors, files and failed lookups, in the order that `Trace` promises.
    pub(crate) fn rows(self) -> NameRows {
        let row = |((pid, fd), seen): ((u32, i32), Seen)| DescriptorRow {
            pid,
            fd,
            names: seen.kinds.into_iter().map(Arc::unwrap_or_clone).collect(),
            more_names: seen.more,
        };
        let mut descriptors: Vec<_> = self.seen.into_iter().map(row).collect();
        descriptors.sort_by_key(|d| (d.pid, d.fd));
        let mut files: Vec<_> = self.files.into_values().collect();
        files.sort_by(|a, b| {
            let bytes = |f: &FileRow| f.read_bytes.saturating_add(f.written_bytes);
            let order = (bytes(b), b.opens).cmp(&(bytes(a), a.opens));
            order.then_with(|| a.name.text().cmp(&b.name.text()))
        });
        let mut lookups: Vec<_> = self.lookups.into_values().collect();
        lookups.sort_by(|a, b| (b.calls, &a.path, a.pid).cmp(&(a.calls, &b.path, b.pid)));
        let uses = self
            .uses
            .into_iter()
            .map(|((pid, fd, kind), moved)| UseRow {
                pid,
                fd,
                name: Arc::unwrap_or_clone(kind),
                moved,
            });
        let mut uses: Vec<UseRow> = uses.collect();
        uses.sort_by(|a, b| {
            let order = (a.pid, a.fd, b.moved.calls()).cmp(&(b.pid, b.fd, a.moved.calls()));
            order.then_with(|| a.name.text().cmp(&b.name.text()))
        });
        let (signals, refused) = self.signals.rows();
        NameRows {
            descriptors,
            files,
            uses,
            lookups,
            signals,
            refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uses::Flow;

    fn kind(text: &str) -> DescriptorKind {
        text.into()
    }

    fn read(calls: u64, bytes: u64) -> Moved {
        let read = Flow {
            calls,
            bytes,
            ..Flow::default()
        };
        Moved {
            read,
            ..Moved::default()
        }
    }

    #[test]
    fn files_that_share_a_number_get_what_is_theirs() {
        let mut n = Names::default();
        n.opened(1, 3, kind("a"), false, true, 5);
        n.settle((1, 1), 3, read(2, 20), 6);
        n.closed(1, 3);
        n.opened(1, 3, kind("b"), false, true, 7);
        n.settle((1, 1), 3, read(5, 21), 8);
        let rows = n.rows();
        assert_eq!(rows.descriptors[0].names, ["a", "b"]);
        let reported: Vec<_> = rows
            .files
            .iter()
            .map(|f| (f.name.text(), f.reads, f.read_bytes))
            .collect();
        assert_eq!(reported, [("a".into(), 2, 20), ("b".into(), 3, 1)]);
        let on_3 = |row: &UseRow| (row.fd, row.moved.read.calls, row.moved.read.bytes);
        let used: Vec<_> = rows.uses.iter().map(on_3).collect();
        assert_eq!(used, [(3, 3, 1), (3, 2, 20)]);
    }

    #[test]
    fn the_pipe_that_moved_something_is_the_pipe() {
        let mut n = Names::default();
        n.opened(1, 3, kind("pipe"), false, true, 5);
        n.opened(1, 4, kind("pipe"), false, true, 5);
        n.settle((1, 1), 3, read(2, 20), 6);
        let mut sought = Moved::default();
        sought.sought.calls = 1;
        n.settle((1, 1), 4, sought, 7);
        assert_eq!(n.rows().files[0].fd, Some(3));
    }

    #[test]
    fn a_child_inherits_and_an_exec_closes_what_was_marked() {
        let mut n = Names::default();
        n.opened(1, 3, kind("kept"), false, true, 0);
        n.opened(1, 4, kind("gone"), true, true, 0);
        n.forked(1, 2);
        n.duplicated(2, 3, 9, false, 0);
        n.execed(2);
        assert_eq!(n.kind(2, 9).as_deref(), Some(&kind("kept")));
        assert_eq!(n.kind(2, 4), None);
        assert_eq!(n.kind(1, 4).as_deref(), Some(&kind("gone")));
    }

    #[test]
    fn failed_lookups_are_added_up_by_path_and_reason() {
        let mut n = Names::default();
        for _ in 0..3 {
            n.failed(1, (257, "openat"), "/lib/x.so", 2, 9);
        }
        n.failed(1, (257, "openat"), "/lib/x.so", 13, 9);
        let lookups = n.rows().lookups;
        let reported: Vec<_> = lookups.iter().map(|l| (l.errno, l.calls)).collect();
        assert_eq!(reported, [(2, 3), (13, 1)]);
    }

    #[test]
    fn a_socket_after_many_files_has_its_name() {
        let mut n = Names::default();
        for i in 0..20 {
            n.opened(1, 3, kind(&format!("/lib/{i}.so")), false, true, 0);
        }
        n.opened(1, 3, kind("socket to 127.0.0.1:80"), false, true, 0);
        n.opened(1, 3, kind("/etc/hosts"), false, true, 0);
        let rows = n.rows();
        let reported = &rows.descriptors[0];
        assert_eq!(*reported.names.last().unwrap(), "socket to 127.0.0.1:80");
        assert_eq!((reported.names.len() as u64, reported.more_names), (8, 14));
    }

    #[test]
    fn names_beyond_the_bound_are_counted_as_lost() {
        let mut n = Names::default();
        for i in 0..MOST_NAMES + 3 {
            n.opened(1, 3, kind(&i.to_string()), false, true, 0);
        }
        assert_eq!(n.lost, 3);
        assert_eq!(n.rows().files.len(), MOST_NAMES);
    }
}
