//! The threads that exist, and the observations of each.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::thread::{Sample, SampledThread, is_ending};
use super::timeline::Timeline;
use crate::attach::Found;
use crate::calls;
use crate::command::TraceOptions;
use crate::inherited;
use crate::name_maps::NameMaps;
use crate::names::Names;
use crate::paths;
use crate::perf::{self, Key, WaitSample};
use crate::programs;
use crate::result::{Cause, Exec, Limited, OffCpuRow, Process, Thread};

/// Maximum number of processes of a tree for which the standard descriptors of all are read.
const MOST_ASKED: usize = 32;

#[derive(Debug, Default)]
struct Seen {
    samples: u64,
    ns: u64,
}

/// When sampling a process was first refused, and when the process was gone, in ns of the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Refused {
    from: u64,
    until: Option<u64>,
}

/// The tree, as far as it is known.
#[derive(Debug)]
pub(super) struct Tree {
    start: u64,
    alive: Vec<SampledThread>,
    known: HashSet<u32>,
    process_at: HashMap<u32, usize>,
    /// Processes that still exist.
    present: Vec<u32>,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    seen: HashMap<Key, Seen>,
    /// Processes that may not be sampled.
    refused: HashMap<u32, Refused>,
    names: Names,
    labels: Vec<(String, String)>,
    timeline: Option<Timeline>,
    /// Data kept for a recorder.
    kept: Option<perf::WaitSamples>,
    /// Processes that were found in the middle of an `execve`, before the kernel had copied their arguments.
    between_programs: Vec<u32>,
    /// Receives the ids of processes that may write maps of names.
    pub(super) name_maps: Option<Arc<NameMaps>>,
}

impl Tree {
    /// Creates a tree without processes. Times are relative to `start`.
    pub(super) fn new(start: u64, options: &TraceOptions) -> Self {
        Self {
            start,
            alive: Vec::new(),
            known: HashSet::new(),
            process_at: HashMap::new(),
            present: Vec::new(),
            processes: Vec::new(),
            threads: Vec::new(),
            seen: HashMap::new(),
            refused: HashMap::new(),
            names: Names::default(),
            labels: options.labels.clone(),
            timeline: options.timeline.map(|t| Timeline::new(start, t)),
            kept: None,
            between_programs: Vec::new(),
            name_maps: None,
        }
    }

    /// Creates a tree for a recorder, which takes the samples with [`Tree::taken`] and knows the times of
    /// waits from another source.
    pub(super) fn for_recorder(start: u64, options: &TraceOptions) -> Self {
        Self {
            timeline: None,
            kept: Some(perf::WaitSamples::default()),
            ..Self::new(start, options)
        }
    }

