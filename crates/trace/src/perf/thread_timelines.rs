//! Tracks when each thread was on a CPU, able to run, or waiting.

mod fill;
mod wakers;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::record::{Record, What};
use super::waits::{WaitSample, Waits};
use crate::calls;
use crate::command::TimelineOptions;
use crate::result::{Cause, Interval};

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On a CPU since then.
    On(u64),
    /// Off the CPU since then, able to run.
    Able(u64),
    /// Off the CPU since then, waiting.
    Waiting(u64),
}

#[derive(Debug)]
struct ThreadTimeline {
    pid: u32,
    tid: u32,
    name: String,
    started: u64,
    ended: Option<u64>,
    place: Place,
    on_cpu: u64,
    able: u64,
    waits: Waits,
    /// Number of times the thread left the CPU to wait, and number of times it was preempted.
    switches: (u64, u64),
}

/// A program that a process started to run.
#[derive(Clone, Debug, Default)]
struct Begun {
    at: u64,
    path: String,
}

/// All threads and processes in the records.
#[derive(Debug)]
pub(super) struct ThreadTimelines {
    /// The start of the trace: times are relative to it.
    pub(super) start: u64,
    /// Interval between samples, ns.
    distance: u64,
    options: Option<TimelineOptions>,
    alive: HashMap<u32, ThreadTimeline>,
    over: Vec<ThreadTimeline>,
    /// Parent and start of each created process.
    parents: BTreeMap<u32, (u32, u64)>,
    execs: HashMap<u32, Vec<Begun>>,
    /// The pipe or socket behind a process's descriptor, by its inode.
    links: HashMap<(u32, i32), u64>,
    /// The descriptors of each pipe or socket.
    ends: HashMap<u64, HashSet<(u32, i32)>>,
    intervals: Vec<Interval>,
    lost_intervals: u64,
    lost_records: u64,
}

impl ThreadTimelines {
    /// Creates a value without threads. Times are relative to `start`; samples are `distance` ns apart.
    pub(super) fn new(start: u64, distance: u64, options: Option<TimelineOptions>) -> Self {
        Self {
            start,
            distance,
            options,
            alive: HashMap::new(),
            over: Vec::new(),
            parents: BTreeMap::new(),
            execs: HashMap::new(),
            links: HashMap::new(),
            ends: HashMap::new(),
            intervals: Vec::new(),
            lost_intervals: 0,
            lost_records: 0,
        }
    }

    /// Notes that a held command was released at this time and has been able to run since.
    pub(super) fn released(&mut self, pid: u32, at: u64) {
        self.begin(pid, pid, at);
    }

    /// Notes that a thread (process and thread id) existed before the first record. From this time on, it is
    /// in the state in which it was found.
    pub(super) fn there(&mut self, (pid, tid): (u32, u32), name: &str, waits: bool, at: u64) {
        self.begin(pid, tid, at);
        if let Some(thread) = self.alive.get_mut(&tid) {
            thread.name = name.to_owned();
            thread.place = match waits {
                true => Place::Waiting(at),
                false => Place::On(at),
            };
        }
    }

    fn begin(&mut self, pid: u32, tid: u32, at: u64) {
        let thread = ThreadTimeline {
            pid,
            tid,
            name: String::new(),
            started: at,
            ended: None,
            place: Place::Able(at),
            on_cpu: 0,
            able: 0,
            waits: Waits::default(),
            switches: (0, 0),
        };
        // The thread id was reused.
        if let Some(before) = self.alive.insert(tid, thread) {
            self.over.push(before);
        }
    }

    /// Notes that a sample from outside saw a thread wait.
    pub(super) fn saw(&mut self, sample: WaitSample) {
        if let Some(thread) = self.alive.get_mut(&sample.key.0) {
            thread.waits.saw(sample);
        }
    }

