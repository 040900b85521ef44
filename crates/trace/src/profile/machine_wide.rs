//! Samples a tree if sampling is allowed on all CPUs.
//!
//! There is one event per CPU, so the scheduler doesn't have to switch any events along with the threads.
//! Records of other programs are dropped when they are read.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use super::Profile;
use super::pc_samples::PcSamples;
use crate::perf::event::{self, Attributes, Watched, flag};
use crate::perf::periods::Periods;
use crate::perf::record::{self, Record, What};
use crate::perf::ring::{Ring, WRITING_NS};
use crate::python::{FrameMaps, Reader};
use crate::stacks::{StackCollector, StackPool};
use crate::watch::now;

/// Number of pages of a CPU's buffer, enough for about a thousand records between two readings 10 ms apart.
const PAGES: usize = 32;

/// Events on all CPUs, closed when this value is dropped.
#[derive(Debug)]
pub(crate) struct MachineWide {
    rings: Vec<Ring>,
    /// Rings for non-executable mappings. They are separate, so that a program that creates mappings
    /// endlessly doesn't fill the others.
    data: Vec<Ring>,
    _events: Vec<OwnedFd>,
    periods: Periods,
    /// Records after the time up to which every CPU has certainly written all of its records.
    later: Vec<Record>,
    samples: PcSamples,
    /// The reader of Python frames, if stacks are wanted.
    python: Option<Reader>,
}

impl MachineWide {
    /// Samples these held processes and their descendants.
    ///
    /// # Errors
    /// The kernel's: `EACCES` or `EPERM` without `CAP_PERFMON`, `EMFILE` without free descriptors.
    pub(crate) fn begin(
        roots: &[u32],
        period: Duration,
        stacks: Option<&StackPool>,
        python: &Rc<FrameMaps>,
    ) -> io::Result<Self> {
        let bytes = stacks.map_or(0, StackPool::bytes_to_copy);
        let mut attributes =
            Attributes::recording(Some(period), flag::EXCLUDE_IDLE).with_stacks(bytes);
        let (mut rings, mut data, mut events) = (Vec::new(), Vec::new(), Vec::new());
        let mut periods = Periods::around(period);
        for cpu in event::cpus() {
            attributes.period = periods.first();
            if let Some(event) = event::open(&attributes, Watched::Any, cpu)? {
                periods.opened(rings.len(), None, &event);
                rings.push(Ring::map_most(&event, PAGES, PAGES, stacks.is_some())?);
                events.push(event);
            }
        }
        let python = stacks.map(|_| Reader::on(&events, Some(Rc::clone(python))));
        // Without these events, only the objects of page faults are unknown.
        for cpu in event::cpus().filter(|_| stacks.is_some()) {
            let event = event::open(&Attributes::mappings(), Watched::Any, cpu);
            if let Ok(Some(event)) = event
                && let Ok(ring) = Ring::map_most(&event, PAGES, 1, false)
            {
                data.push(ring);
                events.push(event);
            }
        }
        Ok(Self {
            python,
            rings,
            data,
            _events: events,
            periods,
            later: Vec::new(),
            samples: PcSamples::at(roots, period).with_stacks(stacks.cloned()),
        })
    }

    /// Also samples these running processes: see [`PcSamples::attach`].
    pub(crate) fn attach(&mut self, pids: impl Iterator<Item = u32>, since: SystemTime) {
        let python = &mut self.python;
        let pids = pids.inspect(|pid| python.iter_mut().for_each(|one| one.attach(*pid)));
        self.samples.attach(pids, since);
    }

    /// Returns the collector for stacks copied by others, and the reader of their Python frames; `None` if
    /// stacks are not wanted.
    pub(crate) fn stacks(&mut self) -> Option<(&mut StackCollector, &mut Reader)> {
        self.samples.stacks().zip(self.python.as_mut())
    }

    /// Returns whether to read again soon, because an interpreter has started whose threads aren't known yet.
    pub(crate) fn is_urgent(&self) -> bool {
        self.python.as_ref().is_some_and(Reader::awaits)
    }

    /// Returns what is not visible of the tree's own code, as sentences.
    pub(crate) fn not_visible(&self) -> impl Iterator<Item = String> {
        self.python.iter().flat_map(Reader::not_visible)
    }

    /// Reads new records.
    pub(crate) fn read(&mut self) {
        let reported = now().saturating_sub(WRITING_NS);
        let before = self.later.len();
        self.periods.drain(&mut self.rings, &mut self.later);
        if let Some(python) = &mut self.python {
            let spaces = &self.samples.spaces;
            python.complete(&mut self.later[before..], |pid| {
                spaces.mapped(pid).is_some()
            });
        }
        for ring in &mut self.data {
            let mapped = |record: Record| match record.what {
                What::MappedData { .. } => Some(record),
                What::Lost(_) => Some(Record {
                    what: What::LostData,
                    ..record
                }),
                _ => None,
            };
            ring.drain(|bytes| self.later.extend(record::parse(bytes).and_then(mapped)));
        }
        self.take_until(reported);
    }

    fn take_until(&mut self, reported: u64) {
        for mut record in record::take_until(&mut self.later, reported) {
            self.samples.take(&mut record);
        }
        self.samples.reported_until(reported);
    }

    /// Returns all observations: see [`PcSamples::finish`]. The commands have ended.
    pub(crate) fn finish(mut self, is_ours: impl Fn(u32) -> bool) -> Profile {
        self.read();
        self.take_until(u64::MAX);
        self.samples.finish(is_ours)
    }
}
