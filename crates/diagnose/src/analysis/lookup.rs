//! Finds the rows of a trace for a thread or process.

use std::collections::{BTreeMap, HashMap};

use fathom_trace::{FileRow, OffCpuRow, Process, SyscallRow};

use super::Analysis;
use crate::thread_times::ThreadTimes;

/// Returns the items with this number, in order.
fn of<T: Copy>(all: &HashMap<u32, Vec<T>>, number: u32) -> impl Iterator<Item = T> + '_ {
    all.get(&number).into_iter().flatten().copied()
}

impl<'a> Analysis<'a> {
    pub(crate) fn process(&self, pid: u32) -> Option<&'a Process> {
        self.index.processes.get(&pid).copied()
    }

    /// Returns the processes that it created.
    pub(crate) fn children_of(&self, pid: u32) -> impl Iterator<Item = &'a Process> + '_ {
        of(&self.index.children, pid)
    }

    /// Returns the times of a thread.
    pub(crate) fn thread(&self, tid: u32) -> Option<&ThreadTimes> {
        self.threads.get(*self.index.threads.get(&tid)?)
    }

    /// Returns the times of a process's threads.
    pub(crate) fn threads_of(&self, pid: u32) -> impl Iterator<Item = &ThreadTimes> {
        of(&self.index.of_process, pid).map(|at| &self.threads[at])
    }

    /// Returns the times of the threads of each process.
    pub(crate) fn threads_by_process(&self) -> BTreeMap<u32, Vec<&ThreadTimes>> {
        let mut threads: BTreeMap<u32, Vec<&ThreadTimes>> = BTreeMap::new();
        for times in &self.threads {
            threads.entry(times.pid).or_default().push(times);
        }
        threads
    }

    /// Returns the calls of a thread.
    pub(crate) fn rows_of(&self, tid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        of(&self.index.calls, tid)
    }

    /// Returns the calls of all threads of a process.
    pub(crate) fn rows_of_process(&self, pid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        of(&self.index.calls_of_process, pid)
    }

    /// Returns a thread's off-CPU rows.
    pub(super) fn off_rows_of(&self, tid: u32) -> impl Iterator<Item = &'a OffCpuRow> + '_ {
        of(&self.index.waits, tid)
    }

    /// Returns the files of a process.
    pub(crate) fn files_of(&self, pid: u32) -> impl Iterator<Item = &'a FileRow> + '_ {
        of(&self.index.files, pid)
    }
}
