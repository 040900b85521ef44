//! Decides which request is sent next and on which free slot, and records its outcome.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::clock::now;
use crate::ledger::{Failing, Ledger, Pace, Ticket};
use crate::request::Request;
use crate::request::Taken;
use crate::response::Answer;
use crate::task::{Outcome, Task};

/// How long a slot rests after a failure: a server that refuses must not get a million requests per second,
/// or keep the loop from checking the time.
const REST: u64 = 1_000_000;

/// A slot for one concurrent request: a connection of HTTP/1.1, a stream of HTTP/2.
#[derive(Default)]
pub(crate) struct Place {
    /// The outstanding request.
    pub(crate) ticket: Option<Ticket>,
    /// Index of the request that was sent last, or is being sent.
    pub(crate) request: usize,
    /// When the slot became idle.
    free_since: u64,
    /// The beginning of the body, if it is checked.
    body: Vec<u8>,
}

/// State shared by all slots.
pub(crate) struct Dispatcher {
    pub(crate) task: Arc<Task>,
    pub(crate) places: Vec<Place>,
    free: VecDeque<usize>,
    /// Slots whose last request failed, with the time from which they may be used again.
    resting: VecDeque<(u64, usize)>,
    next_request: usize,
    /// Why a connection can't be made, if no request was waiting for it.
    pub(crate) unmade: Option<Failing>,
    pub(crate) ledger: Ledger,
    pub(crate) outcome: Outcome,
}

impl Dispatcher {
    pub(crate) fn new(task: Arc<Task>, places: usize) -> Dispatcher {
        Dispatcher {
            task,
            places: (0..places).map(|_| Place::default()).collect(),
            free: (0..places).collect(),
            resting: VecDeque::with_capacity(places),
            next_request: 0,
            unmade: None,
            ledger: Ledger::new(Pace::Closed, 0, 0),
            outcome: Outcome::default(),
        }
    }

    /// Begins a step.
    pub(crate) fn open(&mut self, pace: Pace, begin: u64, end: u64) {
        self.outcome = Outcome::default();
        self.ledger = Ledger::new(pace, begin, end);
        for place in &mut self.places {
            place.free_since = begin;
        }
    }

    /// Returns the slot on which to send a request now, if one is due and a slot is free.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let index = *self.free.front()?;
        let at = now();
        let intended = self.ledger.take(at)?;
        self.free.pop_front();
        let place = &mut self.places[index];
        place.request = self.next_request;
        place.ticket = Some(self.ledger.sent(intended, at, place.free_since));
        self.next_request = (self.next_request + 1) % self.task.requests.len();
        Some(index)
    }

    /// Returns the request to send on a slot.
    pub(crate) fn request(&self, index: usize) -> &Request {
        &self.task.requests[self.places[index].request]
    }

    /// Notes that all slots are taken.
    pub(crate) fn note_waiting(&mut self) {
        if self.free.is_empty() {
            self.ledger.note_waiting();
        }
    }

    /// Returns the receiver for the body of a slot's response.
    pub(crate) fn body(&mut self, index: usize) -> Taken<'_> {
        let place = &mut self.places[index];
        Taken {
            expected: self.task.expected.get(place.request),
            kept: self
                .task
                .checks
                .contains
                .is_some()
                .then_some(&mut place.body),
        }
    }

    /// Notes that a slot has received its whole response and is free.
    pub(crate) fn answered(&mut self, index: usize, answer: Answer, at: u64) {
        let place = &mut self.places[index];
        let checks = &self.task.checks;
        let outcome = if !checks.status_is_good(answer.status) {
            Err(Failing::Status)
        } else if checks.contains.is_some() && !checks.body_is_good(&place.body) {
            Err(Failing::Body)
        } else {
            self.outcome.other_bodies += u64::from(!answer.same_body);
            Ok(())
        };
        if let Err(why) = outcome {
            self.outcome.example.get_or_insert((why, answer.status, ""));
        }
        if let Some(ticket) = place.ticket.take() {
            self.ledger.done(ticket, at, outcome);
        }
        place.free_since = at;
        self.free.push_back(index);
    }

    /// Notes that the request on a slot, if there is one, has failed.
    pub(crate) fn failed(&mut self, index: usize, why: Failing, text: &'static str) {
        let Some(ticket) = self.places[index].ticket.take() else {
            self.unmade.get_or_insert(why);
            return;
        };
        if !text.is_empty() {
            self.outcome.example.get_or_insert((why, 0, text));
        }
        let at = now();
        self.ledger.done(ticket, at, Err(why));
        self.resting.push_back((at + REST, index));
    }

    /// Returns whether the response of a slot is overdue.
    pub(crate) fn is_overdue(&self, index: usize, at: u64) -> bool {
        let ticket = self.places[index].ticket;
        ticket.is_some_and(|ticket| at.saturating_sub(ticket.sent) > self.task.timeout)
    }

    /// Returns when the next resting slot may be used again.
    pub(crate) fn rested_from(&self) -> Option<u64> {
        self.resting.front().map(|(from, _)| *from)
    }

    pub(crate) fn wake_rested(&mut self, at: u64) {
        while self.rested_from().is_some_and(|from| from <= at) {
            if let Some((_, index)) = self.resting.pop_front() {
                self.places[index].free_since = at;
                self.free.push_back(index);
            }
        }
    }

    /// Ends a step. All slots become free; returns the slots that had an outstanding request, whose response
    /// must not be received in the next step.
    pub(crate) fn close(&mut self) -> (Outcome, Vec<usize>) {
        let mut outcome = std::mem::take(&mut self.outcome);
        let ledger = std::mem::replace(&mut self.ledger, Ledger::new(Pace::Closed, 0, 0));
        outcome.totals = ledger.close(now());
        self.free
            .extend(self.resting.drain(..).map(|(_, index)| index));
        let mut under_way = Vec::new();
        for (index, place) in self.places.iter_mut().enumerate() {
            if place.ticket.take().is_some() {
                self.free.push_back(index);
                under_way.push(index);
            }
        }
        (outcome, under_way)
    }
}
