//! Many connections to one server, on one thread: sends requests as scheduled and reads responses.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::{now, thread_cpu};
use crate::dispatcher::Dispatcher;
use crate::epoll::Epoll;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::ledger::{Failing, Pace};
use crate::link::{Link, Making, Refusal, Stage};
use crate::punctual::Ahead;
use crate::request::Request;
use crate::schedule::{Arrivals, Rate, Schedule};
use crate::task::{Outcome, Task};

/// How often to check for overdue requests and a stop request, in nanoseconds.
const LOOK_EVERY: u64 = 20_000_000;
/// Connections established concurrently before a step. If the backlog is full (5 in Python's `http.server`),
/// the kernel drops connection attempts, which are retried after a second. With 64 at a time this took 2 to 7
/// s there.
const AT_ONCE: usize = 4;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(1);

/// Raises this process's descriptor limit to `wanted`, or as far as allowed. Programs that it starts later
/// inherit the limit.
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

/// The pace of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// Requests per second.
    pub rate: Rate,
    /// The distribution of the intervals between requests.
    pub arrivals: Arrivals,
    /// Offset of the requests, as a fraction of an interval: clients that share a rate take turns.
    pub turn: f64,
}

impl Open {
    /// Returns the pace of a single client at a constant rate.
    pub fn at(rate: f64, arrivals: Arrivals) -> Open {
        Open {
            rate: Rate::constant(rate),
            arrivals,
            turn: 0.0,
        }
    }
}

/// The pace and the length of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The pace of an open loop; `None` for a closed loop.
    pub open: Option<Open>,
    /// Nanoseconds during which requests are started.
    pub length: u64,
    /// Nanoseconds after that during which responses are awaited.
    pub drain: u64,
}

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// Nanoseconds since the step began.
    pub elapsed: u64,
    /// Requests completed so far.
    pub completed: u64,
    /// Requests failed so far.
    pub failed: u64,
}

/// The protocol implementation.
enum Wire {
    One(Http1),
    Two(Http2),
}

/// The load client; see the module.
pub struct Client {
    dispatcher: Dispatcher,
    wire: Wire,
    epoll: Epoll,
    connections: usize,
    ahead: Ahead,
    /// Whether the client may keep its CPU busy for some microseconds before a request is due. The kernel
    /// wakes a thread 20 to 50 µs late.
    pub spins: bool,
    /// Time to establish the connections, before and during all steps.
    pub making: Making,
}

impl Client {
    /// Creates a client without sockets.
    ///
    /// # Errors
    /// If the system lacks the resources.
    pub fn new(task: Arc<Task>, connections: usize) -> io::Result<Client> {
        let (places, wire) = match task.requests.first() {
            Some(Request::Http2(_)) => (
                connections * task.streams,
                Wire::Two(Http2::new(&task, connections)),
            ),
            _ => (connections, Wire::One(Http1::new(&task, connections))),
        };
        Ok(Client {
            dispatcher: Dispatcher::new(task, places),
            wire,
            epoll: Epoll::new()?,
            connections,
            ahead: Ahead::new(),
            spins: true,
            making: Making::default(),
        })
    }

    /// Establishes all connections, a few at a time, so that no step has to. Failed connections are retried
    /// when they are needed.
    ///
    /// # Errors
    /// If waiting itself fails.
    pub fn connect(&mut self, stop: &AtomicBool) -> io::Result<Result<(), Failing>> {
        if !self.dispatcher.task.keep_alive {
            return Ok(Ok(()));
        }
        let deadline = now() + self.dispatcher.task.timeout;
        self.dispatcher.unmade = None;
        for first in (0..self.connections).step_by(AT_ONCE) {
            let group = first..(first + AT_ONCE).min(self.connections);
            if first > 0 {
                std::thread::sleep(PAUSE);
            }
            for index in group.clone() {
                if let Err((why, _)) = self
                    .wire
                    .begin_connect(index, &self.dispatcher, &self.epoll)
                {
                    self.dispatcher.unmade.get_or_insert(why);
                }
            }
            while group.clone().any(|index| self.wire.is_being_made(index))
                && now() < deadline
                && !stop.load(Ordering::Relaxed)
            {
                self.wait(LOOK_EVERY)?;
            }
            // Connections that take too long are retried later.
            for index in group {
                if self.wire.is_being_made(index) {
                    self.wire.link(index).close();
                    self.dispatcher.unmade.get_or_insert(Failing::TimedOut);
                }
            }
        }
        Ok(self.dispatcher.unmade.map_or(Ok(()), Err))
    }

