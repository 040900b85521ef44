//! Many connections to one server, on one thread: sends by the books, reads what comes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::{now, thread_cpu};
use crate::desk::Desk;
use crate::epoll::Epoll;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::ledger::{Failing, Pace};
use crate::link::{Link, Making, Refusal, Stage};
use crate::punctual::Ahead;
use crate::request::Request;
use crate::schedule::{Arrivals, Rate, Schedule};
use crate::task::{Outcome, Task};

/// How often overdue requests and the wish to stop are looked for, in nanoseconds.
const LOOK_EVERY: u64 = 20_000_000;
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

/// The pace of an open loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// Requests per second.
    pub rate: Rate,
    /// Their distances.
    pub arrivals: Arrivals,
    /// The part of a distance by which the moments are later: clients that share a rate take turns.
    pub turn: f64,
}

impl Open {
    /// One client alone, at a rate that stays as it is.
    pub fn at(rate: f64, arrivals: Arrivals) -> Open {
        Open {
            rate: Rate::constant(rate),
            arrivals,
            turn: 0.0,
        }
    }
}

/// How a step is paced, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Without, a closed loop.
    pub open: Option<Open>,
    /// Nanoseconds in which requests are begun.
    pub length: u64,
    /// Nanoseconds after that in which answers are waited for.
    pub drain: u64,
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

/// Who speaks the protocol.
enum Wire {
    One(Http1),
    Two(Http2),
}

/// See the module.
pub struct Client {
    desk: Desk,
    wire: Wire,
    epoll: Epoll,
    connections: usize,
    ahead: Ahead,
    /// It may keep its CPU busy for some microseconds before a request is due. The kernel wakes a
    /// thread 20 to 50 µs late.
    pub spins: bool,
    /// How long it took to make the connections, over all steps and before them.
    pub making: Making,
}

impl Client {
    /// A client without sockets yet.
    ///
    /// # Errors
    /// When the system has no means left for it.
    pub fn new(task: Arc<Task>, connections: usize) -> io::Result<Client> {
        let (places, wire) = match task.requests.first() {
            Some(Request::Http2(_)) => (
                connections * task.streams,
                Wire::Two(Http2::new(&task, connections)),
            ),
            _ => (connections, Wire::One(Http1::new(&task, connections))),
        };
        Ok(Client {
            desk: Desk::new(task, places),
            wire,
            epoll: Epoll::new()?,
            connections,
            ahead: Ahead::new(),
            spins: true,
            making: Making::default(),
        })
    }

    /// Makes all connections, some at a time, so that no step begins with them. What can't be
    /// connected is tried again when it is to send something.
    ///
    /// # Errors
    /// When waiting itself fails.
    pub fn connect(&mut self, stop: &AtomicBool) -> io::Result<Result<(), Failing>> {
        if !self.desk.task.keep_alive {
            return Ok(Ok(()));
        }
        let deadline = now() + self.desk.task.timeout;
        self.desk.unmade = None;
        for first in (0..self.connections).step_by(AT_ONCE) {
            let group = first..(first + AT_ONCE).min(self.connections);
            if first > 0 {
                std::thread::sleep(PAUSE);
            }
            for index in group.clone() {
                if let Err((why, _)) = self.wire.begin_connect(index, &self.desk, &self.epoll) {
                    self.desk.unmade.get_or_insert(why);
                }
            }
            while group.clone().any(|index| self.wire.is_being_made(index))
                && now() < deadline
                && !stop.load(Ordering::Relaxed)
            {
                self.wait(LOOK_EVERY)?;
            }
            // Those that take too long are begun anew later.
            for index in group {
                if self.wire.is_being_made(index) {
                    self.wire.link(index).close();
                    self.desk.unmade.get_or_insert(Failing::TimedOut);
                }
            }
        }
        Ok(self.desk.unmade.map_or(Ok(()), Err))
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
        self.desk.open(pace, begin, end);
        let (mut next_look, mut next_tick) = (begin + LOOK_EVERY, begin + 1_000_000_000);
        let (mut measured, mut spun) = (None, 0);
        loop {
            let at = now();
            self.desk.ledger.advance(at);
            self.desk.wake_rested(at);
            self.send_due();
            if at >= end && measured.is_none() {
                measured = Some((used(spun), at - begin));
            }
            if at >= next_look {
                self.end_overdue(at);
                next_look = at + LOOK_EVERY;
                if stop.load(Ordering::Relaxed) {
                    self.desk.outcome.stopped = true;
                    break;
                }
            }
            if at >= next_tick {
                tick(Tick {
                    elapsed: at - begin,
                    completed: self.desk.ledger.completed(),
                    failed: self.desk.ledger.failed(),
                });
                next_tick += 1_000_000_000;
            }
            if self.desk.ledger.is_over(at) || at >= end + step.drain {
                break;
            }
            let due = self.desk.ledger.next_due().unwrap_or(u64::MAX);
            let ends = if at < end { end } else { end + step.drain };
            let rested = self.desk.rested_from().unwrap_or(u64::MAX);
            let until = next_look.min(ends).min(rested);
            match due < until && self.spins {
                true => spun += self.wait_for_due(due)?,
                false => {
                    self.wait(due.min(until).saturating_sub(now()))?;
                }
            }
        }
        let lasted = now() - begin;
        let (mut outcome, under_way) = self.desk.close();
        outcome.cpu_with_drain = used(spun);
        (outcome.cpu, outcome.wall) = measured.unwrap_or((outcome.cpu_with_drain, lasted));
        outcome.most_streams = self.wire.most_streams();
        for place in under_way {
            self.wire.forget(place);
        }
        Ok(outcome)
    }

