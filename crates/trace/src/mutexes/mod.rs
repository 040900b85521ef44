//! Measures how long the goroutines of a Go program wait for mutexes held by others.
//!
//! While a goroutine waits, it is off its thread, and the thread runs another one: no call, no switch and no
//! clock shows the wait. Go's `sync` package parks a goroutine for a lock at one place in the code, and the
//! goroutine resumes at another. Each of these places therefore gets a probe, which records the time and the
//! goroutine, from the register that holds it. This costs 1 to 2 us per wait, and nothing for a free lock.
//! The probes belong to descriptors of this process and disappear with them.
//!
//! Only the commands have probes, from their first instruction on, and so do processes of their tree that run
//! the same file, once the reader has seen their `execve` in the ring. Before Linux 6.6, every process that
//! runs the file has them.

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

/// Maximum number of hits that are kept, 40 bytes each.
const MOST_HITS: usize = 1_000_000;

/// How the goroutines of one process waited for mutexes (`sync.Mutex`, `sync.RWMutex`) held by others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutexRow {
    /// Process.
    pub pid: u32,
    /// Number of times a goroutine was parked for a lock and resumed.
    pub waits: u64,
    /// Number of different goroutines that waited.
    pub goroutines: u64,
    /// Total time that they waited, ns.
    pub total_ns: u64,
    /// The longest wait, ns.
    pub longest_ns: u64,
    /// Time during which at least one of them waited, ns.
    pub contended_ns: u64,
}

/// Probes in a Go program, removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Mutexes {
    probes: Probes,
    /// Device and inode of the program's file.
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
    /// Probes the program in this file in these processes. Returns `None` if the program contains no places
    /// to probe, for example because it has no symbols.
    ///
    /// # Errors
    /// The kernel's: `EACCES` or `EPERM` without permission, `ENOENT` without uprobes, `EMFILE` without free
    /// descriptors.
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

    /// Handles an exec by a process of the tree: the process is probed if it runs this program.
    pub(crate) fn executed(&mut self, pid: u32) {
        if let Probes::OfProcesses(probes) = &mut self.probes
            && file(Path::new(&format!("/proc/{pid}/exe"))).is_ok_and(|it| it == self.file)
        {
            // The process may have ended in the meantime.
            let _ = probes.watch(pid);
        }
    }

    /// Reads new records.
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

    /// Returns the waits of the processes of a tree, and the number of missing hits.
    pub(crate) fn finish(mut self, is_of_tree: impl Fn(u32) -> bool) -> (Vec<MutexRow>, u64) {
        self.read();
        self.hits.retain(|hit| is_of_tree(hit.pid));
        (Waits::of(self.hits).rows(), self.lost)
    }
}

fn file(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|it| (it.dev(), it.ino()))
}