    /// Returns the observations since the last call.
    pub(super) fn taken(&mut self) -> perf::WaitSamples {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Names the initial descriptors of a held command.
    pub(super) fn name(&mut self, root: u32) {
        inherited::name_descriptors(&mut self.names, root, &self.labels);
    }

    /// Notes that a command was released.
    pub(super) fn add_root(&mut self, root: u32, at: u64) {
        self.add_process(root, None, at);
    }

    /// Adds the processes found in a running tree.
    pub(super) fn attach(&mut self, found: &mut Found, at: u64) {
        found.name_descriptors(&mut self.names, &self.labels);
        for process in &found.processes {
            self.add_process(process.pid, process.parent, at);
            // A process with a parent has already been handled.
            if process.parent.is_none() {
                self.note_exec(process.pid, at - self.start);
                self.find_threads(process.pid, at);
            }
        }
        for process in &found.processes {
            self.ask_standard(process.pid, at - self.start);
        }
    }

    /// Samples every known thread once. Each sample represents the time since the previous one.
    pub(super) fn sample(&mut self, now: impl Fn() -> u64) {
        let waiting = std::mem::take(&mut self.between_programs);
        let alive = |pid: &u32| self.alive.iter().any(|thread| thread.pid == *pid);
        let waiting: Vec<u32> = waiting.into_iter().filter(alive).collect();
        for pid in waiting {
            self.note_exec(pid, now() - self.start);
        }
        let mut sampled = std::mem::take(&mut self.alive);
        sampled.retain_mut(|thread| {
            let before = thread.last;
            let from = now();
            let sample = thread.sample();
            let at = now();
            match sample {
                Ok(Some(sample)) => {
                    thread.last = at;
                    let key = self.saw(thread, &sample, at - before);
                    let waits = sample.cause != Cause::Running;
                    if let Some(kept) = self.kept.as_mut().filter(|_| waits) {
                        kept.waits.push(WaitSample { from, to: at, key });
                    }
                    true
                }
                // If the leader is a zombie, other threads may live on; its files remain readable.
                Ok(None) => {
                    thread.over.get_or_insert(at);
                    true
                }
                // The thread now runs a set-uid program.
                Err(e) if is_refused(&e, thread.pid, thread.tid) => {
                    self.refuse(thread.pid, at);
                    false
                }
                Err(_) => {
                    self.ended(thread, at);
                    false
                }
            }
        });
        self.alive = sampled;
        self.find_ends_of_refused(&now);
    }

    /// Returns the CPUs on which the threads were running, or ready to run, when last sampled.
    pub(super) fn busy_cpus(&self) -> Vec<usize> {
        let threads = self.alive.iter();
        threads.filter_map(|thread| thread.runs_on).collect()
    }

    /// Marks a process as one that may not be sampled. The program that it runs is public information.
    fn refuse(&mut self, pid: u32, at: u64) {
        let new = Refused {
            from: at,
            until: None,
        };
        if let Entry::Vacant(place) = self.refused.entry(pid) {
            place.insert(new);
            self.note_exec(pid, at - self.start);
        }
    }

    /// Finds the ends of refused processes, which samples don't show.
    fn find_ends_of_refused(&mut self, now: impl Fn() -> u64) {
        let alive = self.refused.iter_mut();
        let alive = alive.filter(|(_, refused)| refused.until.is_none());
        for (pid, refused) in alive {
            if !Path::new(&format!("/proc/{pid}")).exists() {
                refused.until = Some(now());
            }
        }
    }

    /// Adds a sample; returns its key.
    fn saw(&mut self, thread: &SampledThread, sample: &Sample, ns: u64) -> Key {
        let SampledThread { pid, tid, .. } = *thread;
        let fd = sample.call.and_then(|(nr, first)| {
            let has_fd = calls::flags(nr) & calls::FD != 0;
            has_fd.then_some(first as i32)
        });
        let key = (tid, pid, sample.call.map(|(nr, _)| nr), fd, sample.cause);
        if let Some(timeline) = &mut self.timeline {
            timeline.saw(key, thread.last.saturating_sub(ns), thread.last);
        }
        let seen = self.seen.entry(key).or_default();
        seen.samples += 1;
        seen.ns += ns;
        // Check again occasionally, because the descriptor may have another target by now.
        if seen.samples % 64 == 1
            && let Some(fd) = fd
        {
            self.ask(pid, fd, thread.last - self.start);
            self.ask_others(pid, thread.last - self.start);
        }
        if sample.renamed && tid == pid {
            self.note_exec(pid, thread.last - self.start);
        }
        key
    }

    /// Notes that a process executed another program.
    pub(super) fn executed(&mut self, pid: u32, at: u64) {
        self.note_exec(pid, at - self.start);
        self.ask_standard(pid, at - self.start);
    }

    fn ask_standard(&mut self, pid: u32, time: u64) {
        for fd in 0..=2 {
            self.ask(pid, fd, time);
        }
    }

    /// Reads the target of a descriptor.
    fn ask(&mut self, pid: u32, fd: i32, time: u64) {
        let Some((target, kind)) = inherited::behind(pid, fd, &self.labels) else {
            return;
        };
        self.names.opened(pid, fd, kind, false, false, time);
        if let (Some(kept), Some(inode)) = (&mut self.kept, inherited::inode(&target)) {
            kept.links.push((pid, fd, inode));
        }
    }

    /// Reads the targets of the standard descriptors of all other processes. A forked copy of a shell doesn't
    /// execute another program and may never be seen in a call, but a thread at the other end of a pipe may
    /// wait for it.
    fn ask_others(&mut self, pid: u32, time: u64) {
        if self.kept.is_none() || self.process_at.len() > MOST_ASKED {
            return;
        }
        let others: Vec<u32> = self.process_at.keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != pid) {
            self.ask_standard(other, time);
        }
    }