    /// Waits for events until a request is due, for which it must be awake; returns the nanoseconds
    /// that it spun for that. Events are taken as they come.
    fn wait_for_due(&mut self, due: u64) -> io::Result<u64> {
        let at = now();
        let sleeps = due.saturating_sub(at).saturating_sub(self.ahead.ns());
        if sleeps > 0 {
            if self.wait(sleeps)? == 0 {
                self.ahead.learn(now().saturating_sub(at + sleeps));
            }
            return Ok(0);
        }
        // What is done for events is work, and no spinning.
        let mut last = at;
        while last < due && self.wait(0)? == 0 {
            last = now();
        }
        Ok(last - at)
    }

    /// Waits for events, at most so many nanoseconds, and does what follows from them; how many
    /// there were.
    fn wait(&mut self, wait: u64) -> io::Result<usize> {
        let count = self.epoll.wait(wait)?;
        for event in 0..count {
            let (number, events) = self.epoll.event(event);
            let (desk, epoll, making) = (&mut self.desk, &self.epoll, &mut self.making);
            match &mut self.wire {
                Wire::One(wire) => wire.on_event(number, events, desk, epoll, making),
                Wire::Two(wire) => wire.on_event(number, desk, epoll, making),
            }
            self.send_due();
        }
        Ok(count)
    }

    /// Sends what is due on the places that are free.
    fn send_due(&mut self) {
        let (desk, epoll) = (&mut self.desk, &self.epoll);
        loop {
            while let Some(place) = desk.next() {
                match &mut self.wire {
                    Wire::One(wire) => wire.begin(place, desk, epoll),
                    Wire::Two(wire) => wire.begin(place, desk, epoll),
                }
            }
            let freed = match &mut self.wire {
                Wire::One(_) => false,
                Wire::Two(wire) => wire.flush(desk, epoll),
            };
            if !freed {
                break;
            }
        }
        desk.note_waiting();
    }

    fn end_overdue(&mut self, at: u64) {
        for place in 0..self.desk.places.len() {
            if self.desk.is_overdue(place, at) {
                self.wire.forget(place);
                self.desk.failed(place, Failing::TimedOut, "");
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

    fn begin_connect(&mut self, index: usize, desk: &Desk, epoll: &Epoll) -> Result<(), Refusal> {
        match self.stage(index) {
            Stage::Closed => self.link(index).begin(&desk.task, epoll, index),
            _ => Ok(()),
        }
    }

    fn is_being_made(&mut self, connection: usize) -> bool {
        matches!(self.stage(connection), Stage::Connecting | Stage::Securing)
    }

    /// What was asked for on a place isn't wanted any more.
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
