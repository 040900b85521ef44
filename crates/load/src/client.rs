//! Many connections to one server, on one thread: sends by the books, reads what comes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::address::Address;
use crate::clock::{now, thread_cpu};
use crate::epoll::Epoll;
use crate::latencies::Latencies;
use crate::ledger::{Failing, Ledger, Pace, Ticket, Totals};
use crate::request::{Checks, Expected, Taken};
use crate::response::{Answer, Progress, Reader};
use crate::schedule::{Arrivals, Schedule};
use crate::socket::{Socket, failing};

/// Bytes that are received at a time.
const BUFFER: usize = 64 << 10;
/// How often overdue requests and the wish to stop are looked for, in nanoseconds.
const LOOK_EVERY: u64 = 20_000_000;
/// How long a connection rests after a failure: a server that refuses must not be asked a million
/// times a second, nor keep the loop from looking at the time.
const REST: u64 = 1_000_000;
/// Connections that are being made at a time before a step, and the pause after them: where the
/// backlog is full (5 in Python's `http.server`) the kernel drops what asks, which asks again after
/// a second. 64 at a time took 2 to 7 s there.
const AT_ONCE: usize = 4;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(1);

/// Lets this process have as many descriptors as it may, if it can't have `wanted`. Programs that it
/// starts later inherit that.
pub fn allow_descriptors(wanted: u64) {
    // SAFETY: reads and writes a live structure.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        let known = libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0;
        if known && limit.rlim_cur < wanted {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// What is asked, of whom, and what is a good answer.
#[derive(Debug, Clone)]
pub struct Task {
    /// The server.
    pub address: Address,
    /// Ready to be sent, in turn.
    pub requests: Vec<Vec<u8>>,
    /// The first answers to them, if answers are compared with those.
    pub expected: Vec<Expected>,
    /// Which answers are good.
    pub checks: Checks,
    /// Answers have no body.
    pub head_only: bool,
    /// A connection takes several requests.
    pub keep_alive: bool,
    /// A request that has no whole answer after this many nanoseconds has failed.
    pub timeout: u64,
}

/// How a step is paced, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Requests per second and their distances; without, a closed loop.
    pub open: Option<(f64, Arrivals)>,
    /// Nanoseconds in which requests are begun.
    pub length: u64,
    /// Nanoseconds after that in which answers are waited for.
    pub drain: u64,
}

/// What a step came to, and what it cost the client.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The books.
    pub totals: Totals,
    /// CPU time of this thread over the step, without draining.
    pub cpu: u64,
    /// The time of the step, without draining, by the clock.
    pub wall: u64,
    /// CPU time of this thread over the whole step.
    pub cpu_with_drain: u64,
    /// Bytes that were received.
    pub received_bytes: u64,
    /// Connections that were made while the step ran.
    pub connects: u64,
    /// Good answers whose body was another than in the first answer.
    pub other_bodies: u64,
    /// Answers after which more came than was asked for.
    pub unasked: u64,
    /// The first answers that failed a check, for a message: status, beginning of the body.
    pub example: Option<(Failing, u16, &'static str)>,
    /// The wish to stop ended the step.
    pub stopped: bool,
}

/// How far a step is; for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// Nanoseconds since it began.
    pub elapsed: u64,
    /// Completed so far.
    pub completed: u64,
    /// Failed so far.
    pub failed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No socket.
    Closed,
    Connecting,
    /// Connected, with nothing to do.
    Free,
    /// This many bytes of the request are sent.
    Sending(usize),
    Waiting,
}

struct Connection {
    socket: Option<Socket>,
    state: State,
    /// Whether epoll reports that it can be written to.
    writes: bool,
    reader: Reader,
    ticket: Option<Ticket>,
    /// Which request was sent last, or is being sent.
    request: usize,
    /// Since when it has nothing to do.
    free_since: u64,
    /// The beginning of the body, where it is checked.
    body: Vec<u8>,
}

/// See the module.
pub struct Client {
    task: Arc<Task>,
    epoll: Epoll,
    connections: Vec<Connection>,
    free: VecDeque<usize>,
    /// Those whose last request failed, with the moment from which they may be used again.
    resting: VecDeque<(u64, usize)>,
    buffer: Vec<u8>,
    next_request: usize,
    /// How long it took to connect.
    pub connect_times: Latencies,
    outcome: Outcome,
}