    /// Finds new threads and processes.
    pub(super) fn discover(&mut self, now: u64) {
        let mut present = std::mem::take(&mut self.present);
        present.retain(|pid| self.find_threads(*pid, now));
        self.present = present;
        // A child that was just found may have children, which aren't reported in any other way.
        let mut from = 0;
        while let Some(thread) = self.alive.get(from) {
            let (parent, children) = (thread.pid, thread.children());
            from += 1;
            for child in children {
                // Fathom may have been started by the process it observes.
                let is_own = child == std::process::id();
                if !is_own && !self.process_at.contains_key(&child) {
                    self.names.forked(parent, child);
                    self.add_process(child, Some(parent), now);
                }
            }
        }
    }

    /// Finds new threads of a process; returns `false` if it no longer exists.
    fn find_threads(&mut self, pid: u32, now: u64) -> bool {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
            return false;
        };
        for entry in tasks.flatten() {
            let tid = entry.file_name().to_str().and_then(|t| t.parse().ok());
            if let Some(tid) = tid
                && self.known.insert(tid)
            {
                self.add_thread(pid, tid, now);
            }
        }
        true
    }

    fn add_process(&mut self, pid: u32, parent: Option<u32>, now: u64) {
        self.name_maps.iter().for_each(|maps| maps.born(pid));
        self.process_at.insert(pid, self.processes.len());
        self.present.push(pid);
        self.processes.push(Process {
            pid,
            parent,
            started_ns: now - self.start,
            ..Process::default()
        });
        self.known.insert(pid);
        self.add_thread(pid, pid, now);
        if parent.is_some() {
            self.note_exec(pid, now - self.start);
            self.find_threads(pid, now);
        }
    }

    fn add_thread(&mut self, pid: u32, tid: u32, now: u64) {
        match SampledThread::open(pid, tid, now) {
            Ok(sampled) => self.alive.push(sampled),
            Err(e) if is_refused(&e, pid, tid) => self.refuse(pid, now),
            // The process ended between being listed and being opened.
            Err(_) => {}
        }
    }

    fn note_exec(&mut self, pid: u32, at_ns: u64) {
        let Some(exec) = programs::running(pid, at_ns) else {
            self.between_programs.push(pid);
            return;
        };
        if let Some(at) = self.process_at.get(&pid) {
            let execs = &mut self.processes[*at].execs;
            let same = |e: &Exec| (&e.path, &e.arguments) == (&exec.path, &exec.arguments);
            match execs.last_mut().filter(|last| same(last)) {
                // A recorder knows when the program began; data that was read before may be from a copy of
                // the parent.
                Some(last) if self.kept.is_some() => last.at_ns = at_ns,
                Some(_) => {}
                None if exec.path.is_empty() => {}
                None => execs.push(exec),
            }
        }
    }

    fn ended(&mut self, thread: &SampledThread, at: u64) {
        let ended = Some(at - self.start);
        self.threads.push(Thread {
            pid: thread.pid,
            tid: thread.tid,
            name: thread.name.clone(),
            started_ns: thread.first - self.start,
            ended_ns: thread.over.map_or(ended, |over| Some(over - self.start)),
            on_cpu_ns: thread.on_cpu,
            ready_ns: thread.ready,
            minor_faults: thread.faults.map(|f| f.0),
            major_faults: thread.faults.map(|f| f.1),
            ..Thread::default()
        });
        if let Some(index) = self.process_at.get(&thread.pid) {
            self.processes[*index].ended_ns = ended;
        }
    }

    /// Completes refused processes: they existed, but their activity is unseen. A recorder reports the same
    /// about them.
    fn end_refused(&mut self, at: u64) {
        for (pid, refused) in &self.refused {
            let until = refused.until.map(|until| until - self.start);
            let key = (*pid, *pid, None, None, Cause::Unseen);
            self.seen.entry(key).or_default().ns += refused.until.unwrap_or(at) - refused.from;
            let process = self.process_at.get(pid).map(|at| &mut self.processes[*at]);
            let started_ns = process.map_or(0, |process| {
                process.ended_ns = until;
                process.started_ns
            });
            let same = |thread: &&mut Thread| thread.tid == *pid;
            match self.threads.iter_mut().find(same) {
                Some(thread) => thread.ended_ns = until,
                None => self.threads.push(Thread {
                    pid: *pid,
                    tid: *pid,
                    started_ns,
                    ended_ns: until,
                    ..Thread::default()
                }),
            }
        }
    }

    /// Returns the processes that still exist, except the commands themselves.
    pub(super) fn survivors(&self, roots: &[u32]) -> HashSet<u32> {
        let alive = self.alive.iter().map(|t| t.pid);
        alive.filter(|pid| !roots.contains(pid)).collect()
    }

    /// Ends the observation and fills in the data. Returns the processes that may not be sampled and when
    /// each was gone, in ns from the start, or `None` if it still exists.
    pub(super) fn finish(
        mut self,
        roots: &[u32],
        at: u64,
        trace: &mut crate::result::Trace,
    ) -> HashMap<u32, Option<u64>> {
        for thread in std::mem::take(&mut self.alive) {
            let outlives = !roots.contains(&thread.pid);
            self.ended(&thread, at);
            if outlives && let Some(last) = self.threads.last_mut() {
                last.ended_ns = None;
                if let Some(index) = self.process_at.get(&thread.pid) {
                    self.processes[*index].ended_ns = None;
                }
            }
        }
        if self.kept.is_none() {
            self.end_refused(at);
        }
        let row = |((tid, pid, nr, fd, cause), seen): (Key, Seen)| OffCpuRow {
            pid,
            tid,
            call: nr.map(calls::name),
            fd,
            cause,
            count: seen.samples,
            total_ns: seen.ns,
            longest_ns: None,
            by_length: Vec::new(),
            object: None,
            limited: Limited::default(),
        };
        trace.off_cpu = self.seen.into_iter().map(row).collect();
        trace
            .off_cpu
            .sort_by_key(|r| (std::cmp::Reverse(r.total_ns), r.tid, r.fd));
        self.threads.sort_by_key(|t| (t.started_ns, t.tid));
        trace.threads = self.threads;
        trace.processes = self.processes;
        trace.lost.names = self.names.lost;
        if let Some(timeline) = self.timeline {
            (trace.timeline, trace.lost.intervals) = timeline.finish();
        }
        let rows = self.names.rows();
        (trace.descriptors, trace.files) = (rows.descriptors, rows.files);
        (trace.uses, trace.failed_lookups) = (rows.uses, rows.lookups);
        (trace.signals, trace.refused) = (rows.signals, rows.refused);
        paths::mark(trace);
        let start = self.start;
        for pid in self.refused.keys() {
            trace.not_visible.push(format!(
                "process {pid}: it runs with other privileges (a set-uid or unreadable program)"
            ));
        }
        let until = |refused: Refused| refused.until.map(|until| until - start);
        let refused = self.refused.into_iter();
        refused.map(|(pid, one)| (pid, until(one))).collect()
    }
}
/// Returns whether the thread may not be sampled. Some kernels also refuse access to an exiting thread whose
/// memory is gone.
fn is_refused(error: &io::Error, pid: u32, tid: u32) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && !is_ending(pid, tid)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    fn child_of(pid: u32) -> Option<u32> {
        let reported = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        reported.split_whitespace().next()?.parse().ok()
    }

    #[test]
    fn a_childs_child_is_found_with_it() {
        let mut shell = Command::new("sh")
            .args(["-c", "(sleep 30; true); true"])
            .process_group(0)
            .spawn()
            .expect("there is a shell");
        // Limit this to the shell's lifetime, because a test that waits forever shows nothing.
        let mut samples = (0..30_000).map(|_| {
            sleep(Duration::from_millis(1));
            child_of(shell.id()).and_then(child_of)
        });
        let last = samples.find_map(|last| last).expect("a child's child");
        let mut tree = Tree::new(0, &TraceOptions::default());
        tree.add_root(shell.id(), 1);
        tree.discover(2);
        let found = tree.process_at.contains_key(&last);
        // SAFETY: sends a signal to the group led by the shell, which isn't reaped yet.
        unsafe { libc::kill(-(shell.id() as i32), libc::SIGKILL) };
        shell.wait().expect("it was killed");
        assert!(found);
    }
}
