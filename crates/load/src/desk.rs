//! Which request is sent next, on which of the free places, and what became of it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::clock::now;
use crate::ledger::{Failing, Ledger, Pace, Ticket};
use crate::request::Request;
use crate::request::Taken;
use crate::response::Answer;
use crate::task::{Outcome, Task};

/// How long a place rests after a failure: a server that refuses must not be asked a million times
/// a second, nor keep the loop from looking at the time.
const REST: u64 = 1_000_000;

/// Room for one request at a time: a connection of HTTP/1.1, a stream of HTTP/2.
#[derive(Default)]
pub(crate) struct Place {
    /// The request under way.
    pub(crate) ticket: Option<Ticket>,
    /// Which request was sent last, or is being sent.
    pub(crate) request: usize,
    /// Since when it has nothing to do.
    free_since: u64,
    /// The beginning of the body, where it is checked.
    body: Vec<u8>,
}

/// What all places share.
pub(crate) struct Desk {
    pub(crate) task: Arc<Task>,
    pub(crate) places: Vec<Place>,
    free: VecDeque<usize>,
    /// Those whose last request failed, with the moment from which they may be used again.
    resting: VecDeque<(u64, usize)>,
    next_request: usize,
    /// Why a connection can't be made that no request was waiting for.
    pub(crate) unmade: Option<Failing>,
    pub(crate) ledger: Ledger,
    pub(crate) outcome: Outcome,
}

impl Desk {
    pub(crate) fn new(task: Arc<Task>, places: usize) -> Desk {
        Desk {
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

    /// The place on which a request is to be sent now, if one is due and a place is free.
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

    /// What is sent on a place.
    pub(crate) fn request(&self, index: usize) -> &Request {
        &self.task.requests[self.places[index].request]
    }

    /// All places are taken.
    pub(crate) fn note_waiting(&mut self) {
        if self.free.is_empty() {
            self.ledger.note_waiting();
        }
    }

    /// Takes the body of the answer that comes on a place.
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

    /// A place has its whole answer, and is free.
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

    /// The request on a place, if there is one, has failed.
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

    /// Whether the request on a place should have its answer by now.
    pub(crate) fn is_overdue(&self, index: usize, at: u64) -> bool {
        let ticket = self.places[index].ticket;
        ticket.is_some_and(|ticket| at.saturating_sub(ticket.sent) > self.task.timeout)
    }

    /// When the next place has rested.
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

    /// Ends a step. All places are free; those are returned that had a request under way, whose
    /// answer must not come in the next step.
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