impl Client {
    /// A client without sockets yet.
    ///
    /// # Errors
    /// When the system has no means left for it.
    pub fn new(task: Arc<Task>, connections: usize) -> io::Result<Client> {
        let connection = |_| Connection {
            socket: None,
            state: State::Closed,
            writes: false,
            reader: Reader::new(task.head_only),
            ticket: None,
            request: 0,
            free_since: 0,
            body: Vec::new(),
        };
        Ok(Client {
            epoll: Epoll::new()?,
            connections: (0..connections).map(connection).collect(),
            free: (0..connections).collect(),
            resting: VecDeque::with_capacity(connections),
            buffer: vec![0; BUFFER],
            next_request: 0,
            connect_times: Latencies::new(),
            outcome: Outcome::default(),
            task,
        })
    }

    /// Makes all connections, some at a time, so that no step begins with them. What can't be
    /// connected is tried again when it is to send something.
    ///
    /// # Errors
    /// When waiting itself fails.
    pub fn connect(&mut self, stop: &AtomicBool) -> io::Result<Result<(), Failing>> {
        if !self.task.keep_alive {
            return Ok(Ok(()));
        }
        let deadline = now() + self.task.timeout;
        let mut first_failure = Ok(());
        for first in (0..self.connections.len()).step_by(AT_ONCE) {
            let last = (first + AT_ONCE).min(self.connections.len());
            if first > 0 {
                std::thread::sleep(PAUSE);
            }
            let begun = now();
            let mut left = 0;
            for index in first..last {
                if self.connections[index].state == State::Closed {
                    match self.begin_connect(index) {
                        Ok(()) => left += 1,
                        Err(why) => first_failure = first_failure.and(Err(why)),
                    }
                }
            }
            while left > 0 && now() < deadline && !stop.load(Ordering::Relaxed) {
                let count = self.epoll.wait(LOOK_EVERY)?;
                for event in 0..count {
                    let (index, _) = self.epoll.event(event);
                    if self.connections[index].state != State::Connecting {
                        continue;
                    }
                    left -= 1;
                    match self.finish_connect(index) {
                        Ok(()) => self.connect_times.record(now() - begun),
                        Err(why) => first_failure = first_failure.and(Err(why)),
                    }
                }
            }
            // Those that take too long are begun anew later.
            for index in first..last {
                if self.connections[index].state == State::Connecting {
                    self.close(index);
                    first_failure = first_failure.and(Err(Failing::TimedOut));
                }
            }
        }
        Ok(first_failure)
    }

    /// Connections that are open.
    pub fn connected(&self) -> usize {
        let open = |connection: &&Connection| connection.socket.is_some();
        self.connections.iter().filter(open).count()
    }

    /// One step. Nothing is allocated, but for answers that come in pieces and backlogs.
    ///
    /// # Errors
    /// When waiting itself fails.
    pub fn run(
        &mut self,
        step: &Step,
        stop: &AtomicBool,
        tick: &mut dyn FnMut(Tick),
    ) -> io::Result<Outcome> {
        self.outcome = Outcome::default();
        let (begin_cpu, begin) = (thread_cpu(), now());
        let end = begin + step.length;
        let pace = match step.open {
            None => Pace::Closed,
            Some((rate, arrivals)) => Pace::Open(Schedule::new(rate, begin, end, arrivals)),
        };
        let mut ledger = Ledger::new(pace, begin, end);
        for connection in &mut self.connections {
            connection.free_since = begin;
        }
        let (mut next_look, mut next_tick) = (begin + LOOK_EVERY, begin + 1_000_000_000);
        let mut measured = None;
        loop {
            let at = now();
            ledger.advance(at);
            self.wake_rested(at);
            self.send_due(&mut ledger);
            if at >= end && measured.is_none() {
                measured = Some((thread_cpu() - begin_cpu, at - begin));
            }
            if at >= next_look {
                self.end_overdue(at, &mut ledger);
                next_look = at + LOOK_EVERY;
                if stop.load(Ordering::Relaxed) {
                    self.outcome.stopped = true;
                    break;
                }
            }
            if at >= next_tick {
                tick(Tick {
                    elapsed: at - begin,
                    completed: ledger.completed(),
                    failed: ledger.failed(),
                });
                next_tick += 1_000_000_000;
            }
            if ledger.is_over(at) || at >= end + step.drain {
                break;
            }
            let due = ledger.next_due().unwrap_or(u64::MAX);
            let ends = if at < end { end } else { end + step.drain };
            let rested = self.resting.front().map_or(u64::MAX, |(from, _)| *from);
            let until = due.min(next_look).min(ends).min(rested);
            let count = self.epoll.wait(until.saturating_sub(now()))?;
            for event in 0..count {
                let (index, events) = self.epoll.event(event);
                self.on_event(index, events, &mut ledger);
            }
        }
        let at = now();
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.cpu_with_drain = thread_cpu() - begin_cpu;
        (outcome.cpu, outcome.wall) = measured.unwrap_or((outcome.cpu_with_drain, at - begin));
        outcome.totals = ledger.close(at);
        self.free
            .extend(self.resting.drain(..).map(|(_, index)| index));
        // What is still under way must not be answered in the next step.
        for index in 0..self.connections.len() {
            if self.connections[index].ticket.take().is_some() {
                self.close(index);
                self.free.push_back(index);
            }
        }
        Ok(outcome)
    }

