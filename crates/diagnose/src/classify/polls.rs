//! Determines what a process's polls wait for.

use std::collections::{HashMap, HashSet};

use fathom_model::TimeCategory;
use fathom_trace::{Limited, PollEnds, Process, SyscallRow, Trace};

use crate::calls::{is_accept, is_of_sockets, is_poll, is_read, is_write};
use crate::descriptors::{Descriptors, WaitKind, takes_answers};
use crate::thresholds as t;

/// The minimum number of polls without an event; fewer may be chance.
const FEWEST_PAUSES: u64 = 5;

/// How polls ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ends {
    pub polls: PollEnds,
    /// The polls for a single socket that timed out while a request was pending on it.
    pub unanswered: u64,
    /// How long the unanswered polls took.
    pub unanswered_ns: u64,
    /// The number of all polls.
    calls: u64,
    /// The polls for several descriptors or for none that timed out.
    for_no_one: u64,
}

impl Ends {
    /// Adds the polls of a row. `unanswered` are those for an answer that did not arrive in time.
    fn add(&mut self, row: &SyscallRow, more: PollEnds, unanswered: Limited) {
        self.calls += row.calls;
        self.for_no_one += if row.fd.is_none() { more.by_limit } else { 0 };
        self.polls.by_limit += more.by_limit;
        self.polls.by_limit_ns += more.by_limit_ns;
        self.polls.total_ns += more.total_ns;
        self.unanswered += unanswered.calls;
        self.unanswered_ns += unanswered.ns;
    }

    /// Reports whether this part of the time was in polls that timed out.
    fn by_limit(self, part: f64) -> bool {
        self.polls.by_limit_ns as f64 >= part * self.polls.total_ns as f64
    }

    /// Reports whether the polls are pauses, that is, whether all of them timed out and none was for a single
    /// descriptor. Polls for events that occur now and then would sometimes end early, and most pauses are
    /// for no descriptor at all.
    fn are_pauses(self) -> bool {
        self.calls >= FEWEST_PAUSES && self.for_no_one == self.calls
    }

    /// Reports whether most of the time was spent waiting for answers that never came.
    fn are_unanswered(self) -> bool {
        self.unanswered_ns as f64 >= t::PART_BY_LIMIT * self.polls.total_ns as f64
    }
}

/// What a process's polls wait for, inferred from what the process does with its descriptors. A poll that
/// ends with an event is followed by a call that consumes the event, so the numbers of those calls show what
/// most waits were for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PollContext {
    /// Calls that read from a descriptor 0 that can block, or from a named pipe to which only processes
    /// outside of the tree write.
    pub input: u64,
    /// Calls that moved bytes through sockets, or that made or accepted connections.
    pub sockets: u64,
    /// Calls that read from sockets.
    pub answers: u64,
    /// Writes to local sockets that were full.
    pub full_sockets: u64,
    /// Writes that found descriptor 1 full, or a named pipe that is read outside of the tree.
    pub output: u64,
    /// Calls that read from other pipes.
    pub pipes: u64,
    /// Calls that read one byte each from a pipe: a signal between threads, or a line that is read byte by
    /// byte. Polls don't wait for each of these bytes.
    pub single_bytes: u64,
    /// Calls that read a count from an eventfd.
    pub events: u64,
    /// Calls that read a count from a timerfd.
    pub timers: u64,
    /// The number of polls.
    pub polls: u64,
    /// How the polls ended, if known.
    pub ends: Option<Ends>,
    /// Whether the process has children.
    pub children: bool,
    /// Whether the process is a server that receives no requests until it is ended.
    pub awaits_connections: bool,
}

impl PollContext {
    pub(super) fn spent(self) -> TimeCategory {
        if self.awaits_connections {
            return TimeCategory::WaitingForEvents;
        }
        let pipes = if self.children { self.pipes } else { 0 };
        let (sockets, output) = self.at_sockets();
        let kinds = [
            (self.input, TimeCategory::WaitingForInput),
            (self.output + output, TimeCategory::WaitingForOutput),
            (sockets, TimeCategory::Network),
            (pipes, TimeCategory::WaitingForPipe),
        ];
        let all: u64 = kinds.iter().map(|(events, _)| events).sum();
        if self.known_ends().is_some_and(Ends::are_pauses) {
            return TimeCategory::Sleeping;
        }
        if self.known_ends().is_some_and(Ends::are_unanswered) {
            return TimeCategory::Network;
        }
        if self.only_naps(all) {
            return TimeCategory::Sleeping;
        }
        let rules = |(events, _): &&(u64, TimeCategory)| is_most(*events, all);
        match kinds.iter().find(rules) {
            _ if all == 0 && self.children => TimeCategory::WaitingForChild,
            _ if all == 0 && self.sleeps() => TimeCategory::Sleeping,
            Some((_, spent)) if all > 0 => *spent,
            _ => TimeCategory::WaitingForEvents,
        }
    }

