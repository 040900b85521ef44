//! Assigns the time in a call to a category.

mod polls;
mod timers;

use std::collections::{HashMap, HashSet};

use fathom_model::TimeCategory;
use fathom_trace::{Cause, DescriptorKind, Interval, OffCpuRow, Tier, Trace};

pub(crate) use polls::PollContext;

use crate::calls;
use crate::descriptors::{self, Descriptors, WaitKind};
use crate::lock_waits::LockWaits;
use polls::{Asked, Ends};

/// An off-CPU interval, as recorded in the trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Off<'a> {
    pub pid: u32,
    pub tid: u32,
    pub call: Option<&'a str>,
    pub fd: Option<i32>,
    pub cause: Cause,
    /// What the descriptor referred to at that time, if known.
    pub object: Option<&'a DescriptorKind>,
    /// Whether most of the thread's futex waits timed out.
    pub timed_out: bool,
}

/// Reports whether a wait is for a disk. The kernel tier sees the kernel's own mark. Samples show only that
/// the wait is uninterruptible. In a call that moves a file's bytes or syncs it, that means a disk; outside
/// of calls, it means a disk only if page faults of the run waited for one.
pub(crate) fn from_disk(trace: &Trace, cause: Cause, call: Option<&str>) -> bool {
    match (cause, call) {
        (Cause::Disk, _) => true,
        (Cause::Uninterruptible, call) if trace.tier.is_some_and(Tier::only_samples) => {
            match call {
                Some(call) => {
                    calls::is_sync(call) || calls::moves_bytes(call) || calls::is_on_files(call)
                }
                None => trace.accounts.major_faults > 0,
            }
        }
        _ => false,
    }
}

/// Returns the category of time off the CPU.
pub(crate) fn off_cpu(
    off: Off<'_>,
    descriptors: &Descriptors<'_>,
    polls: PollContext,
) -> TimeCategory {
    match off.cause {
        Cause::Preempted | Cause::Ready => return TimeCategory::Ready,
        Cause::Running => return TimeCategory::UserCode,
        Cause::Disk => return TimeCategory::Disk,
        Cause::Stopped => return TimeCategory::OtherWait,
        Cause::Unseen => return TimeCategory::Unaccounted,
        Cause::Asleep | Cause::Uninterruptible => {}
    }
    let Some(call) = off.call else {
        return TimeCategory::OtherWait;
    };
    if calls::is_sync(call) {
        TimeCategory::Disk
    } else if calls::is_signal_wait(call) && polls.children {
        TimeCategory::WaitingForChild
    } else if calls::is_signal_wait(call) {
        TimeCategory::Signals
    } else if calls::is_sleep(call) {
        TimeCategory::Sleeping
    } else if calls::is_lock(call) {
        // The trace gives pauses in such calls a timer as their object.
        if off.timed_out || off.object == Some(&DescriptorKind::Timer) {
            TimeCategory::Sleeping
        } else {
            TimeCategory::Locks
        }
    } else if calls::is_file_lock(call) {
        TimeCategory::Locks
    } else if calls::is_child_wait(call) {
        TimeCategory::WaitingForChild
    } else if calls::is_poll(call) {
        match (polls.spent(), off.object) {
            // Whatever else the process polls for, this wait is for an answer.
            (spent, Some(socket)) if descriptors::takes_answers(socket) => match spent {
                TimeCategory::WaitingForOutput => spent,
                _ => TimeCategory::Network,
            },
            (spent, _) => spent,
        }
    } else if polls.awaits_connections && awaits_client(off, call, descriptors) {
        TimeCategory::WaitingForEvents
    } else if let Some(fd) = off.fd {
        on_descriptor(off, fd, call, descriptors)
    } else {
        TimeCategory::OtherWait
    }
}

/// Assigns the waits of one trace to categories.
pub(crate) struct Classifier<'a> {
    pub descriptors: &'a Descriptors<'a>,
    /// What the polls of each process wait for.
    pub polls: HashMap<u32, PollContext>,
    /// How the polls of each thread ended, if known.
    pub ends: HashMap<u32, Ends>,
    /// The threads that use locks as timers.
    pub timed: HashSet<u32>,
    asked: Asked<'a>,
    /// What threads wait for in calls for locks, as far as stacks show it.
    pub lock_waits: LockWaits,
    pub trace: &'a Trace,
}

impl<'a> Classifier<'a> {
    pub(crate) fn new(trace: &'a Trace, descriptors: &'a Descriptors<'a>) -> Self {
        let asked = Asked::new(trace, descriptors);
        let lock_waits = LockWaits::of(trace);
        Self {
            descriptors,
            polls: polls::contexts(trace, descriptors, &asked),
            ends: polls::ends(trace, &asked),
            timed: timers::timed_waiters(trace, &lock_waits),
            asked,
            lock_waits,
            trace,
        }
    }
}

