//! Finds the rows of a trace for a thread or process.

use std::collections::{BTreeMap, HashMap};

use fathom_trace::{Cause, DescriptorKind, FileRow, Interval, OffCpuRow, Process, SyscallRow};

use super::Analysis;
use crate::calls;
use crate::grouping::grouped;
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

    /// Returns the times of the matching threads.
    pub(crate) fn threads_that(&self, fit: impl Fn(&ThreadTimes) -> bool) -> Vec<&ThreadTimes> {
        self.threads.iter().filter(|times| fit(times)).collect()
    }

    /// Returns the times of a process's threads.
    pub(crate) fn threads_of(&self, pid: u32) -> impl Iterator<Item = &ThreadTimes> {
        of(&self.index.of_process, pid).map(|at| &self.threads[at])
    }

    /// Returns the times of the threads of each process.
    pub(crate) fn threads_by_process(&self) -> BTreeMap<u32, Vec<&ThreadTimes>> {
        grouped(self.threads.iter().map(|times| (times.pid, times)))
    }

    /// Returns the calls of a thread.
    pub(crate) fn rows_of(&self, tid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        of(&self.index.calls, tid)
    }

    /// Returns the calls of all threads of a process.
    pub(crate) fn rows_of_process(&self, pid: u32) -> impl Iterator<Item = &'a SyscallRow> + '_ {
        of(&self.index.calls_of_process, pid)
    }

    /// Returns the matching calls of all threads.
    pub(crate) fn calls(
        &self,
        fits: impl Fn(&SyscallRow) -> bool,
    ) -> impl Iterator<Item = &'a SyscallRow> {
        self.trace.syscalls.iter().filter(move |row| fits(row))
    }

    /// Returns the number of matching calls that were traced.
    pub(crate) fn traced_calls(&self, fits: impl Fn(&SyscallRow) -> bool) -> u64 {
        self.calls(fits).map(|row| row.calls).sum()
    }

    /// Returns the waits in calls with matching names, of all threads.
    pub(crate) fn asleep_in(
        &self,
        is: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &'a OffCpuRow> {
        let rows = self.trace.off_cpu.iter();
        rows.filter(move |row| row.cause == Cause::Asleep && row.call.as_deref().is_some_and(&is))
    }

    /// Returns whether a wait in a call of locks, with this object, is a pause: it ended by a time limit.
    pub(crate) fn is_pause(&self, call: Option<&str>, object: Option<u32>) -> bool {
        let object = object.and_then(|at| self.trace.objects.get(at as usize));
        call.is_some_and(calls::is_lock) && object == Some(&DescriptorKind::Timer)
    }

    /// Returns the individual waits in calls with matching names that another thread ended, and that thread.
    pub(crate) fn ended_waits(
        &self,
        is: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = (&'a Interval, u32)> {
        let waits = self.trace.timeline.iter().flatten();
        let asleep = waits.filter(|wait| wait.cause == Cause::Asleep);
        let meant = asleep.filter(move |wait| wait.call.as_deref().is_some_and(&is));
        meant.filter_map(|wait| Some((wait, wait.woken_by.filter(|by| *by != wait.tid)?)))
    }

    /// Returns a thread's off-CPU rows.
    pub(crate) fn off_rows_of(&self, tid: u32) -> impl Iterator<Item = &'a OffCpuRow> + '_ {
        of(&self.index.waits, tid)
    }

    /// Returns the files of a process.
    pub(crate) fn files_of(&self, pid: u32) -> impl Iterator<Item = &'a FileRow> + '_ {
        of(&self.index.files, pid)
    }
}
