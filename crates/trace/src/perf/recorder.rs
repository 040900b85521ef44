//! Collects the records of a tree while it runs.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::SystemTime;

use super::event::{self, Attributes, Watched, flag};
use super::periods::Periods;
use super::record::{self, Record, What};
use super::ring::{Ring, WRITING_NS};
use super::thread_timelines::ThreadTimelines;
use super::waits::WaitSample;
use crate::attach::Reading;
use crate::command::TraceOptions;
use crate::error::TraceError;
use crate::profile::PcSamples;
use crate::python::Reader;
use crate::result::Trace;
use crate::stacks::StackPool;
use crate::timed_locks;
use crate::watch::now;

/// Number of pages of a buffer. By default, a user may lock 516 KiB per CPU: 128 pages and one more. If less
/// is left, fewer are tried.
const PAGES: usize = 128;
const LEAST_PAGES: usize = 8;

/// The records of some held commands and their descendants.
#[derive(Debug)]
pub(crate) struct Recorder {
    attributes: Attributes,
    periods: Periods,
    /// The event of each CPU whose ring the others share.
    leaders: Vec<(i32, RawFd)>,
    rings: Vec<Ring>,
    /// Keeps the events open.
    events: Vec<OwnedFd>,
    /// Records and samples after the time up to which every CPU has certainly written all of its records.
    later: Vec<Record>,
    later_waits: Vec<WaitSample>,
    timelines: ThreadTimelines,
    /// Samples of the tree's own code, if requested.
    samples: Option<PcSamples>,
    /// The reader of Python frames, if stacks are wanted.
    python: Option<Reader>,
}

impl Recorder {
    /// Records the activity of these held processes from now on.
    ///
    /// # Errors
    /// [`TraceError::NotAllowed`] if the system forbids it, otherwise [`TraceError::System`].
    pub(crate) fn attach(pids: &[u32], options: &TraceOptions) -> Result<Self, TraceError> {
        Ok(Self {
            samples: samples(pids, options),
            ..Self::attach_to(pids, options)?
        })
    }

    /// Records the activity of these running threads and their descendants from now on; see
    /// [`Recorder::there`] and [`Recorder::sample_there`].
    ///
    /// # Errors
    /// Those of [`Recorder::attach`].
    pub(crate) fn attach_to(tids: &[u32], options: &TraceOptions) -> Result<Self, TraceError> {
        let stacks = options
            .stacks
            .as_ref()
            .filter(|_| options.profile.is_some());
        let attributes = Attributes::recording(options.profile, flag::INHERIT | flag::SWITCHES)
            .with_stacks(stacks.map_or(0, StackPool::bytes_to_copy));
        let distance = options.sample_period.as_nanos() as u64;
        let mut recorder = Self {
            attributes,
            periods: Periods::around(options.profile.unwrap_or_default()),
            leaders: Vec::new(),
            rings: Vec::new(),
            events: Vec::new(),
            later: Vec::new(),
            later_waits: Vec::new(),
            timelines: ThreadTimelines::new(now(), distance, options.timeline),
            samples: samples(&[], options),
            python: None,
        };
        for tid in tids {
            recorder.open(*tid).map_err(refused)?;
        }
        recorder.python = stacks.map(|_| Reader::on(&recorder.events, None));
        match recorder.rings.is_empty() {
            true => Err(refused(io::ErrorKind::NotFound.into())),
            false => Ok(recorder),
        }
    }

    /// Records another thread, unless it was created by a thread that is already recorded.
    ///
    /// # Errors
    /// Those of [`Recorder::attach`].
    pub(crate) fn add(&mut self, tid: u32) -> Result<(), TraceError> {
        self.drain();
        let begins =
            |record: &Record| matches!(record.what, What::Begun { tid: begun, .. } if begun == tid);
        if self.later.iter().any(begins) {
            return Ok(());
        }
        let before = self.events.len();
        self.open(tid).map_err(refused)?;
        let python = self.python.iter_mut();
        python.for_each(|one| one.on_too(&self.events[before..]));
        Ok(())
    }

