//! How long do the goroutines of a Go program wait for mutexes that others hold?
//!
//! A goroutine that waits is off its thread, and the thread runs another: no call, no switch and no
//! clock shows it. So the places where Go's `sync` package puts a goroutine aside for a lock and
//! where it goes on get a probe each, which records the goroutine, by the register that holds it,
//! and the time. 1 to 2 us for each wait, nothing for a lock that is free. The probes belong to
//! descriptors of this process: they are gone with them.
//!
//! Only the commands have probes, from their first instruction on, and processes of their tree that
//! run the same file, from the reading of the ring on that reports their `execve`. Before Linux 6.6
//! every process that runs the file has them.

mod everywhere;
mod of_processes;
mod places;
#[cfg(test)]
mod tests;
mod waits;

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use everywhere::Everywhere;
use of_processes::OfProcesses;
use waits::{Hit, Parsed, Waits};

/// Hits that are kept, 40 bytes each.
const MOST_HITS: usize = 1_000_000;

/// How the goroutines of one process waited for mutexes (`sync.Mutex`, `sync.RWMutex`) that others
/// held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutexRow {
    /// Process.
    pub pid: u32,
    /// How often one was put aside for a lock, and went on.
    pub waits: u64,
    /// Different goroutines that were.
    pub goroutines: u64,
    /// How long they waited, all together, ns.
    pub total_ns: u64,
    /// The longest wait, ns.
    pub longest_ns: u64,
    /// How long one of them at least waited, ns.
    pub contended_ns: u64,
}

/// Probes in a Go program; gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Mutexes {
    probes: Probes,
    /// Device and number of the program's file.
    file: (u64, u64),
    hits: Vec<Hit>,
    lost: u64,
}

#[derive(Debug)]
enum Probes {
    OfProcesses(OfProcesses),
    Everywhere(Everywhere),
}

impl Mutexes {
    /// Watches the program in this file as these processes run it; `None` where it has no such
    /// places, which a program without symbols hasn't.
    ///
    /// # Errors
    /// The kernel's: `EACCES` or `EPERM` without the right to it, `ENOENT` without uprobes,
    /// `EMFILE` without free descriptors.
    pub(crate) fn begin(program: &Path, pids: &[u32]) -> io::Result<Option<Self>> {
        let places = places::of(program);
        if places.is_empty() {
            return Ok(None);
        }
        let path = CString::new(program.as_os_str().as_bytes())?;
        let probes = match OfProcesses::begin(path.clone(), &places, pids) {
            Ok(probes) => Probes::OfProcesses(probes),
            Err(_) => Probes::Everywhere(Everywhere::begin(&path, &places)?),
        };
        Ok(Some(Self {
            probes,
            file: file(program)?,
            hits: Vec::new(),
            lost: 0,
        }))
    }

    /// A process of the tree has executed a program: it is watched if that is this one.
    pub(crate) fn executed(&mut self, pid: u32) {
        if let Probes::OfProcesses(probes) = &mut self.probes
            && file(Path::new(&format!("/proc/{pid}/exe"))).is_ok_and(|it| it == self.file)
        {
            // It may have ended since.
            let _ = probes.watch(pid);
        }
    }

    /// Takes what was reported since.
    pub(crate) fn read(&mut self) {
        let (hits, lost) = (&mut self.hits, &mut self.lost);
        let take = |parsed| match parsed {
            Parsed::Hit(hit) if hits.len() < MOST_HITS => hits.push(hit),
            Parsed::Hit(_) => *lost += 1,
            Parsed::Lost(more) => *lost += more,
            Parsed::Nothing => {}
        };
        match &mut self.probes {
            Probes::OfProcesses(probes) => probes.read(take),
            Probes::Everywhere(probes) => probes.read(take),
        }
    }

    /// How the processes of a tree waited, and how many hits are missing.
    pub(crate) fn finish(mut self, is_of_tree: impl Fn(u32) -> bool) -> (Vec<MutexRow>, u64) {
        self.read();
        self.hits.retain(|hit| is_of_tree(hit.pid));
        (Waits::of(self.hits).rows(), self.lost)
    }
}

fn file(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|it| (it.dev(), it.ino()))
}
