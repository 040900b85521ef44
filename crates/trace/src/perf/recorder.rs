//! How are the records of a tree had while it runs?

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::event::{self, Attributes, SoftwareEvent, Watched, flag};
use super::lives::Lives;
use super::record::{self, Record, What};
use super::ring::Ring;
use super::waits::LookAt;
use crate::command::TraceOptions;
use crate::error::TraceError;
use crate::result::Trace;
use crate::watch::now;

/// What a user may lock by default is 516 KiB for each CPU: 128 pages and one. Less is tried where less
/// is left.
const PAGES: [usize; 5] = [128, 64, 32, 16, 8];

const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;

/// The records of some held commands and of all that they make.
#[derive(Debug)]
pub(crate) struct Recorder {
    rings: Vec<Ring>,
    /// The events live for as long as these do.
    _events: Vec<OwnedFd>,
    /// What happened after the time up to which all CPUs were read.
    later: Vec<Record>,
    lives: Lives,
}

impl Recorder {
    /// Records what these held processes do from now on.
    ///
    /// # Errors
    /// [`TraceError::NotAllowed`] where the system forbids it, [`TraceError::System`] else.
    pub(crate) fn attach(pids: &[u32], options: &TraceOptions) -> Result<Self, TraceError> {
        let (rings, events) = arm(pids).map_err(|error| match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => TraceError::NotAllowed(
                "perf_event_open(2) refuses: kernel.perf_event_paranoid is above 2, or the \
                 container's seccomp profile forbids it",
            ),
            _ => TraceError::System {
                what: "recording switches with perf_event_open(2)",
                error,
            },
        })?;
        let distance = options.sample_period.as_nanos() as u64;
        Ok(Self {
            rings,
            _events: events,
            later: Vec::new(),
            lives: Lives::new(now(), distance, options.timeline),
        })
    }

    /// Times count from here.
    pub(crate) fn begin(&mut self, start: u64) {
        self.lives.start = start;
    }

    /// A held command is let go at this time.
    pub(crate) fn released(&mut self, pid: u32, at: u64) {
        self.lives.released(pid, at);
    }

    /// Takes what was recorded since, and what looks saw meanwhile. Returns processes and threads that are
    /// new, and processes that run another program.
    pub(crate) fn read(&mut self, looked: Looked) -> News {
        for (pid, fd, inode) in looked.links {
            self.lives.linked(pid, fd, inode);
        }
        looked
            .waits
            .into_iter()
            .for_each(|look| self.lives.saw(look));
        // Of what happened before this moment no CPU will tell later.
        let upto = now();
        let later = &mut self.later;
        for ring in &mut self.rings {
            ring.drain(|bytes| later.extend(record::parse(bytes)));
        }
        later.sort_by_key(|record| record.at);
        let ripe = later.partition_point(|record| record.at < upto);
        let mut news = News::default();
        for record in later.drain(..ripe) {
            match &record.what {
                What::Begun { .. } => news.begun = true,
                What::Named {
                    pid, exec: true, ..
                } => news.execs.push(*pid),
                _ => {}
            }
            self.lives.take(record);
        }
        news
    }

    /// Puts all that was recorded into the trace that the looks made. The commands have ended.
    pub(crate) fn finish(mut self, end: u64, trace: &mut Trace) {
        self.read(Looked::default());
        // What outlived the commands is ended by us, which is no end of its own.
        let before = self.later.drain(..).filter(|record| record.at <= end);
        before.for_each(|record| self.lives.take(record));
        self.lives.fill(end, trace);
    }
}

/// What looks from outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    /// Threads that waited.
    pub waits: Vec<LookAt>,
    /// Descriptors that are pipes or sockets: process, number, inode.
    pub links: Vec<(u32, i32, u64)>,
}

/// What is new since the last reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// There are new threads or processes.
    pub begun: bool,
    /// These processes run another program.
    pub execs: Vec<u32>,
}

/// One event for each process and CPU; those of a CPU share a ring.
fn arm(pids: &[u32]) -> io::Result<(Vec<Ring>, Vec<OwnedFd>)> {
    let mut attributes = Attributes::software(SoftwareEvent::Dummy);
    attributes.sample_type = event::WHO | event::WHEN;
    attributes.clock = libc::CLOCK_MONOTONIC;
    attributes.flags = flag::INHERIT
        | flag::EXCLUDE_KERNEL
        | flag::EXCLUDE_HYPERVISOR
        | flag::MAPPED
        | flag::NAMES
        | flag::TASKS
        | flag::WHO_AND_WHEN
        | flag::MARK_EXEC
        | flag::CLOCK
        | flag::SWITCHES;
    let (mut rings, mut events) = (Vec::new(), Vec::new());
    for cpu in event::cpus() {
        let mut first: Option<i32> = None;
        for pid in pids {
            let Some(event) = event::open(&attributes, Watched::Thread(*pid), cpu)? else {
                continue;
            };
            match first {
                None => {
                    rings.push(map(&event)?);
                    first = Some(event.as_raw_fd());
                }
                Some(leader) => share(&event, leader)?,
            }
            events.push(event);
        }
    }
    match rings.is_empty() {
        true => Err(io::ErrorKind::NotFound.into()),
        false => Ok((rings, events)),
    }
}

fn map(event: &OwnedFd) -> io::Result<Ring> {
    let mut last = io::ErrorKind::OutOfMemory.into();
    for pages in PAGES {
        match Ring::map(event, pages) {
            Ok(ring) => return Ok(ring),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Lets an event write into the ring of another of its CPU.
fn share(event: &OwnedFd, leader: i32) -> io::Result<()> {
    // SAFETY: the request takes a descriptor.
    match unsafe { libc::ioctl(event.as_raw_fd(), IOC_SET_OUTPUT as _, leader) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