impl<'a> Classifier<'a> {
    /// Returns how often the time limit of a poll, or of a socket itself, expired while an answer was
    /// awaited, and how long these waits took in ns. Both are totals over all threads.
    pub(crate) fn unanswered(&self) -> (u64, u64) {
        let polls = self.ends.values();
        let polls = polls.map(|ends| (ends.unanswered, ends.unanswered_ns));
        let rows = self.trace.off_cpu.iter();
        let reads = rows.filter(|row| !row.call.as_deref().is_some_and(calls::is_poll));
        let reads = reads.filter(|row| row.limited.calls > 0);
        let reads = reads.filter(|row| self.row(row) == TimeCategory::Network);
        let reads = reads.map(|row| (row.limited.calls, row.limited.ns));
        polls
            .chain(reads)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Returns the category of an off-CPU row.
    pub(crate) fn row(&self, row: &OffCpuRow) -> TimeCategory {
        self.off(Off {
            pid: row.pid,
            tid: row.tid,
            call: row.call.as_deref(),
            fd: row.fd,
            cause: row.cause,
            object: self.object(row.object),
            timed_out: self.timed.contains(&row.tid),
        })
    }

    /// Returns the category of the part of an interval that precedes the wake-up.
    pub(crate) fn interval(&self, interval: &Interval) -> TimeCategory {
        self.off(Off {
            pid: interval.pid,
            tid: interval.tid,
            call: interval.call.as_deref(),
            fd: interval.fd,
            cause: interval.cause,
            object: self.object(interval.object),
            timed_out: self.timed.contains(&interval.tid),
        })
    }

    /// Reports whether the wait on a socket is for an answer from the command's own processes.
    pub(crate) fn asks_own(&self, interval: &Interval) -> bool {
        let by_number = || {
            let fd = interval.fd?;
            self.descriptors.waited_for_name(interval.pid, fd)
        };
        let asked = self.object(interval.object).or_else(by_number);
        let peer = asked.and_then(descriptors::peer_of);
        peer.is_some_and(|peer| self.descriptors.answers_at(peer))
    }

    fn object(&self, at: Option<u32>) -> Option<&'a DescriptorKind> {
        self.trace.objects.get(at? as usize)
    }

    /// Returns the category of a server's poll if it is known what the server waited for. Clients of the same
    /// tree are not waited for at its end.
    fn of_server(&self, off: Off<'_>) -> Option<TimeCategory> {
        let asleep = matches!(off.cause, Cause::Asleep | Cause::Uninterruptible);
        match off.object? {
            _ if !asleep || !off.call.is_some_and(calls::is_poll) => None,
            DescriptorKind::Timer => Some(TimeCategory::Sleeping),
            // A child sent something before the process asked any peer.
            DescriptorKind::Pipe(_) if !off.call.is_some_and(calls::polls_what_it_names) => {
                Some(TimeCategory::WaitingForPipe)
            }
            object if descriptors::is_accepted(object) => {
                (self.trace.is_cut_off()).then_some(TimeCategory::WaitingForEvents)
            }
            _ => None,
        }
    }

    fn off(&self, off: Off<'_>) -> TimeCategory {
        if from_disk(self.trace, off.cause, off.call) {
            return TimeCategory::Disk;
        }
        if let Some(spent) = self.of_server(off) {
            return spent;
        }
        let mut polls = self.polls.get(&off.pid).copied().unwrap_or_default();
        // One thread's event loop says nothing about another's.
        polls.ends = self.ends.get(&off.tid).copied().or(polls.ends);
        // However short its time limit, a poll for one connection with a request is for the answer.
        let one = off
            .fd
            .filter(|_| off.call.is_some_and(calls::polls_what_it_names));
        if let Some(fd) = one.filter(|_| off.object.is_none() && off.cause == Cause::Asleep) {
            let name = self.descriptors.waited_for_name(off.pid, fd);
            let takes = name.is_some_and(descriptors::takes_answers);
            if takes && self.asked.asks(off.pid, fd) && polls.full_sockets == 0 {
                return TimeCategory::Network;
            }
        }
        off_cpu(off, self.descriptors, polls)
    }
}

/// Reports whether a server waits for a client to connect, or for a connected client's next request.
fn awaits_client(off: Off<'_>, call: &str, descriptors: &Descriptors<'_>) -> bool {
    let accepted = |fd| descriptors.is_accepted(off.pid, fd);
    calls::is_accept(call) || calls::is_read(call) && off.fd.is_some_and(accepted)
}

