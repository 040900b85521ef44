//! Adds Python frames to samples of stacks.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use fathom_stacks::python::{Unsupported, is_pythons};

use super::memory::Of;
use super::process::Process;
use super::{FrameMaps, KernelFrames, PythonStack};
use crate::perf::record::{Record, What};
use crate::profile::spaces::Spaces;
use crate::watch::now;

/// Number of readings after which the search for an interpreter, or for a thread's state, is abandoned: a
/// file with the name of an interpreter may not be one.
const MOST_TRIES: u32 = 2_000;
/// The same number for processes outside the tree, or whose beginning is reported later.
const FEW_TRIES: u32 = 4;
/// Age in ns above which a sample's thread may already be asleep.
const FRESH_NS: u64 = 300_000;

/// Processes of a tree that run Python.
#[derive(Debug)]
pub(crate) struct Reader {
    processes: HashMap<u32, Process>,
    /// Processes that may get an interpreter, or more threads, with the number of times that each was
    /// checked.
    awaited: HashMap<u32, u32>,
    unsupported: HashSet<Unsupported>,
    /// Whether there is a process with an interpreter whose memory this user may not read.
    refused: bool,
    kernel: Option<KernelFrames>,
    /// Threads that have ended, but whose last samples haven't been read.
    ended: Vec<(u32, u32)>,
}

impl Reader {
    /// Creates a reader with a program for these sampling events, if allowed. Other programs share these
    /// tables.
    pub(crate) fn on(events: &[OwnedFd], maps: Option<Rc<FrameMaps>>) -> Self {
        Self {
            processes: HashMap::new(),
            awaited: HashMap::new(),
            unsupported: HashSet::new(),
            refused: false,
            kernel: KernelFrames::on(events, maps),
            ended: Vec::new(),
        }
    }

    /// Runs the program for these events too.
    pub(crate) fn on_too(&mut self, events: &[OwnedFd]) {
        if let Some(kernel) = &mut self.kernel {
            kernel.attach(events);
        }
    }

    /// Adds a running process.
    pub(crate) fn attach(&mut self, pid: u32) {
        self.refused |= Of(pid).is_refused() && maps_python(pid);
        self.awaited.insert(pid, 0);
    }

    /// Reads the frames of a thread that is blocked.
    pub(crate) fn of_blocked(&mut self, (pid, tid): (u32, u32)) -> PythonStack {
        let process = self.processes.get_mut(&pid);
        process.map(|it| it.read(tid)).unwrap_or_default()
    }

    /// Returns whether a process is awaited and must be checked again soon.
    pub(crate) fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Returns a sentence for each kind of process whose frames can't be read.
    pub(crate) fn not_visible(&self) -> impl Iterator<Item = String> {
        let refused = self.refused.then(|| {
            "Python functions: this user may not read the memory of a running process (root may, and other users if \
             kernel.yama.ptrace_scope is 0)".to_owned()
        });
        let unsupported = self.unsupported.iter().map(|why| match why {
            Unsupported::Version(major, minor) => {
                format!("functions of Python {major}.{minor}: only 3.11 to 3.14 are supported")
            }
            Unsupported::FreeThreaded => {
                "functions of a free-threaded Python: its threads can't be told apart".to_owned()
            }
        });
        unsupported.chain(refused)
    }

    /// Handles new records of the processes that `is_ours` accepts, and adds Python frames to the stacks of
    /// the samples.
    pub(crate) fn complete(&mut self, records: &mut [Record], is_ours: impl Fn(u32) -> bool) {
        for record in records.iter() {
            self.saw(&record.what);
        }
        self.look(is_ours);
        if let Some(kernel) = &mut self.kernel {
            kernel.drain();
        }
        self.processes.values_mut().for_each(Process::look_again);
        let mut read = HashSet::new();
        for record in records.iter_mut().rev() {
            let What::Sampled {
                pid,
                tid,
                stack: Some(stack),
                ..
            } = &mut record.what
            else {
                continue;
            };
            let Some(process) = self.processes.get_mut(pid) else {
                continue;
            };
            let kernel = self.kernel.as_mut();
            let taken = kernel.and_then(|one| one.taken(*tid, record.at, &process.interpreter));
            // From outside, frames can only be read for the last sample of a thread, which is recent enough.
            let is_last = read.insert(*tid);
            stack.python = match taken {
                Some(frames) => process.named(&frames),
                None if is_last && !is_late(record.at, *pid, *tid) => process.read(*tid),
                None if self.kernel.is_some() => PythonStack::Unknown,
                None => PythonStack::Torn,
            };
        }
        for (pid, tid) in self.ended.drain(..) {
            self.kernel.iter_mut().for_each(|kernel| kernel.remove(tid));
            if let Entry::Occupied(mut process) = self.processes.entry(pid) {
                process.get_mut().threads.remove(&tid);
                if process.get().threads.is_empty() {
                    process.remove();
                }
            }
        }
    }

