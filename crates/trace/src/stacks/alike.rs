//! Matches the processes and threads of one run with those of another run of the same command.
//!
//! Their ids differ. The name of a process or thread, and its position among those with the same name, are
//! the same in every run, except in programs whose threads race to be created.

use std::collections::HashMap;

use crate::result::{Process, Trace};

/// A name, and its position among equal names. A thread is identified by the name of its process and its own.
type Name = (Vec<u8>, usize);

/// Identifies the process's first thread, regardless of its name.
const MAIN: Name = (Vec::new(), 0);
/// An id that no thread has.
const NO_THREAD: u32 = 0;
/// Number of bytes of a program's name that the kernel keeps.
const LONGEST_NAME: usize = 15;

/// Returns the name to use for a process's first thread if that wasn't seen: the name of the program that the
/// process executed last.
fn program(process: &Process) -> String {
    let path = process.execs.last().map_or("", |exec| exec.path.as_str());
    let name = path.rsplit('/').next().unwrap_or(path);
    String::from_utf8_lossy(&name.as_bytes()[..name.len().min(LONGEST_NAME)]).into_owned()
}

/// The processes and threads of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike {
    names: HashMap<(u32, u32), (Name, Name)>,
    numbers: HashMap<(Name, Name), (u32, u32)>,
}

impl Alike {
    /// Collects the processes and threads of this trace.
    pub(super) fn of(trace: &Trace) -> Self {
        let mut alike = Self::default();
        let mut counts: HashMap<(u32, Vec<u8>), usize> = HashMap::new();
        let mut next = |pid: u32, name: &str| {
            let name = name.as_bytes().to_vec();
            let count = counts.entry((pid, name.clone())).or_default();
            *count += 1;
            (name, *count)
        };
        /// An id that no process has.
        const ANY: u32 = 0;
        let main = |process: &Process| {
            let thread = trace.threads.iter().find(|one| one.tid == process.pid);
            let name = thread.map_or("", |thread| thread.name.as_str());
            match name.is_empty() {
                true => program(process),
                false => name.to_owned(),
            }
        };
        let processes: HashMap<u32, Name> = trace
            .processes
            .iter()
            .map(|process| (process.pid, next(ANY, &main(process))))
            .collect();
        for thread in &trace.threads {
            let Some(process) = processes.get(&thread.pid) else {
                continue;
            };
            let own = match thread.tid == thread.pid {
                true => MAIN,
                false => next(thread.pid, &thread.name),
            };
            let (numbers, names) = ((thread.pid, thread.tid), (process.clone(), own));
            alike.numbers.entry(names.clone()).or_insert(numbers);
            alike.names.insert(numbers, names);
        }
        alike
    }

    /// Returns the process and thread here that correspond to these in `other`; `None` if there are none.
    pub(super) fn here(&self, other: &Alike, numbers: (u32, u32)) -> Option<(u32, u32)> {
        self.numbers.get(other.names.get(&numbers)?).copied()
    }

    /// Does the same as [`Alike::here`], but for a thread without a name, returns the process without a
    /// thread.
    pub(super) fn here_or_process(&self, other: &Alike, numbers: (u32, u32)) -> Option<(u32, u32)> {
        let found = self.here(other, numbers);
        let (process, (own, _)) = other.names.get(&numbers)?;
        found.or_else(|| {
            let main = (process.clone(), MAIN);
            let (pid, _) = *self.numbers.get(&main).filter(|_| own.is_empty())?;
            Some((pid, NO_THREAD))
        })
    }

    /// Returns whether there is a process that corresponds to this one of `other`.
    pub(super) fn has(&self, other: &Alike, numbers: (u32, u32)) -> bool {
        self.here(other, numbers).is_some()
    }
}
