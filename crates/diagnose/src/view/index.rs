//! Which rows of a trace are whose: a program may have tens of thousands of threads, and what looks through all rows for
//! each of them takes minutes.

use std::collections::HashMap;

use fathom_trace::{FileRow, OffCpuRow, Process, SyscallRow, Trace};

use crate::account::Life;

/// Where the rows of threads and processes are.
pub(super) struct Index<'a> {
    calls: HashMap<u32, Vec<&'a SyscallRow>>,
    calls_of_process: HashMap<u32, Vec<&'a SyscallRow>>,
    files: HashMap<u32, Vec<&'a FileRow>>,
    waits: HashMap<u32, Vec<&'a OffCpuRow>>,
    processes: HashMap<u32, &'a Process>,
    children: HashMap<u32, Vec<&'a Process>>,
    /// Places of lives.
    threads: HashMap<u32, usize>,
    of_process: HashMap<u32, Vec<usize>>,
}

/// In their order.
fn by<T: Copy>(
    all: impl Iterator<Item = T>,
    key: impl Fn(T) -> Option<u32>,
) -> HashMap<u32, Vec<T>> {
    let mut found: HashMap<u32, Vec<T>> = HashMap::new();
    for one in all {
        if let Some(key) = key(one) {
            found.entry(key).or_default().push(one);
        }
    }
    found
}

/// The first of each number: the kernel gives numbers away again.
fn first<T: Copy>(all: HashMap<u32, Vec<T>>) -> HashMap<u32, T> {
    let all = all.into_iter();
    all.filter_map(|(key, all)| Some((key, *all.first()?)))
        .collect()
}

impl<'a> Index<'a> {
    pub(super) fn new(trace: &'a Trace, lives: &[Life]) -> Self {
        Self {
            calls: by(trace.syscalls.iter(), |row| Some(row.tid)),
            calls_of_process: by(trace.syscalls.iter(), |row| Some(row.pid)),
            files: by(trace.files.iter(), |file| Some(file.pid)),
            waits: by(trace.off_cpu.iter(), |row| Some(row.tid)),
            processes: first(by(trace.processes.iter(), |process| Some(process.pid))),
            children: by(trace.processes.iter(), |process| process.parent),
            threads: first(by(0..lives.len(), |at| Some(lives[at].tid))),
            of_process: by(0..lives.len(), |at| Some(lives[at].pid)),
        }
    }

    pub(super) fn calls(&self, tid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        self.calls.get(&tid).into_iter().flatten().copied()
    }

    pub(super) fn calls_of_process(&self, pid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        self.calls_of_process
            .get(&pid)
            .into_iter()
            .flatten()
            .copied()
    }

    pub(super) fn files(&self, pid: u32) -> impl Iterator<Item = &'a FileRow> + '_ {
        self.files.get(&pid).into_iter().flatten().copied()
    }

    pub(super) fn waits(&self, tid: u32) -> impl Iterator<Item = &'a OffCpuRow> + '_ {
        self.waits.get(&tid).into_iter().flatten().copied()
    }

    pub(super) fn process(&self, pid: u32) -> Option<&'a Process> {
        self.processes.get(&pid).copied()
    }

    pub(super) fn children(&self, pid: u32) -> impl Iterator<Item = &'a Process> + '_ {
        self.children.get(&pid).into_iter().flatten().copied()
    }

    /// The place of its life.
    pub(super) fn thread(&self, tid: u32) -> Option<usize> {
        self.threads.get(&tid).copied()
    }

    /// The places of its threads' lives.
    pub(super) fn threads_of(&self, pid: u32) -> impl Iterator<Item = usize> + '_ {
        self.of_process.get(&pid).into_iter().flatten().copied()
    }
}