    fn wake_rested(&mut self, at: u64) {
        while let Some((from, index)) = self.resting.front().copied() {
            if from > at {
                return;
            }
            self.resting.pop_front();
            self.connections[index].free_since = at;
            self.free.push_back(index);
        }
    }

    fn send_due(&mut self, ledger: &mut Ledger) {
        while let Some(index) = self.free.pop_front() {
            let Some(intended) = ledger.take(now()) else {
                self.free.push_front(index);
                return;
            };
            self.begin(index, intended, ledger);
        }
        ledger.note_waiting();
    }

    /// Sends the next request on a connection, which is made if there is none.
    fn begin(&mut self, index: usize, intended: u64, ledger: &mut Ledger) {
        let request = self.next_request;
        self.next_request = (request + 1) % self.task.requests.len();
        let sent = now();
        let connection = &mut self.connections[index];
        connection.request = request;
        connection.ticket = Some(ledger.sent(intended, sent, connection.free_since));
        if connection.state == State::Free {
            connection.state = State::Sending(0);
            return self.send(index, ledger);
        }
        self.outcome.connects += 1;
        if let Err(why) = self.begin_connect(index) {
            self.fail(index, why, ledger);
        }
    }

    fn begin_connect(&mut self, index: usize) -> Result<(), Failing> {
        let socket = Socket::connect(&self.task.address).map_err(|e| failing(&e, true))?;
        let added = self.epoll.add(socket.as_raw_fd(), index, true);
        added.map_err(|error| failing(&error, true))?;
        let connection = &mut self.connections[index];
        connection.socket = Some(socket);
        connection.state = State::Connecting;
        connection.writes = true;
        Ok(())
    }

    fn finish_connect(&mut self, index: usize) -> Result<(), Failing> {
        let connection = &mut self.connections[index];
        let connected = connection.socket.as_ref().map_or(Ok(()), Socket::connected);
        if let Err(error) = connected {
            self.close(index);
            return Err(failing(&error, true));
        }
        connection.state = State::Free;
        self.watch_writes(index, false);
        Ok(())
    }

    fn watch_writes(&mut self, index: usize, writes: bool) {
        let connection = &mut self.connections[index];
        if connection.writes == writes {
            return;
        }
        if let Some(socket) = &connection.socket {
            // It is there, as its socket is.
            let _ = self.epoll.change(socket.as_raw_fd(), index, writes);
            connection.writes = writes;
        }
    }

    fn send(&mut self, index: usize, ledger: &mut Ledger) {
        let connection = &mut self.connections[index];
        let (State::Sending(sent), Some(socket)) = (connection.state, &connection.socket) else {
            return;
        };
        let request = &self.task.requests[connection.request];
        match socket.send(&request[sent..]) {
            Ok(bytes) if sent + bytes == request.len() => {
                connection.state = State::Waiting;
                self.watch_writes(index, false);
            }
            Ok(bytes) => {
                connection.state = State::Sending(sent + bytes);
                self.watch_writes(index, true);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.watch_writes(index, true);
            }
            Err(error) => self.fail(index, failing(&error, false), ledger),
        }
    }

