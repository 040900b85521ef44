//! Which rows of a trace are whose: a program may have tens of thousands of threads, and what looks through all rows for
//! each of them takes minutes.

use std::collections::HashMap;

use fathom_trace::{FileRow, OffCpuRow, Process, SyscallRow, Trace};

use super::View;
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
}

/// What belongs to this number, in its order.
fn of<T: Copy>(all: &HashMap<u32, Vec<T>>, number: u32) -> impl Iterator<Item = T> + '_ {
    all.get(&number).into_iter().flatten().copied()
}

impl<'a> View<'a> {
    pub(crate) fn process(&self, pid: u32) -> Option<&'a Process> {
        self.index.processes.get(&pid).copied()
    }

    /// The processes that it made.
    pub(crate) fn children_of(&self, pid: u32) -> impl Iterator<Item = &'a Process> + '_ {
        of(&self.index.children, pid)
    }

    /// The life of a thread.
    pub(crate) fn life(&self, tid: u32) -> Option<&Life> {
        self.lives.get(*self.index.threads.get(&tid)?)
    }

    /// The lives of a process's threads.
    pub(crate) fn lives_of(&self, pid: u32) -> impl Iterator<Item = &Life> {
        of(&self.index.of_process, pid).map(|at| &self.lives[at])
    }

    /// The calls of a thread.
    pub(crate) fn rows_of(&self, tid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        of(&self.index.calls, tid)
    }

    /// The calls of a process, of all its threads.
    pub(crate) fn rows_of_process(&self, pid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        of(&self.index.calls_of_process, pid)
    }

    /// What a thread did off the CPU.
    pub(super) fn off_rows_of(&self, tid: u32) -> impl Iterator<Item = &'a OffCpuRow> + '_ {
        of(&self.index.waits, tid)
    }

    /// The files of a process.
    pub(crate) fn files_of(&self, pid: u32) -> impl Iterator<Item = &'a FileRow> + '_ {
        of(&self.index.files, pid)
    }
}