    fn known_ends(self) -> Option<Ends> {
        self.ends.filter(|ends| ends.polls.total_ns > 0)
    }

    /// Reports whether polls time out although data is consumed after most of them. In that case they don't
    /// wait for the data, which would have ended them. A runtime also polls without waiting, which takes no
    /// time.
    fn only_naps(self, taken: u64) -> bool {
        let Some(ends) = self.known_ends() else {
            return false;
        };
        let by_events = self.polls.saturating_sub(ends.polls.by_limit);
        ends.by_limit(t::PART_BY_LIMIT)
            && (taken > 2 * by_events || ends.by_limit(t::ALL_BY_LIMIT))
            && taken * 2 >= ends.polls.by_limit
    }

    /// Returns two numbers of events at sockets: those due to the network, and those due to a reader that
    /// drained a full socket.
    fn at_sockets(self) -> (u64, u64) {
        match is_most(self.full_sockets, self.full_sockets + self.answers) {
            true if self.full_sockets > 0 => (self.answers, self.full_sockets),
            _ => (self.sockets, 0),
        }
    }

    /// Reports whether polls end by their time limit in a process that consumes nothing from outside.
    fn sleeps(self) -> bool {
        if self.timers * 2 > self.events && self.timers > 0 {
            return true;
        }
        if let Some(ends) = self.known_ends() {
            return ends.by_limit(t::PART_BY_LIMIT);
        }
        // Threads signal each other through pipes and eventfds. If far more polls ended than there were
        // signals, their time limits ended them.
        let pipes = match self.children {
            true => 0,
            false => self.pipes + self.single_bytes,
        };
        let signals = self.events + pipes;
        signals == 0 || (signals as f64) < t::PART_SIGNALLED_BY_THREADS * self.polls as f64
    }
}

fn is_most(events: u64, all: u64) -> bool {
    events as f64 >= t::PART_OF_EVENTS * all as f64
}

/// Returns the poll context of every process.
pub(super) fn contexts(
    trace: &Trace,
    descriptors: &Descriptors<'_>,
    asked: &Asked<'_>,
) -> HashMap<u32, PollContext> {
    let mut contexts: HashMap<u32, PollContext> = HashMap::new();
    for row in &trace.syscalls {
        let context = contexts.entry(row.pid).or_default();
        if is_poll(&row.name) {
            context.polls += row.calls;
        }
        if let Some(ends) = row.polls {
            let ends_of_all = context.ends.get_or_insert_default();
            ends_of_all.add(row, ends, asked.unanswered(row, ends));
        }
        let Some(fd) = row.fd else { continue };
        let kind = descriptors.mostly(row.pid, fd);
        let waitable = matches!(kind, WaitKind::Pipe | WaitKind::Socket | WaitKind::Terminal);
        let reads = is_read(&row.name);
        let moves = reads || is_write(&row.name);
        let moved = if moves && row.bytes > 0 {
            row.calls.saturating_sub(row.would_block)
        } else {
            0
        };
        let local = !reads && kind == WaitKind::Socket && descriptors.is_local_socket(row.pid, fd);
        let fifo = moves && descriptors.is_outer_fifo(row.pid, fd, reads);
        if reads && (fd == 0 && waitable || fifo) {
            context.input += moved;
        } else if !reads && moves && ((fd == 1 || fd == 2) && waitable || fifo) {
            context.output += row.would_block;
        } else if is_accept(&row.name) || row.name == "connect" {
            context.sockets += row.calls.saturating_sub(row.would_block);
        } else if kind == WaitKind::Socket || is_of_sockets(&row.name) && kind != WaitKind::Pipe {
            context.sockets += moved;
            let all = is_of_sockets(&row.name);
            context.answers += match (reads, descriptors.socket_reads(row.pid, fd)) {
                (false, _) => 0,
                (true, Some(reads)) if !all => moved.min(reads),
                (true, _) => moved,
            };
            context.full_sockets += if local { row.would_block } else { 0 };
        } else if kind == WaitKind::Pipe && reads {
            match row.bytes > moved {
                true => context.pipes += moved,
                false => context.single_bytes += moved,
            }
        } else if kind == WaitKind::Events && reads {
            context.events += moved;
        } else if kind == WaitKind::Timer && reads {
            context.timers += moved;
        }
    }
    // After a refused connection there is no peer to wait for.
    for refused in &trace.refused {
        if let Some(context) = contexts.get_mut(&refused.pid) {
            context.sockets = context.sockets.saturating_sub(refused.calls);
        }
    }
    for pid in idle_servers(trace) {
        contexts.entry(pid).or_default().awaits_connections = true;
    }
    let lived = childrens_ns(trace);
    let waited = waits_in_polls(trace);
    for (pid, lived) in lived {
        let waited = waited.get(&pid).copied().unwrap_or(0);
        if lived > 0 && lived as f64 >= t::PART_OF_CHILDREN * waited as f64 {
            contexts.entry(pid).or_default().children = true;
        }
    }
    contexts
}

