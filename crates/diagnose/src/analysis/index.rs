//! Indexes the rows of each thread and process. A program may have tens of thousands of threads, and scanning
//! all rows for each of them would take minutes.

use std::collections::HashMap;

use fathom_trace::{FileRow, OffCpuRow, Process, SyscallRow, Trace};

use crate::thread_times::ThreadTimes;

/// The positions of the rows of threads and processes.
pub(super) struct Index<'a> {
    pub(super) calls: HashMap<u32, Vec<&'a SyscallRow>>,
    pub(super) calls_of_process: HashMap<u32, Vec<&'a SyscallRow>>,
    pub(super) files: HashMap<u32, Vec<&'a FileRow>>,
    pub(super) waits: HashMap<u32, Vec<&'a OffCpuRow>>,
    pub(super) processes: HashMap<u32, &'a Process>,
    pub(super) children: HashMap<u32, Vec<&'a Process>>,
    /// Indexes into the list of threads' times.
    pub(super) threads: HashMap<u32, usize>,
    pub(super) of_process: HashMap<u32, Vec<usize>>,
}

/// Groups items by key, in their order.
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

/// Keeps the first item of each number; there may be several because the kernel reuses numbers.
fn first<T: Copy>(all: HashMap<u32, Vec<T>>) -> HashMap<u32, T> {
    let all = all.into_iter();
    all.filter_map(|(key, all)| Some((key, *all.first()?)))
        .collect()
}

impl<'a> Index<'a> {
    pub(super) fn new(trace: &'a Trace, threads: &[ThreadTimes]) -> Self {
        Self {
            calls: by(trace.syscalls.iter(), |row| Some(row.tid)),
            calls_of_process: by(trace.syscalls.iter(), |row| Some(row.pid)),
            files: by(trace.files.iter(), |file| Some(file.pid)),
            waits: by(trace.off_cpu.iter(), |row| Some(row.tid)),
            processes: first(by(trace.processes.iter(), |process| Some(process.pid))),
            children: by(trace.processes.iter(), |process| process.parent),
            threads: first(by(0..threads.len(), |at| Some(threads[at].tid))),
            of_process: by(0..threads.len(), |at| Some(threads[at].pid)),
        }
    }
}