    /// Runs one step. Allocates nothing, except for chunked responses and backlogs.
    ///
    /// # Errors
    /// If waiting itself fails.
    pub fn run(
        &mut self,
        step: &Step,
        stop: &AtomicBool,
        tick: &mut dyn FnMut(Tick),
    ) -> io::Result<Outcome> {
        let (begin_cpu, begin) = (thread_cpu(), now());
        let end = begin + step.length;
        let used = |spun| (thread_cpu() - begin_cpu).saturating_sub(spun);
        let pace = match step.open {
            None => Pace::Closed,
            Some(Open {
                rate,
                arrivals,
                turn,
            }) => Pace::Open(Schedule::growing(rate, turn, begin, end, arrivals)),
        };
        self.dispatcher.open(pace, begin, end);
        let (mut next_look, mut next_tick) = (begin + LOOK_EVERY, begin + 1_000_000_000);
        let (mut measured, mut spun) = (None, 0);
        loop {
            let at = now();
            self.dispatcher.ledger.advance(at);
            self.dispatcher.wake_rested(at);
            self.send_due();
            if at >= end && measured.is_none() {
                measured = Some((used(spun), at - begin));
            }
            if at >= next_look {
                self.end_overdue(at);
                next_look = at + LOOK_EVERY;
                if stop.load(Ordering::Relaxed) {
                    self.dispatcher.outcome.stopped = true;
                    break;
                }
            }
            if at >= next_tick {
                tick(Tick {
                    elapsed: at - begin,
                    completed: self.dispatcher.ledger.completed(),
                    failed: self.dispatcher.ledger.failed(),
                });
                next_tick += 1_000_000_000;
            }
            if self.dispatcher.ledger.is_over(at) || at >= end + step.drain {
                break;
            }
            let due = self.dispatcher.ledger.next_due().unwrap_or(u64::MAX);
            let ends = if at < end { end } else { end + step.drain };
            let rested = self.dispatcher.rested_from().unwrap_or(u64::MAX);
            let until = next_look.min(ends).min(rested);
            match due < until && self.spins {
                true => spun += self.wait_for_due(due)?,
                false => {
                    self.wait(due.min(until).saturating_sub(now()))?;
                }
            }
        }
        let lasted = now() - begin;
        let (mut outcome, under_way) = self.dispatcher.close();
        outcome.cpu_with_drain = used(spun);
        (outcome.cpu, outcome.wall) = measured.unwrap_or((outcome.cpu_with_drain, lasted));
        outcome.most_streams = self.wire.most_streams();
        for place in under_way {
            self.wire.forget(place);
        }
        Ok(outcome)
    }

    /// Waits for events until a request is due, spinning at the end; returns the nanoseconds spent spinning.
    /// Events are handled as they come.
    fn wait_for_due(&mut self, due: u64) -> io::Result<u64> {
        let at = now();
        let sleeps = due.saturating_sub(at).saturating_sub(self.ahead.ns());
        if sleeps > 0 {
            if self.wait(sleeps)? == 0 {
                self.ahead.learn(now().saturating_sub(at + sleeps));
            }
            return Ok(0);
        }
        // Handling events is work, not spinning.
        let mut last = at;
        while last < due && self.wait(0)? == 0 {
            last = now();
        }
        Ok(last - at)
    }

    /// Waits for events for at most this many nanoseconds and handles them; returns their number.
    fn wait(&mut self, wait: u64) -> io::Result<usize> {
        let count = self.epoll.wait(wait)?;
        for event in 0..count {
            let (number, events) = self.epoll.event(event);
            let (dispatcher, epoll, making) = (&mut self.dispatcher, &self.epoll, &mut self.making);
            match &mut self.wire {
                Wire::One(wire) => wire.on_event(number, events, dispatcher, epoll, making),
                Wire::Two(wire) => wire.on_event(number, dispatcher, epoll, making),
            }
            self.send_due();
        }
        Ok(count)
    }

    /// Sends the due requests on the free slots.
    fn send_due(&mut self) {
        let (dispatcher, epoll) = (&mut self.dispatcher, &self.epoll);
        loop {
            while let Some(place) = dispatcher.next() {
                match &mut self.wire {
                    Wire::One(wire) => wire.begin(place, dispatcher, epoll),
                    Wire::Two(wire) => wire.begin(place, dispatcher, epoll),
                }
            }
            let freed = match &mut self.wire {
                Wire::One(_) => false,
                Wire::Two(wire) => wire.flush(dispatcher, epoll),
            };
            if !freed {
                break;
            }
        }
        dispatcher.note_waiting();
    }

    fn end_overdue(&mut self, at: u64) {
        for place in 0..self.dispatcher.places.len() {
            if self.dispatcher.is_overdue(place, at) {
                self.wire.forget(place);
                self.dispatcher.failed(place, Failing::TimedOut, "");
            }
        }
    }
}

impl Wire {
    fn link(&mut self, connection: usize) -> &mut Link {
        match self {
            Wire::One(wire) => wire.link(connection),
            Wire::Two(wire) => wire.link(connection),
        }
    }

    fn stage(&mut self, connection: usize) -> Stage {
        self.link(connection).stage()
    }

    fn begin_connect(
        &mut self,
        index: usize,
        dispatcher: &Dispatcher,
        epoll: &Epoll,
    ) -> Result<(), Refusal> {
        match self.stage(index) {
            Stage::Closed => self.link(index).begin(&dispatcher.task, epoll, index),
            _ => Ok(()),
        }
    }

    fn is_being_made(&mut self, connection: usize) -> bool {
        matches!(self.stage(connection), Stage::Connecting | Stage::Securing)
    }

    /// Drops the outstanding request of a slot.
    fn forget(&mut self, place: usize) {
        match self {
            Wire::One(wire) => wire.close(place),
            Wire::Two(wire) => wire.forget(place),
        }
    }

    fn most_streams(&self) -> Option<usize> {
        match self {
            Wire::One(_) => None,
            Wire::Two(wire) => wire.most_streams(),
        }
    }
}