    /// Reads the rings.
    fn drain(&mut self) {
        let before = self.later.len();
        self.periods.drain(&mut self.rings, &mut self.later);
        if let Some(python) = &mut self.python {
            python.complete(&mut self.later[before..], |_| true);
        }
    }

    /// Opens an event for this thread on each CPU; the events of a CPU share a ring. Does nothing for a
    /// thread that has ended.
    fn open(&mut self, tid: u32) -> io::Result<()> {
        let stacks = self.attributes.has_stacks();
        for cpu in event::cpus() {
            self.attributes.period = self.periods.first();
            let event = match event::open(&self.attributes, Watched::Thread(tid), cpu) {
                Ok(Some(event)) => event,
                Ok(None) => continue,
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(()),
                Err(error) => return Err(error),
            };
            let leader = self.leaders.iter().position(|leader| leader.0 == cpu);
            let buffer = leader.unwrap_or(self.rings.len());
            match leader {
                Some(at) => event::tell_into(&event, self.leaders[at].1)?,
                None => {
                    self.rings
                        .push(Ring::map_most(&event, PAGES, LEAST_PAGES, stacks)?);
                    self.leaders.push((cpu, event.as_raw_fd()));
                }
            }
            self.periods.opened(buffer, Some(tid), &event);
            self.events.push(event);
        }
        Ok(())
    }

    /// Notes a thread that already existed when the observation started. `reading` was made after that.
    pub(crate) fn there(&mut self, pid: u32, tid: u32, reading: &Reading, at: u64) {
        let waits = reading.state != b'R';
        self.timelines.there((pid, tid), &reading.name, waits, at);
    }

    /// Also samples the own code of running processes: see [`PcSamples::attach`].
    pub(crate) fn sample_there(&mut self, pids: impl Iterator<Item = u32>, since: SystemTime) {
        if let Some(samples) = &mut self.samples {
            let python = &mut self.python;
            let pids = pids.inspect(|pid| python.iter_mut().for_each(|one| one.attach(*pid)));
            samples.attach(pids, since);
        }
    }

    /// Sets the start of the trace: times are relative to it.
    pub(crate) fn begin(&mut self, start: u64) {
        self.timelines.start = start;
    }

    /// Notes that a held command is released at this time.
    pub(crate) fn released(&mut self, pid: u32, at: u64) {
        self.timelines.released(pid, at);
    }

    /// Takes new records, and the samples made in the meantime. Returns the news.
    pub(crate) fn read(&mut self, sampled: WaitSamples) -> News {
        for (pid, fd, inode) in sampled.links {
            self.timelines.linked(pid, fd, inode);
        }
        self.later_waits.extend(sampled.waits);
        let reported = now().saturating_sub(WRITING_NS);
        let before = self.later.len();
        self.drain();
        let news = News::of(&self.later[before..]);
        self.take_until(reported);
        news
    }

    /// Processes all records and samples up to this time, in order.
    fn take_until(&mut self, reported: u64) {
        let mut waits = std::mem::take(&mut self.later_waits).into_iter().peekable();
        for mut record in record::take_until(&mut self.later, reported) {
            while let Some(sample) = waits.next_if(|sample| sample.to < record.at) {
                self.timelines.saw(sample);
            }
            self.samples
                .iter_mut()
                .for_each(|samples| samples.take(&mut record));
            self.timelines.take(record);
        }
        self.later_waits = waits.collect();
    }

    /// Merges all records into the trace made from the samples. The commands have ended.
    ///
    /// `refused` has the processes that gained other privileges, and when each was gone, in ns from the
    /// start. Their records ended with their `execve`, although they continued.
    pub(crate) fn finish(
        mut self,
        end: u64,
        refused: &HashMap<u32, Option<u64>>,
        trace: &mut Trace,
    ) {
        self.read(WaitSamples::default());
        // Processes that outlived the commands are ended by this process, which isn't a natural end.
        self.later.retain(|record| record.at <= end);
        self.take_until(u64::MAX);
        for sample in std::mem::take(&mut self.later_waits) {
            self.timelines.saw(sample);
        }
        self.timelines.fill(end, refused, trace);
        timed_locks::separate(trace, true);
        let unseen = self.python.iter().flat_map(Reader::not_visible);
        trace.not_visible.extend(unseen);
        trace.profile = self.samples.map(|samples| samples.finish(|_| true));
    }
}