    fn on_event(&mut self, index: usize, events: u32, ledger: &mut Ledger) {
        let readable = libc::EPOLLIN | libc::EPOLLERR | libc::EPOLLHUP;
        match self.connections[index].state {
            State::Closed => {}
            State::Connecting => match self.finish_connect(index) {
                Ok(()) if self.connections[index].ticket.is_some() => {
                    self.connections[index].state = State::Sending(0);
                    self.send(index, ledger);
                }
                Ok(()) => {}
                Err(why) => self.fail(index, why, ledger),
            },
            // It was closed, or sends what nobody asked for.
            State::Free => self.close(index),
            State::Sending(_) | State::Waiting => {
                if events & readable as u32 != 0 {
                    self.receive(index, ledger);
                }
                if events & libc::EPOLLOUT as u32 != 0 {
                    self.send(index, ledger);
                }
            }
        }
    }

    fn receive(&mut self, index: usize, ledger: &mut Ledger) {
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else {
            return;
        };
        let got = match socket.receive(&mut self.buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => return self.fail(index, failing(&error, false), ledger),
        };
        let at = now();
        self.outcome.received_bytes += got as u64;
        let checks = &self.task.checks;
        let mut body = Taken {
            expected: self.task.expected.get(connection.request),
            kept: checks.contains.is_some().then_some(&mut connection.body),
        };
        if got == 0 {
            match connection.reader.end(&mut body) {
                Some(answer) => self.answered(index, answer, false, at, ledger),
                None => self.fail(index, Failing::Closed, ledger),
            }
            return;
        }
        match connection.reader.feed(&self.buffer[..got], &mut body) {
            Ok(Progress::More) => {}
            Ok(Progress::Done(used, answer)) => {
                let unasked = used < got;
                self.outcome.unasked += u64::from(unasked);
                // Whoever answers before the whole request was sent may read the rest as another.
                let whole = connection.state == State::Waiting;
                let reusable = whole && !unasked && answer.keeps_alive && self.task.keep_alive;
                self.answered(index, answer, reusable, at, ledger);
            }
            Err(malformed) => {
                let example = (Failing::Malformed, 0, malformed.0);
                self.outcome.example.get_or_insert(example);
                self.fail(index, Failing::Malformed, ledger);
            }
        }
    }

    fn answered(
        &mut self,
        index: usize,
        answer: Answer,
        reusable: bool,
        at: u64,
        ledger: &mut Ledger,
    ) {
        let connection = &mut self.connections[index];
        let checks = &self.task.checks;
        let outcome = if !checks.status_is_good(answer.status) {
            Err(Failing::Status)
        } else if checks.contains.is_some() && !checks.body_is_good(&connection.body) {
            Err(Failing::Body)
        } else {
            self.outcome.other_bodies += u64::from(!answer.same_body);
            Ok(())
        };
        if let Err(why) = outcome {
            self.outcome.example.get_or_insert((why, answer.status, ""));
        }
        if let Some(ticket) = connection.ticket.take() {
            ledger.done(ticket, at, outcome);
        }
        connection.free_since = at;
        if reusable {
            connection.state = State::Free;
        } else {
            self.close(index);
        }
        // The next request, if one is due, without a way through the queue.
        match ledger.take(at) {
            Some(intended) if self.free.is_empty() => self.begin(index, intended, ledger),
            Some(intended) => {
                self.free.push_back(index);
                let first = self.free.pop_front().unwrap_or(index);
                self.begin(first, intended, ledger);
            }
            None => self.free.push_back(index),
        }
    }

    /// The request on a connection has failed, and the connection with it.
    fn fail(&mut self, index: usize, why: Failing, ledger: &mut Ledger) {
        self.close(index);
        let at = now();
        let connection = &mut self.connections[index];
        if let Some(ticket) = connection.ticket.take() {
            ledger.done(ticket, at, Err(why));
            self.resting.push_back((at + REST, index));
        }
    }

    fn end_overdue(&mut self, at: u64, ledger: &mut Ledger) {
        let timeout = self.task.timeout;
        for index in 0..self.connections.len() {
            let ticket = self.connections[index].ticket;
            if ticket.is_some_and(|ticket| at.saturating_sub(ticket.sent) > timeout) {
                self.fail(index, Failing::TimedOut, ledger);
            }
        }
    }

    /// Closing a socket also takes it from the epoll set.
    fn close(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        connection.socket = None;
        connection.state = State::Closed;
        connection.reader.reset();
    }
}