/// Returns processes that listen and hardly ever accept a connection, in a run that didn't end by itself.
/// They wait for clients, with or without a time limit. For a process that was already running, it is known
/// which threads listen; it waits for clients however many requests it gets.
fn idle_servers(trace: &Trace) -> Vec<u32> {
    if let Some(attached) = &trace.attached {
        return attached.listening.clone();
    }
    if !trace.end.cut_short {
        return Vec::new();
    }
    let mut servers: HashMap<u32, u64> = HashMap::new();
    let listens = |row: &&SyscallRow| row.name == "listen" && row.calls > row.errors;
    for row in trace.syscalls.iter().filter(listens) {
        servers.insert(row.pid, 0);
    }
    for row in trace.syscalls.iter().filter(|row| is_accept(&row.name)) {
        if let Some(accepted) = servers.get_mut(&row.pid) {
            // A call that is still waiting has not returned an error.
            *accepted += row.calls.saturating_sub(row.errors.max(row.would_block));
        }
    }
    let most = 1 + trace.duration_ns / t::IDLE_SERVER_NS;
    servers.retain(|_, accepted| *accepted <= most);
    servers.into_keys().collect()
}

/// Returns how long the children of each process lived after the process started its last program. A shell
/// that became that program doesn't wait for children it created earlier.
fn childrens_ns(trace: &Trace) -> HashMap<u32, u64> {
    let begun = |process: &Process| process.execs.last().map_or(0, |exec| exec.at_ns);
    let processes = trace.processes.iter();
    let begun: HashMap<u32, u64> = processes.map(|it| (it.pid, begun(it))).collect();
    let mut lived = HashMap::new();
    for child in &trace.processes {
        let Some((parent, since)) = child.parent.and_then(|it| Some((it, *begun.get(&it)?))) else {
            continue;
        };
        let end = child.ended_ns.unwrap_or(trace.duration_ns);
        *lived.entry(parent).or_default() += end.saturating_sub(child.started_ns.max(since));
    }
    lived
}

/// Returns how long the threads of each process waited in polls.
fn waits_in_polls(trace: &Trace) -> HashMap<u32, u64> {
    let mut waited = HashMap::new();
    for row in &trace.off_cpu {
        if row.call.as_deref().is_some_and(is_poll) {
            *waited.entry(row.pid).or_default() += row.total_ns;
        }
    }
    waited
}

/// The sockets on which a request was made, that is, sockets that were connected or written to.
pub(super) struct Asked<'a> {
    sockets: HashSet<(u32, i32)>,
    /// Descriptors on which every request was answered in the end, however often a poll for the answer timed
    /// out.
    answered: HashSet<(u32, i32)>,
    /// The same for the calls that are only for sockets, in case the number was also a file.
    answered_as_socket: HashSet<(u32, i32)>,
    /// For polls of a reused descriptor number, how many of those that waited for an answer timed out, by
    /// thread, call and number.
    divided: HashMap<(u32, &'a str, i32), Limited>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(trace: &'a Trace, descriptors: &Descriptors<'_>) -> Self {
        let rows = trace.syscalls.iter();
        let asking = rows.filter(|row| row.name == "connect" || is_write(&row.name));
        let numbers = asking.filter_map(|row| Some((row.pid, row.fd?)));
        // Polls aren't for files, even if the number referred to one most of the time.
        let is_socket = |(pid, fd): &_| descriptors.waited_for(*pid, *fd) == WaitKind::Socket;
        Self {
            sockets: numbers.filter(is_socket).collect(),
            answered: answered(trace, |_| true),
            answered_as_socket: answered(trace, is_of_sockets),
            divided: divided(trace),
        }
    }

    /// Reports whether a request was made on this descriptor.
    pub(super) fn asks(&self, pid: u32, fd: i32) -> bool {
        self.sockets.contains(&(pid, fd))
    }

    /// Returns the polls of a row that were for a single socket with a pending request and that timed out.
    /// For `epoll_wait`, the descriptor is that of the epoll set.
    fn unanswered(&self, row: &SyscallRow, ends: PollEnds) -> Limited {
        let one = row.fd.filter(|_| !row.name.starts_with("epoll"));
        let Some(fd) = one else {
            return Limited::default();
        };
        if let Some(limited) = self.divided.get(&(row.tid, row.name.as_str(), fd)) {
            return match self.answered_as_socket.contains(&(row.pid, fd)) {
                true => Limited::default(),
                false => *limited,
            };
        }
        match self.asks(row.pid, fd) && !self.answered.contains(&(row.pid, fd)) {
            true => Limited {
                calls: ends.by_limit,
                ns: ends.by_limit_ns,
            },
            false => Limited::default(),
        }
    }
}

