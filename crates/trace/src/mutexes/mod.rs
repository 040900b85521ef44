//! How long do the goroutines of a Go program wait for mutexes that others hold?
//!
//! A goroutine that waits is off its thread, and the thread runs another: no call, no switch and no
//! clock shows it. So the places where Go's `sync` package puts a goroutine aside for a lock and
//! where it goes on get a probe each (`uprobe` events of perf), which record the goroutine, by the
//! register that holds it, and the time. 1 to 2 us for each wait, nothing for a lock that is free.
//! The probes belong to descriptors of this process: they are gone with them.
//!
//! The kernel puts them into every process that runs the file; what others record is dropped.

mod places;
mod waits;

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::perf::event::{self, Attributes, Watched};
use crate::perf::ring::Ring;
use places::Place;
use waits::{Hit, Waits};

/// Of a CPU's buffer: five thousand hits between two readings 10 ms apart.
const PAGES: usize = 64;
/// Events at most: places times CPUs.
const MOST_EVENTS: usize = 512;
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
    rings: Vec<Ring>,
    _events: Vec<OwnedFd>,
    /// Numbers of the events at the places where a wait begins.
    begins: Vec<u64>,
    hits: Vec<Hit>,
    lost: u64,
}

impl Mutexes {
    /// Watches the program in this file; `None` where it has no such places, which a program
    /// without symbols hasn't.
    ///
    /// # Errors
    /// The kernel's: `EACCES` or `EPERM` without the right to it, `ENOENT` without uprobes,
    /// `EMFILE` without free descriptors.
    pub(crate) fn begin(program: &Path) -> io::Result<Option<Self>> {
        let places = places::of(program);
        let cpus = event::cpus().len();
        if places.is_empty() || places.len() * cpus > MOST_EVENTS {
            return Ok(None);
        }
        let kind = fs::read_to_string("/sys/bus/event_source/devices/uprobe/type")?;
        let kind: u32 = kind.trim().parse().map_err(io::Error::other)?;
        let path = CString::new(program.as_os_str().as_bytes())?;
        let mut new = Self {
            rings: Vec::new(),
            _events: Vec::new(),
            begins: Vec::new(),
            hits: Vec::new(),
            lost: 0,
        };
        for cpu in event::cpus() {
            new.watch_cpu(kind, &path, &places, cpu)?;
        }
        Ok(Some(new))
    }

    /// All places on this CPU write into one buffer.
    fn watch_cpu(&mut self, kind: u32, path: &CStr, places: &[Place], cpu: i32) -> io::Result<()> {
        let mut first: Option<i32> = None;
        for place in places {
            let attributes = Attributes::probe(kind, path, place.offset, 1 << places::GOROUTINE);
            let Some(event) = event::open(&attributes, Watched::Any, cpu)? else {
                break;
            };
            match first {
                Some(first) => event::tell_into(&event, first)?,
                None => {
                    self.rings.push(Ring::map(&event, PAGES)?);
                    first = Some(event.as_raw_fd());
                }
            }
            if place.begins {
                self.begins.push(event::number(&event)?);
            }
            self._events.push(event);
        }
        Ok(())
    }

    /// Takes what was reported since.
    pub(crate) fn read(&mut self) {
        let (hits, begins, lost) = (&mut self.hits, &self.begins, &mut self.lost);
        for ring in &mut self.rings {
            ring.drain(|record| match waits::parse(record, begins) {
                waits::Parsed::Hit(hit) if hits.len() < MOST_HITS => hits.push(hit),
                waits::Parsed::Hit(_) => *lost += 1,
                waits::Parsed::Lost(more) => *lost += more,
                waits::Parsed::Nothing => {}
            });
        }
    }

    /// How the processes of a tree waited, and how many hits are missing.
    pub(crate) fn finish(mut self, is_of_tree: impl Fn(u32) -> bool) -> (Vec<MutexRow>, u64) {
        self.read();
        self.hits.retain(|hit| is_of_tree(hit.pid));
        (Waits::of(self.hits).rows(), self.lost)
    }
}