fn on_descriptor(off: Off<'_>, fd: i32, call: &str, descriptors: &Descriptors<'_>) -> TimeCategory {
    let pid = off.pid;
    let name = off.object.or_else(|| descriptors.waited_for_name(pid, fd));
    let is_local = name.and_then(descriptors::peer_of);
    let is_local = is_local.is_some_and(descriptors::is_local);
    let waited_for = match off.object {
        Some(object) => WaitKind::of(object),
        None => descriptors.waited_for(pid, fd),
    };
    // If the write itself has to wait, it doesn't wait for a peer's answer.
    if calls::is_write(call) && is_local {
        return TimeCategory::WaitingForOutput;
    }
    if calls::is_of_sockets(call) && waited_for != WaitKind::Pipe {
        return TimeCategory::Network;
    }
    let kind = match waited_for {
        // A wait for a disk is uninterruptible, so an interruptible wait for something with a path is for a
        // named pipe or a device.
        WaitKind::File if off.cause == Cause::Asleep => WaitKind::Pipe,
        kind => kind,
    };
    let of_command = descriptors.is_of_command(pid, fd);
    let fifo =
        || name.is_some_and(|name| descriptors.is_fifo_to_others(name, calls::is_read(call)));
    if calls::is_read(call) && (fd == 0 && of_command && kind != WaitKind::File || fifo()) {
        return TimeCategory::WaitingForInput;
    }
    let standard = fd == 1 || fd == 2;
    if calls::is_write(call) && (standard && of_command && kind != WaitKind::File || fifo()) {
        return TimeCategory::WaitingForOutput;
    }
    match kind {
        WaitKind::Socket => TimeCategory::Network,
        WaitKind::Pipe | WaitKind::Terminal => TimeCategory::WaitingForPipe,
        WaitKind::Timer => TimeCategory::Sleeping,
        WaitKind::Events => TimeCategory::WaitingForEvents,
        WaitKind::File | WaitKind::Unknown if calls::moves_bytes(call) => TimeCategory::Disk,
        WaitKind::File | WaitKind::Unknown => TimeCategory::OtherWait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, MS};

    #[test]
    fn samples_take_what_no_signal_may_interrupt_for_a_disk_where_it_can_be_one() {
        let mut trace = Trace {
            tier: Some(Tier::Perf),
            ..Trace::default()
        };
        let reported = |trace: &Trace, call| from_disk(trace, Cause::Uninterruptible, call);
        assert!(reported(&trace, Some("pread64")) && reported(&trace, Some("openat")));
        assert!(!reported(&trace, Some("vfork")) && !reported(&trace, None));
        trace.accounts.major_faults = 1;
        assert!(reported(&trace, None));
        trace.tier = Some(Tier::Kernel);
        assert!(
            !reported(&trace, Some("pread64")),
            "it has a mark of its own"
        );
    }

    #[test]
    fn children_of_the_shell_that_became_the_program_are_nobody_it_waits_for() {
        // A shim queries two children and then becomes the program, which sleeps in polls.
        for (last_exec_ms, wanted) in [
            (50, TimeCategory::Sleeping),
            (0, TimeCategory::WaitingForChild),
        ] {
            let mut fake = Fake::new(1000);
            fake.child(200, 0, 45, 40);
            fake.child(300, 5, 45, 40);
            fake.trace.processes[0].execs.push(fathom_trace::Exec {
                at_ns: last_exec_ms * MS,
                ..fathom_trace::Exec::default()
            });
            fake.waits(Some("epoll_wait"), Some(3), Cause::Asleep, 10, 20_000);
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            assert_eq!(classifier.row(&fake.trace.off_cpu[0]), wanted);
        }
    }

    #[test]
    fn a_server_that_nobody_asks_anything_waits_for_events_however_it_waits() {
        let waits = |call: &str, cut_short: bool, accepted: u64| {
            let mut fake = Fake::new(2000);
            fake.trace.end.cut_short = cut_short;
            fake.calls("listen", Some(3), 1, 0, 1_000);
            fake.calls("accept4", Some(3), accepted, 0, 1_000);
            fake.waits(Some(call), Some(3), Cause::Asleep, 4, 490_000);
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            classifier.row(&fake.trace.off_cpu[0])
        };
        for call in ["select", "poll", "epoll_wait", "accept4"] {
            assert_eq!(waits(call, true, 1), TimeCategory::WaitingForEvents);
        }
        assert_eq!(waits("accept4", true, 500), TimeCategory::Network);
        assert_eq!(waits("accept4", false, 1), TimeCategory::Network);
    }

    #[test]
    fn what_a_child_says_before_a_peer_is_asked_does_not_come_from_the_network() {
        let mut fake = Fake::new(1000);
        fake.descriptor(5, "socket to 10.0.0.5:80");
        fake.calls("read", Some(5), 100, 20, 1_000);
        fake.trace.objects = vec!["pipe".into()];
        for object in [None, Some(0)] {
            fake.waits(Some("epoll_wait"), Some(4), Cause::Asleep, 10, 20_000);
            fake.trace.off_cpu.last_mut().expect("just made").object = object;
        }
        let descriptors = Descriptors::new(&fake.trace);
        let classifier = Classifier::new(&fake.trace, &descriptors);
        let spent = fake.trace.off_cpu.iter().map(|row| classifier.row(row));
        let wanted = [TimeCategory::Network, TimeCategory::WaitingForPipe];
        assert_eq!(spent.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_lock_with_a_time_limit_is_a_pause_if_nobody_computes_meanwhile() {
        let counts_as = |of_another_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.calls("futex", None, 80, 0, 1_000).errors = 80;
            fake.waits(Some("futex"), None, Cause::Asleep, 80, 5_000);
            // The thread computes for longer than it pauses.
            fake.thread(crate::fake::ROOT, 101, 0, 1000, of_another_ms);
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            classifier.row(&fake.trace.off_cpu[0])
        };
        assert_eq!(counts_as(100), TimeCategory::Sleeping);
        assert_eq!(counts_as(400), TimeCategory::Locks);
    }

    #[test]
    fn a_thread_that_is_alive_at_the_end_ends_waits_for_locks() {
        let counts_as = |woken_by: Option<u32>| {
            let mut fake = Fake::new(1000);
            fake.thread(crate::fake::ROOT, 101, 0, 1000, 10);
            for from in [0, 500] {
                let times = (from, from + 490, from + 490);
                fake.wait_for(crate::fake::ROOT, "futex", None, times, woken_by);
            }
            let threads = fake.trace.threads.iter_mut();
            threads.for_each(|thread| thread.ended_ns = None);
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            classifier.interval(&fake.trace.timeline.as_ref().expect("just made")[0])
        };
        assert_eq!(counts_as(Some(101)), TimeCategory::Locks);
        assert_eq!(counts_as(None), TimeCategory::Sleeping);
    }

    #[test]
    fn a_wait_for_an_interpreter_is_no_pause_however_often_its_limit_ends_it() {
        let counts_as = |caller: &str| {
            let mut fake = Fake::new(1000);
            fake.calls("futex", None, 80, 0, 1_000).errors = 80;
            fake.waits(Some("futex"), None, Cause::Asleep, 80, 5_000);
            let functions = [
                ("main", caller),
                ("pthread_cond_timedwait", "/lib/libc.so.6"),
            ];
            let frames = functions.map(|(function, binary)| fathom_stacks::Frame {
                function: Some(function.to_owned()),
                binary: binary.to_owned(),
                ..fathom_stacks::Frame::default()
            });
            let activity = fathom_trace::Activity::Wait;
            fake.stack(activity, Some("futex"), frames, 400);
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            classifier.row(&fake.trace.off_cpu[0])
        };
        assert_eq!(counts_as("/srv/app.py"), TimeCategory::Locks);
        assert_eq!(counts_as("/bin/app"), TimeCategory::Sleeping);
    }

    #[test]
    fn a_join_is_no_pause_if_the_joined_thread_mostly_waits_for_a_cpu() {
        let counts_as = |ready_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(Tier::Perf);
            fake.wait_for(crate::fake::ROOT, "futex", None, (5, 990, 990), None);
            fake.thread(crate::fake::ROOT, 101, 5, 989, 300);
            let joined = fake.trace.threads.last_mut().expect("just made");
            joined.ready_ns = Some(ready_ms * MS);
            let descriptors = Descriptors::new(&fake.trace);
            let classifier = Classifier::new(&fake.trace, &descriptors);
            classifier.row(&fake.trace.off_cpu[0])
        };
        assert_eq!(counts_as(600), TimeCategory::Locks);
        assert_eq!(counts_as(0), TimeCategory::Sleeping);
    }

    #[test]
    fn a_child_that_was_over_soon_is_not_what_long_polls_wait_for() {
        let mut fake = Fake::new(1000);
        fake.child(200, 0, 45, 40);
        fake.waits(Some("epoll_wait"), Some(3), Cause::Asleep, 10, 60_000);
        let descriptors = Descriptors::new(&fake.trace);
        let classifier = Classifier::new(&fake.trace, &descriptors);
        assert_eq!(
            classifier.row(&fake.trace.off_cpu[0]),
            TimeCategory::Sleeping
        );
    }
}
