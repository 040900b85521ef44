//! Which process and thread of one run is which of another of the same command?
//!
//! Numbers differ. What a process or a thread is called and the how-manieth of that name it is are
//! the same from run to run, in all but programs whose threads race to be made.

use std::collections::HashMap;

use crate::result::Trace;

/// A thread: the name and place of its process, and its own.
type Name = (Vec<u8>, usize);

/// The processes and threads of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike {
    names: HashMap<(u32, u32), (Name, Name)>,
    numbers: HashMap<(Name, Name), (u32, u32)>,
}

impl Alike {
    /// Those of this trace.
    pub(super) fn of(trace: &Trace) -> Self {
        let mut alike = Self::default();
        let mut counts: HashMap<(u32, Vec<u8>), usize> = HashMap::new();
        let mut next = |pid: u32, name: &str| {
            let name = name.as_bytes().to_vec();
            let count = counts.entry((pid, name.clone())).or_default();
            *count += 1;
            (name, *count)
        };
        /// No process has it.
        const ANY: u32 = 0;
        let main = |pid: u32| {
            let thread = trace.threads.iter().find(|one| one.tid == pid);
            thread.map_or("", |thread| thread.name.as_str())
        };
        let processes: HashMap<u32, Name> = trace
            .processes
            .iter()
            .map(|process| (process.pid, next(ANY, main(process.pid))))
            .collect();
        for thread in &trace.threads {
            let Some(process) = processes.get(&thread.pid) else {
                continue;
            };
            // The main thread is the process's first, whatever it is called.
            let own = match thread.tid == thread.pid {
                true => (Vec::new(), 0),
                false => next(thread.pid, &thread.name),
            };
            let (numbers, names) = ((thread.pid, thread.tid), (process.clone(), own));
            alike.numbers.entry(names.clone()).or_insert(numbers);
            alike.names.insert(numbers, names);
        }
        alike
    }

    /// Process and thread here that are what these are in `other`; `None` where there is none.
    pub(super) fn here(&self, other: &Alike, numbers: (u32, u32)) -> Option<(u32, u32)> {
        self.numbers.get(other.names.get(&numbers)?).copied()
    }

    /// Whether a process was there that is alike to this one of `other`.
    pub(super) fn has(&self, other: &Alike, numbers: (u32, u32)) -> bool {
        self.here(other, numbers).is_some()
    }
}
