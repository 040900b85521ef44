//! When was each thread on a CPU, able to run, or waiting?

mod fill;
mod wakers;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::record::{Record, What};
use super::waits::{WaitSample, Waits};
use crate::calls;
use crate::command::TimelineOptions;
use crate::result::{Cause, Interval};

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On a CPU since then.
    On(u64),
    /// Off it since then, able to run.
    Able(u64),
    /// Off it since then, waiting.
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
    /// Times it left the CPU because it waited, and because it was taken away.
    switches: (u64, u64),
}

/// A program that a process began to run.
#[derive(Clone, Debug, Default)]
struct Begun {
    at: u64,
    path: String,
}

/// All threads and processes that the records show.
#[derive(Debug)]
pub(super) struct ThreadTimelines {
    /// Times count from here.
    pub(super) start: u64,
    /// Distance of samples, ns.
    distance: u64,
    options: Option<TimelineOptions>,
    alive: HashMap<u32, ThreadTimeline>,
    over: Vec<ThreadTimeline>,
    /// Parent and begin of each process that was made.
    parents: BTreeMap<u32, (u32, u64)>,
    execs: HashMap<u32, Vec<Begun>>,
    /// Which pipe or socket a descriptor of a process is, by its inode.
    links: HashMap<(u32, i32), u64>,
    /// The descriptors of each of them.
    ends: HashMap<u64, HashSet<(u32, i32)>>,
    intervals: Vec<Interval>,
    lost_intervals: u64,
    lost_records: u64,
}

impl ThreadTimelines {
    /// No thread yet. Times count from `start`; samples are `distance` ns apart.
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

    /// A held command is let go at this time: it is able to run from here on.
    pub(super) fn released(&mut self, pid: u32, at: u64) {
        self.begin(pid, pid, at);
    }

    /// A thread (process and number) was there before the first record: since this time it is in
    /// what it was found in.
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
        // A number that is used again.
        if let Some(before) = self.alive.insert(tid, thread) {
            self.over.push(before);
        }
    }

    /// A sample from outside saw a thread wait.
    pub(super) fn saw(&mut self, sample: WaitSample) {
        if let Some(thread) = self.alive.get_mut(&sample.key.0) {
            thread.waits.saw(sample);
        }
    }

    /// Takes what happened next.
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
                // The first file that a new program maps to be executed is itself.
                let begun = self.execs.get_mut(&pid).and_then(|all| all.last_mut());
                if let Some(begun) = begun.filter(|begun| begun.path.is_empty()) {
                    begun.path = path;
                }
            }
            What::In { tid } => self.came(tid, at),
            What::Out { tid, able } => self.left(tid, at, able),
            What::Sampled { .. } => {}
            What::Lost(records) => self.lost_records += records,
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

    /// Nothing more is known of a thread after this time.
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
        // Waits that no sample fell into have no call: they are in the sums of those that are like
        // them, and here only where it was asked for.
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

/// Adds the time on a CPU that a thread is in, if it is.
fn leave(thread: &mut ThreadTimeline, at: u64) {
    if let Place::On(since) = thread.place {
        thread.on_cpu += at.saturating_sub(since);
    }
}

