//! Probes for kernels before Linux 6.6: perf `uprobe` events, which the kernel inserts into every process
//! that runs the file. Records of processes outside the tree are dropped.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::places::{self, Place};
use super::waits::{self, Parsed};
use crate::perf::event::{self, Attributes, Watched};
use crate::perf::ring::Ring;

/// Size of a CPU's buffer in pages, enough for five thousand hits between two readings 10 ms apart.
const PAGES: usize = 64;
/// Maximum number of events, which is the number of places times the number of CPUs.
const MOST_EVENTS: usize = 512;

#[derive(Debug)]
pub(super) struct Everywhere {
    rings: Vec<Ring>,
    _events: Vec<OwnedFd>,
    /// Event ids of the places where a wait begins.
    begins: Vec<u64>,
}

impl Everywhere {
    /// Opens probes at these places in the file.
    ///
    /// # Errors
    /// The kernel's: `EACCES` or `EPERM` without permission, `ENOENT` without uprobes, `EMFILE` without free
    /// descriptors.
    pub(super) fn begin(path: &CStr, places: &[Place]) -> io::Result<Self> {
        if places.len() * event::cpus().len() > MOST_EVENTS {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        let kind = fs::read_to_string("/sys/bus/event_source/devices/uprobe/type")?;
        let kind: u32 = kind.trim().parse().map_err(io::Error::other)?;
        let mut new = Self {
            rings: Vec::new(),
            _events: Vec::new(),
            begins: Vec::new(),
        };
        for cpu in event::cpus() {
            new.watch_cpu(kind, path, places, cpu)?;
        }
        Ok(new)
    }

    /// Opens the events of this CPU; the events of all places write to the same buffer.
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

    /// Passes new records to `take`.
    pub(super) fn read(&mut self, mut take: impl FnMut(Parsed)) {
        let begins = &self.begins;
        for ring in &mut self.rings {
            ring.drain(|record| take(waits::parse(record, begins)));
        }
    }
}