    /// Returns the frames of a thread that other programs sent with exactly this time.
    pub(crate) fn sent(&mut self, (pid, tid): (u32, u32), at: u64) -> PythonStack {
        let (kernel, process) = (self.kernel.as_mut(), self.processes.get_mut(&pid));
        let (Some(kernel), Some(process)) = (kernel, process) else {
            return PythonStack::Unknown;
        };
        match kernel.sent(tid, at, &process.interpreter) {
            Some(frames) => process.named(&frames),
            None => PythonStack::Unknown,
        }
    }

    /// Reads the frames that other programs have sent.
    pub(crate) fn drain(&mut self) {
        self.processes.values_mut().for_each(Process::look_again);
        self.kernel.iter_mut().for_each(KernelFrames::drain);
    }

    fn saw(&mut self, what: &What) {
        match what {
            What::Mapped { pid, path, .. }
                if is_pythons(path) && !self.processes.contains_key(pid) =>
            {
                self.awaited.insert(*pid, 0);
            }
            What::Begun { pid, parent, .. } => {
                if let Some(process) = self.processes.get(parent) {
                    if pid != parent {
                        let child = process.of_child(*pid);
                        self.processes.insert(*pid, child);
                    }
                    self.awaited.insert(*pid, 0);
                }
            }
            What::Named {
                pid, exec: true, ..
            } => self.forget(*pid),
            What::Ended { pid, tid } => {
                if self.processes.contains_key(pid) {
                    self.ended.push((*pid, *tid));
                }
                if pid == tid {
                    self.awaited.remove(pid);
                }
            }
            _ => {}
        }
    }

    fn forget(&mut self, pid: u32) {
        self.awaited.remove(&pid);
        if let Some(process) = self.processes.remove(&pid)
            && let Some(kernel) = &mut self.kernel
        {
            process.threads.keys().for_each(|tid| kernel.remove(*tid));
        }
    }

    /// Checks the awaited processes.
    fn look(&mut self, is_ours: impl Fn(u32) -> bool) {
        let pids: Vec<u32> = self.awaited.keys().copied().collect();
        for pid in pids {
            let known = self.processes.contains_key(&pid) || is_ours(pid);
            let tries = self.awaited.get_mut(&pid).map_or(0, |tries| {
                *tries += if known { 1 } else { MOST_TRIES / FEW_TRIES };
                *tries
            });
            let is_done = known && self.look_at(pid);
            if is_done || tries >= MOST_TRIES {
                self.awaited.remove(&pid);
            }
        }
    }

    fn look_at(&mut self, pid: u32) -> bool {
        let process = match self.processes.entry(pid) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match found(pid) {
                None => return false,
                Some(Err(why)) => {
                    self.unsupported.insert(why);
                    return true;
                }
                Some(Ok(process)) => place.insert(process),
            },
        };
        let new = process.find_threads();
        if let Some(kernel) = &self.kernel {
            let layout = &process.interpreter.layout;
            new.iter()
                .for_each(|(tid, state)| kernel.add(*tid, *state, layout));
        }
        !new.is_empty()
    }
}

/// Returns whether a process has a file mapped that contains an interpreter.
fn maps_python(pid: u32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut paths = maps
        .lines()
        .filter_map(|line| line.split_ascii_whitespace().nth(5));
    paths.any(is_pythons)
}

/// Returns the state of a running process.
fn found(pid: u32) -> Option<Result<Process, Unsupported>> {
    let mut spaces = Spaces::of(&[]);
    spaces.attach(pid);
    Process::find(pid, &spaces)
}

/// Returns whether a sample is old, and its thread no longer runs.
fn is_late(at: u64, pid: u32, tid: u32) -> bool {
    if now().saturating_sub(at) < FRESH_NS {
        return false;
    }
    let stat = std::fs::read(format!("/proc/{pid}/task/{tid}/stat")).unwrap_or_default();
    let behind_name = stat.iter().rposition(|byte| *byte == b')').unwrap_or(0);
    stat.get(behind_name + 2) != Some(&b'R')
}