/// Returns the descriptors on which calls with matching names read at least as often as they wrote. For each
/// connection, one message needs no answer: with it, the client takes its leave.
fn answered(trace: &Trace, fits: impl Fn(&str) -> bool) -> HashSet<(u32, i32)> {
    let mut moved: HashMap<(u32, i32), (u64, u64, u64)> = HashMap::new();
    for row in trace.syscalls.iter().filter(|row| fits(&row.name)) {
        let Some(fd) = row.fd else { continue };
        let (sent, read, made) = moved.entry((row.pid, fd)).or_default();
        let calls = row.calls.saturating_sub(row.errors);
        match row.name.as_str() {
            "connect" => *made += row.calls,
            name if is_read(name) => *read += calls,
            name if is_write(name) => *sent += calls,
            _ => {}
        }
    }
    moved.retain(|_, (sent, read, made)| {
        let leaves = if *read > *made { *made } else { 0 };
        *sent > 0 && *read + leaves >= *sent
    });
    moved.into_keys().collect()
}

fn divided(trace: &Trace) -> HashMap<(u32, &str, i32), Limited> {
    let mut divided: HashMap<(u32, &str, i32), Limited> = HashMap::new();
    for row in &trace.off_cpu {
        let (Some(call), Some(fd)) = (row.call.as_deref().filter(|it| is_poll(it)), row.fd) else {
            continue;
        };
        let object = row.object.and_then(|at| trace.objects.get(at as usize));
        if let Some(object) = object {
            let sum = divided.entry((row.tid, call, fd)).or_default();
            if takes_answers(object) {
                sum.calls += row.limited.calls;
                sum.ns += row.limited.ns;
            }
        }
    }
    divided
}