/// Observations from outside, made by sampling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitSamples {
    /// Threads that were waiting.
    pub waits: Vec<WaitSample>,
    /// Descriptors that are pipes or sockets: process, descriptor, inode.
    pub links: Vec<(u32, i32, u64)>,
}

/// News since the last reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Whether there are new threads or processes.
    pub begun: bool,
    /// Processes that executed another program.
    pub execs: Vec<u32>,
}

impl News {
    fn of(records: &[Record]) -> Self {
        let execs = records.iter().filter_map(|record| match record.what {
            What::Named {
                pid, exec: true, ..
            } => Some(pid),
            _ => None,
        });
        Self {
            begun: records
                .iter()
                .any(|record| matches!(record.what, What::Begun { .. })),
            execs: execs.collect(),
        }
    }
}

/// Returns a collector for samples of these processes' own code, if requested.
fn samples(pids: &[u32], options: &TraceOptions) -> Option<PcSamples> {
    let period = options.profile?;
    Some(PcSamples::at(pids, period).with_stacks(options.stacks.clone()))
}

fn refused(error: io::Error) -> TraceError {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => TraceError::NotAllowed(
            "perf_event_open(2) was refused: kernel.perf_event_paranoid is above 2, or the container's seccomp \
             profile forbids it",
        ),
        _ => TraceError::System {
            what: "recording switches with perf_event_open(2)",
            error,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Cause;
    use std::time::Duration;

    #[test]
    fn records_of_several_cpus_and_samples_are_taken_in_the_order_of_their_times() {
        let mut recorder = Recorder {
            attributes: Attributes::recording(None, 0),
            periods: Periods::around(Duration::ZERO),
            leaders: Vec::new(),
            rings: Vec::new(),
            events: Vec::new(),
            later: Vec::new(),
            later_waits: Vec::new(),
            timelines: ThreadTimelines::new(0, 1_000_000, None),
            samples: None,
            python: None,
        };
        recorder.released(10, 0);
        let record = |at, what| Record { at, what };
        let out = What::Out {
            tid: 10,
            able: false,
        };
        let read = (10, 10, Some(libc::SYS_read as u32), Some(0), Cause::Asleep);
        // One CPU saw the thread return after another had seen it leave.
        recorder.later = vec![
            record(9_000, What::In { tid: 10 }),
            record(100, What::In { tid: 10 }),
            record(2_000, out),
        ];
        recorder.later_waits = vec![WaitSample {
            from: 4_000,
            to: 4_500,
            key: read,
        }];
        recorder.take_until(3_000);
        assert_eq!((recorder.later.len(), recorder.later_waits.len()), (1, 1));
        let mut trace = Trace::default();
        recorder.finish(10_000, &HashMap::new(), &mut trace);
        let row = &trace.off_cpu[0];
        assert_eq!((row.call.as_deref(), row.fd), (Some("read"), Some(0)));
        assert_eq!(row.total_ns, 7_000);
        assert_eq!(trace.threads[0].on_cpu_ns, Some(2_900));
    }

    #[test]
    fn new_threads_and_programs_are_news() {
        let begun = What::Begun {
            pid: 11,
            tid: 12,
            parent: 10,
        };
        let named = |exec| What::Named {
            pid: 11,
            tid: 11,
            name: "x".to_owned(),
            exec,
        };
        let of = |what| News::of(&[Record { at: 1, what }]);
        assert!(of(begun).begun && !of(named(true)).begun);
        assert_eq!(of(named(true)).execs, [11]);
        assert_eq!(of(named(false)), News::default());
    }
}