    /// Processes the next record.
    pub(super) fn take(&mut self, record: Record) {
        let Record { at, what } = record;
        match what {
            What::Begun { pid, tid, parent } => {
                if pid == tid {
                    self.parents.insert(pid, (parent, at));
                }
                self.begin(pid, tid, at);
                let name = self.alive.get(&parent).map(|thread| thread.name.clone());
                if let (Some(name), Some(thread)) = (name, self.alive.get_mut(&tid)) {
                    thread.name = name;
                }
            }
            What::Ended { tid, .. } => self.end(tid, at),
            What::Named {
                pid,
                tid,
                name,
                exec,
            } => {
                if let Some(thread) = self
                    .alive
                    .get_mut(&tid)
                    .filter(|thread| at >= thread.started)
                {
                    thread.name = name;
                    if exec {
                        let path = String::new();
                        self.execs.entry(pid).or_default().push(Begun { at, path });
                    }
                }
            }
            What::Mapped { pid, path, .. } => {
                // The first executable mapping of a new program is the program itself.
                let begun = self.execs.get_mut(&pid).and_then(|all| all.last_mut());
                if let Some(begun) = begun.filter(|begun| begun.path.is_empty()) {
                    begun.path = path;
                }
            }
            What::In { tid } => self.came(tid, at),
            What::Out { tid, able } => self.left(tid, at, able),
            What::Sampled { .. } => {}
            What::Lost(records) => self.lost_records += records,
            What::MappedData { .. } | What::LostData => {}
        }
    }

    fn left(&mut self, tid: u32, at: u64, able: bool) {
        let Some(thread) = self.alive.get_mut(&tid).filter(|l| at >= l.started) else {
            return;
        };
        leave(thread, at);
        thread.waits.left(at);
        thread.place = match able {
            true => Place::Able(at),
            false => Place::Waiting(at),
        };
        match able {
            true => thread.switches.1 += 1,
            false => thread.switches.0 += 1,
        }
    }

    fn came(&mut self, tid: u32, at: u64) {
        let Some(thread) = self.alive.get_mut(&tid).filter(|l| at >= l.started) else {
            return;
        };
        let mut interval = close(thread, at, self.distance);
        thread.place = Place::On(at);
        if let Some(interval) = &mut interval {
            interval.woken_by = self.waker(interval);
        }
        self.keep(interval);
    }

    fn end(&mut self, tid: u32, at: u64) {
        if let Some(mut thread) = self.alive.remove(&tid) {
            thread.ended = Some(at);
            self.close_up(thread, at);
        }
    }

    /// Ends a thread's timeline: nothing is known of the thread after this time.
    fn close_up(&mut self, mut thread: ThreadTimeline, at: u64) {
        let interval = close(&mut thread, at, self.distance);
        leave(&mut thread, at);
        self.over.push(thread);
        self.keep(interval);
    }

    fn keep(&mut self, interval: Option<Interval>) {
        let (Some(mut interval), Some(options)) = (interval, self.options) else {
            return;
        };
        // Waits without a sample have no call. They are part of the sums of similar waits, and are included
        // here only if requested.
        if interval.call.is_none() && interval.cause == Cause::Asleep && !options.unnamed {
            return;
        }
        if interval.to_ns - interval.from_ns < options.shortest.as_nanos() as u64 {
            return;
        }
        if self.intervals.len() >= options.most {
            self.lost_intervals += 1;
            return;
        }
        interval.from_ns = interval.from_ns.saturating_sub(self.start);
        interval.to_ns = interval.to_ns.saturating_sub(self.start);
        self.intervals.push(interval);
    }
}

/// If a thread is on a CPU, adds the time since it got it.
fn leave(thread: &mut ThreadTimeline, at: u64) {
    if let Place::On(since) = thread.place {
        thread.on_cpu += at.saturating_sub(since);
    }
}

/// If a thread is off the CPU, ends the current interval.
fn close(thread: &mut ThreadTimeline, at: u64, distance: u64) -> Option<Interval> {
    let (from, cause, call, fd) = match thread.place {
        Place::On(_) => return None,
        Place::Able(since) => {
            thread.able += at.saturating_sub(since);
            (since, Cause::Preempted, None, None)
        }
        Place::Waiting(since) => match thread.waits.over(since, at, distance) {
            Some((_, _, call, fd, cause)) => (since, cause, call, fd),
            None => (since, Cause::Asleep, None, None),
        },
    };
    Some(Interval {
        pid: thread.pid,
        tid: thread.tid,
        from_ns: from,
        woken_ns: None,
        to_ns: at.max(from),
        cause,
        call: call.map(calls::name),
        fd,
        woken_by: None,
        object: None,
    })
}

#[cfg(test)]
mod tests;
