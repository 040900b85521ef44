//! Tests the merged results of records and samples.

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
    // A thread that keeps running isn't affected.
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
        timelines.saw(sample(3, 10, 10, libc::SYS_epoll_pwait as u32, Some(3)));
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

/// Returns timelines whose records end with the `execve` of a set-uid program, after 1 ms.
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

/// Returns the same run as seen by samples: the process ends after 900 ms.
fn seen_to_end_late() -> Trace {
    let sampled = Thread {
        pid: 10,
        tid: 10,
        ended_ns: Some(900 * MS),
        ..Thread::default()
    };
    Trace {
        threads: vec![sampled],
        ..Trace::default()
    }
}

#[test]
fn a_sampler_that_had_no_cpu_makes_no_thread_longer() {
    let mut timelines = running();
    timelines.take(at(9, What::Ended { pid: 10, tid: 10 }));
    let trace = reported(timelines, 1000, seen_to_end_late());
    assert_eq!(trace.threads[0].ended_ns, Some(9 * MS));
    assert_eq!(trace.off_cpu, []);
}

#[test]
fn a_thread_whose_records_end_early_goes_on_where_samples_saw_it() {
    let trace = reported(with_other_rights(), 1000, seen_to_end_late());
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