/// Returns how the polls of each thread ended, if known.
pub(super) fn ends(trace: &Trace, asked: &Asked<'_>) -> HashMap<u32, Ends> {
    let mut ends: HashMap<u32, Ends> = HashMap::new();
    for row in &trace.syscalls {
        if let Some(more) = row.polls {
            let of_thread = ends.entry(row.tid).or_default();
            of_thread.add(row, more, asked.unanswered(row, more));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, ROOT};

    #[test]
    fn signals_between_threads_are_not_what_a_client_waits_for() {
        let reported = |signals, of_children| {
            let client = PollContext {
                sockets: 9,
                pipes: of_children,
                single_bytes: signals,
                children: true,
                polls: 20,
                ..PollContext::default()
            };
            client.spent()
        };
        assert_eq!(reported(20, 1), TimeCategory::Network);
        assert_eq!(reported(0, 20), TimeCategory::WaitingForEvents);
    }

    #[test]
    fn polls_that_only_time_limits_end_and_that_are_for_no_one_descriptor_are_pauses() {
        let reported = |fd, calls: u64, refused| {
            let mut fake = Fake::new(1000);
            fake.calls("connect", Some(3), 1, 0, 1_000);
            let row = fake.calls("pselect6", fd, calls, 0, 25_000_000);
            row.polls = Some(PollEnds {
                by_limit: 20,
                by_limit_ns: 500_000_000,
                total_ns: 500_000_000,
            });
            fake.trace.refused = vec![fathom_trace::RefusedRow {
                pid: ROOT,
                calls: refused,
                ..fathom_trace::RefusedRow::default()
            }];
            let descriptors = Descriptors::new(&fake.trace);
            let asked = Asked::new(&fake.trace, &descriptors);
            contexts(&fake.trace, &descriptors, &asked)[&ROOT].spent()
        };
        assert_eq!(reported(None, 20, 0), TimeCategory::Sleeping);
        assert_eq!(
            reported(None, 21, 0),
            TimeCategory::Network,
            "one was answered"
        );
        assert_eq!(reported(Some(9), 20, 0), TimeCategory::Network);
        assert_eq!(
            reported(Some(9), 20, 1),
            TimeCategory::Sleeping,
            "nobody was there"
        );
    }

    #[test]
    fn single_bytes_from_a_pipe_are_told_from_messages() {
        let reported = |bytes| {
            let mut fake = Fake::new(1000);
            fake.child(200, 0, 900, 40);
            fake.descriptor(4, "pipe");
            fake.calls("read", Some(4), 20, bytes, 1_000);
            let descriptors = Descriptors::new(&fake.trace);
            let asked = Asked::new(&fake.trace, &descriptors);
            let context = contexts(&fake.trace, &descriptors, &asked)[&ROOT];
            (context.single_bytes, context.pipes)
        };
        assert_eq!(reported(1), (20, 0));
        assert_eq!(reported(20), (0, 20));
    }

    #[test]
    fn a_poll_waits_for_what_the_process_then_does() {
        let context = PollContext::default();
        assert_eq!(context.spent(), TimeCategory::Sleeping);
        let reported = |events| PollContext {
            events,
            polls: 100,
            ..context
        };
        assert_eq!(reported(5).spent(), TimeCategory::Sleeping);
        assert_eq!(reported(90).spent(), TimeCategory::WaitingForEvents);
        let reads = PollContext {
            input: 100,
            ..context
        };
        assert_eq!(reads.spent(), TimeCategory::WaitingForInput);
        let asks = PollContext {
            sockets: 100,
            ..context
        };
        assert_eq!(asks.spent(), TimeCategory::Network);
        let both = PollContext {
            sockets: 100,
            ..reads
        };
        assert_eq!(both.spent(), TimeCategory::WaitingForEvents);
        let mostly = PollContext {
            sockets: 2000,
            ..reads
        };
        assert_eq!(mostly.spent(), TimeCategory::Network);
    }

    #[test]
    fn polls_that_something_ended_are_no_timers() {
        let ended = |by_limit_ns| PollContext {
            polls: 100,
            ends: Some(Ends {
                polls: PollEnds {
                    by_limit: 1,
                    by_limit_ns,
                    total_ns: 1000,
                },
                ..Ends::default()
            }),
            ..PollContext::default()
        };
        assert_eq!(ended(0).spent(), TimeCategory::WaitingForEvents);
        assert_eq!(ended(900).spent(), TimeCategory::Sleeping);
        // Messages of workers arrive before the end of each pause, and don't end the wait.
        let reported = PollContext {
            events: 90,
            ..ended(900)
        };
        assert_eq!(reported.spent(), TimeCategory::Sleeping);
        let timerfd = PollContext {
            timers: 100,
            ..ended(0)
        };
        assert_eq!(timerfd.spent(), TimeCategory::Sleeping);
    }

    #[test]
    fn naps_before_something_is_taken_do_not_wait_for_it() {
        let asks = |by_limit| PollContext {
            pipes: 100,
            children: true,
            polls: 100,
            ends: Some(Ends {
                polls: PollEnds {
                    by_limit,
                    by_limit_ns: 900,
                    total_ns: 1000,
                },
                ..Ends::default()
            }),
            ..PollContext::default()
        };
        assert_eq!(asks(98).spent(), TimeCategory::Sleeping);
        // A client that gets its answer after two polls without an event was waiting for it in the last poll.
        assert_eq!(asks(40).spent(), TimeCategory::WaitingForPipe);
        // Polls that take no time don't wait.
        let mut pauses = asks(40);
        pauses.ends.as_mut().expect("it is known").polls.by_limit_ns = 1000;
        assert_eq!(pauses.spent(), TimeCategory::Sleeping);
    }

    #[test]
    fn a_time_limit_that_comes_instead_of_an_answer_is_no_pause() {
        let reported = |unanswered_ns| {
            let ends = Ends {
                polls: PollEnds {
                    by_limit: 8,
                    by_limit_ns: 990,
                    total_ns: 1000,
                },
                unanswered_ns,
                ..Ends::default()
            };
            let context = PollContext {
                sockets: 24,
                answers: 8,
                polls: 16,
                ends: Some(ends),
                ..PollContext::default()
            };
            context.spent()
        };
        assert_eq!(reported(990), TimeCategory::Network);
        assert_eq!(reported(0), TimeCategory::Sleeping);
    }

    #[test]
    fn who_writes_to_a_full_socket_waits_for_its_reader() {
        let context = |answers| PollContext {
            sockets: 160,
            answers,
            full_sockets: 22,
            ..PollContext::default()
        };
        assert_eq!(context(1).spent(), TimeCategory::WaitingForOutput);
        assert_eq!(context(100).spent(), TimeCategory::Network);
    }
}