/// Ends the time off the CPU that a thread is in, if it is.
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Process, Thread, Trace};

    const MS: u64 = 1_000_000;
    const FUTEX: u32 = libc::SYS_futex as u32;
    const READ: u32 = libc::SYS_read as u32;

    fn running() -> ThreadTimelines {
        let mut timelines = ThreadTimelines::new(0, MS, Some(TimelineOptions::default()));
        timelines.released(10, 0);
        timelines.take(at(0, What::In { tid: 10 }));
        timelines
    }

    fn at(ms: u64, what: What) -> Record {
        Record { at: ms * MS, what }
    }

    fn begun(pid: u32, tid: u32) -> What {
        What::Begun {
            pid,
            tid,
            parent: 10,
        }
    }

    fn out(tid: u32) -> What {
        What::Out { tid, able: false }
    }

    fn sample(ms: u64, pid: u32, tid: u32, call: u32, fd: Option<i32>) -> WaitSample {
        WaitSample {
            from: ms * MS,
            to: ms * MS + 1000,
            key: (tid, pid, Some(call), fd, Cause::Asleep),
        }
    }

    fn reported(timelines: ThreadTimelines, end: u64, mut trace: Trace) -> Trace {
        timelines.fill(end * MS, &HashMap::new(), &mut trace);
        trace
    }

    #[test]
    fn a_joined_thread_is_who_ended_the_wait() {
        let mut timelines = running();
        timelines.take(at(1, begun(10, 11)));
        timelines.take(at(2, What::In { tid: 11 }));
        // One that runs on is not.
        timelines.take(at(2, begun(10, 12)));
        timelines.take(at(3, What::In { tid: 12 }));
        timelines.take(at(2, out(10)));
        timelines.saw(sample(5, 10, 10, FUTEX, None));
        timelines.take(at(9, What::Ended { pid: 10, tid: 11 }));
        timelines.take(at(9, What::In { tid: 10 }));
        timelines.take(at(10, What::Ended { pid: 10, tid: 10 }));
        let trace = reported(timelines, 10, Trace::default());
        let timeline = trace.timeline.expect("it was asked for");
        let wait = timeline.iter().find(|i| i.tid == 10).expect("it waited");
        assert_eq!((wait.from_ns, wait.to_ns), (2 * MS, 9 * MS));
        assert_eq!(wait.woken_by, Some(11));
        let main = trace
            .threads
            .iter()
            .find(|t| t.tid == 10)
            .expect("it lived");
        assert_eq!((main.on_cpu_ns, main.ready_ns), (Some(3 * MS), Some(0)));
        assert_eq!(main.voluntary_switches, Some(1));
    }

    #[test]
    fn only_who_has_the_other_end_can_have_ended_a_wait_for_a_pipe() {
        for (inode, woken_by) in [(77, Some(20)), (78, None)] {
            let mut timelines = running();
            timelines.linked(10, 3, 77);
            timelines.linked(20, 1, inode);
            timelines.take(at(1, begun(20, 20)));
            timelines.take(at(1, What::In { tid: 20 }));
            timelines.take(at(2, out(10)));
            timelines.saw(sample(3, 10, 10, READ, Some(3)));
            timelines.take(at(6, What::In { tid: 10 }));
            let trace = reported(timelines, 7, Trace::default());
            let timeline = trace.timeline.expect("it was asked for");
            let read = timeline.iter().find(|i| i.tid == 10).expect("it read");
            assert_eq!((read.fd, read.woken_by), (Some(3), woken_by));
        }
    }

    #[test]
    fn a_poll_is_ended_by_a_worker_that_rests_right_then_and_not_by_one_that_works_on() {
        for (rests, woken_by) in [(true, Some(11)), (false, None)] {
            let mut timelines = running();
            timelines.take(at(1, begun(10, 11)));
            timelines.take(at(1, What::In { tid: 11 }));
            timelines.take(at(2, out(10)));
            timelines.saw(sample(3, 10, 10, libc::SYS_epoll_wait as u32, Some(3)));
            if rests {
                timelines.take(at(6, out(11)));
            }
            timelines.take(at(6, What::In { tid: 10 }));
            let trace = reported(timelines, 7, Trace::default());
            let timeline = trace.timeline.expect("it was asked for");
            let poll = timeline.iter().find(|i| i.tid == 10).expect("it polled");
            assert_eq!(poll.woken_by, woken_by);
        }
    }

    #[test]
    fn a_wait_that_no_sample_fell_into_is_in_the_sums_and_not_in_the_picture() {
        let mut timelines = running();
        timelines.take(at(1, out(10)));
        timelines.take(at(4, What::In { tid: 10 }));
        let trace = reported(timelines, 5, Trace::default());
        assert_eq!(trace.timeline, Some(Vec::new()));
        assert_eq!(trace.off_cpu[0].total_ns, 3 * MS);
        assert_eq!(trace.off_cpu[0].call, None);
    }

    #[test]
    fn what_was_taken_away_is_no_wait() {
        let mut timelines = running();
        timelines.take(at(
            1,
            What::Out {
                tid: 10,
                able: true,
            },
        ));
        timelines.take(at(4, What::In { tid: 10 }));
        let trace = reported(timelines, 5, Trace::default());
        let thread = &trace.threads[0];
        assert_eq!(
            (thread.ready_ns, thread.on_cpu_ns),
            (Some(3 * MS), Some(2 * MS))
        );
        assert_eq!(thread.involuntary_switches, Some(1));
        assert_eq!(trace.off_cpu, []);
        let timeline = trace.timeline.expect("it was asked for");
        assert_eq!(timeline[0].cause, Cause::Preempted);
    }

    #[test]
    fn a_program_is_the_first_file_that_is_mapped_after_its_exec() {
        let mut timelines = running();
        let named = What::Named {
            pid: 10,
            tid: 10,
            name: "cat".to_owned(),
            exec: true,
        };
        timelines.take(at(1, named));
        for path in ["/bin/cat", "/lib/libc.so.6"] {
            let (pid, path) = (10, path.to_owned());
            let mapped = What::Mapped {
                pid,
                path,
                from: 0,
                length: 4096,
                offset: 0,
                inode: 0,
            };
            timelines.take(at(1, mapped));
        }
        let process = Process {
            pid: 10,
            ..Process::default()
        };
        let trace = Trace {
            processes: vec![process],
            ..Trace::default()
        };
        let trace = reported(timelines, 5, trace);
        let execs = &trace.processes[0].execs;
        assert_eq!(execs.len(), 1);
        assert_eq!((execs[0].path.as_str(), execs[0].at_ns), ("/bin/cat", MS));
        assert_eq!(trace.threads[0].name, "cat");
    }

    /// Its records end with the `execve` of a set-uid program, after 1 ms.
    fn with_other_rights() -> ThreadTimelines {
        let mut timelines = running();
        let named = What::Named {
            pid: 10,
            tid: 10,
            name: "su".to_owned(),
            exec: true,
        };
        timelines.take(at(1, named));
        timelines.take(at(1, What::Ended { pid: 10, tid: 10 }));
        timelines
    }

    #[test]
    fn who_takes_other_rights_is_not_seen_to_end_and_what_it_does_is_not_seen() {
        let timelines = with_other_rights();
        let mut trace = Trace::default();
        timelines.fill(1000 * MS, &HashMap::from([(10, None)]), &mut trace);
        assert_eq!(trace.threads[0].ended_ns, None);
        assert_eq!(trace.threads[0].on_cpu_ns, Some(MS));
        let row = &trace.off_cpu[0];
        assert_eq!((row.cause, row.total_ns), (Cause::Unseen, 999 * MS));
        let timeline = trace.timeline.expect("it was asked for");
        let last = timeline.last().expect("it goes on unseen");
        assert_eq!((last.cause, last.from_ns), (Cause::Unseen, MS));
        assert_eq!(last.to_ns, 1000 * MS);
    }

    #[test]
    fn who_takes_other_rights_ends_when_it_was_gone() {
        let timelines = with_other_rights();
        let mut trace = Trace::default();
        let gone = HashMap::from([(10, Some(600 * MS))]);
        timelines.fill(1000 * MS, &gone, &mut trace);
        assert_eq!(trace.threads[0].ended_ns, Some(600 * MS));
        assert_eq!(trace.off_cpu[0].total_ns, 599 * MS);
    }

    #[test]
    fn who_may_not_be_sampled_and_keeps_its_records_ends_with_them() {
        let mut timelines = running();
        timelines.take(at(9, What::Ended { pid: 10, tid: 10 }));
        let mut trace = Trace::default();
        timelines.fill(1000 * MS, &HashMap::from([(10, None)]), &mut trace);
        assert_eq!(trace.threads[0].ended_ns, Some(9 * MS));
        assert_eq!(trace.off_cpu, []);
    }

    #[test]
    fn a_thread_whose_records_end_early_goes_on_where_samples_saw_it() {
        let mut timelines = running();
        timelines.take(at(1, What::Ended { pid: 10, tid: 10 }));
        let sampled = Thread {
            pid: 10,
            tid: 10,
            ended_ns: Some(900 * MS),
            ..Thread::default()
        };
        let trace = Trace {
            threads: vec![sampled],
            ..Trace::default()
        };
        let trace = reported(timelines, 1000, trace);
        assert_eq!(trace.threads.len(), 1);
        assert_eq!(trace.threads[0].ended_ns, Some(900 * MS));
        assert_eq!(trace.threads[0].on_cpu_ns, Some(MS));
        assert_eq!(trace.off_cpu[0].cause, Cause::Unseen);
        assert_eq!(trace.off_cpu[0].total_ns, 899 * MS);
    }

    #[test]
    fn who_was_there_before_is_in_what_it_was_found_in() {
        let mut timelines = ThreadTimelines::new(0, MS, Some(TimelineOptions::default()));
        timelines.there((10, 10), "server", true, 0);
        timelines.there((10, 11), "worker", false, 0);
        timelines.saw(sample(2, 10, 10, READ, Some(3)));
        timelines.take(at(4, What::In { tid: 10 }));
        let trace = reported(timelines, 5, Trace::default());
        let on_cpu: Vec<_> = trace.threads.iter().map(|one| one.on_cpu_ns).collect();
        assert_eq!(on_cpu, [Some(MS), Some(5 * MS)]);
        assert_eq!(trace.threads[1].name, "worker");
        let row = &trace.off_cpu[0];
        assert_eq!((row.call.as_deref(), row.total_ns), (Some("read"), 4 * MS));
    }

    #[test]
    fn lost_records_are_counted() {
        let mut timelines = running();
        timelines.take(at(1, What::Lost(7)));
        assert_eq!(reported(timelines, 5, Trace::default()).lost.records, 7);
    }
}
