//! What became of each request? Every one that was scheduled is in the books, whatever happens.

use std::collections::VecDeque;

use crate::latencies::Latencies;
use crate::schedule::Schedule;

/// Seconds that get a histogram of their own; later ones share the last.
const MOST_SECONDS: usize = 3600;

/// Why a request has no good answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failing {
    /// No connection could be made.
    Connect,
    /// This machine had no port left for another connection: no fault of the server's.
    NoPort,
    /// A connection was made, but no TLS or no version of HTTP agreed on.
    Handshake,
    /// The connection was reset.
    Reset,
    /// The server closed the connection before its answer was complete.
    Closed,
    /// No complete answer within the time-out.
    TimedOut,
    /// What came is no answer in HTTP.
    Malformed,
    /// Another status than was asked for.
    Status,
    /// Another body than was asked for.
    Body,
}

impl Failing {
    /// All, in the order in which they are counted.
    pub const ALL: [Failing; 9] = [
        Failing::Connect,
        Failing::NoPort,
        Failing::Handshake,
        Failing::Reset,
        Failing::Closed,
        Failing::TimedOut,
        Failing::Malformed,
        Failing::Status,
        Failing::Body,
    ];

    /// As it is written in records.
    pub fn name(self) -> &'static str {
        match self {
            Failing::Connect => "connect",
            Failing::NoPort => "no_port",
            Failing::Handshake => "handshake",
            Failing::Reset => "reset",
            Failing::Closed => "closed",
            Failing::TimedOut => "timed_out",
            Failing::Malformed => "malformed",
            Failing::Status => "status",
            Failing::Body => "body",
        }
    }
}

/// How requests follow each other.
#[derive(Debug, Clone)]
pub enum Pace {
    /// Each connection sends its next request when it has its answer.
    Closed,
    /// Requests have their moments, whatever the server does.
    Open(Schedule),
}

/// The latencies of the requests that were to be sent in one second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Second {
    /// From the intended moment to the whole answer. Good answers only.
    pub response: Latencies,
    /// From sending to the whole answer. Good answers only.
    pub service: Latencies,
    /// How late the generator was itself, the sum in nanoseconds.
    pub lag_sum: u64,
    /// Requests that were to be sent.
    pub scheduled: u64,
    /// Requests that failed.
    pub failed: u64,
}

impl Second {
    /// Adds what happened in another one.
    pub fn add(&mut self, other: &Second) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lag_sum += other.lag_sum;
        self.scheduled += other.scheduled;
        self.failed += other.failed;
    }
}

/// A request that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// When it should have been sent.
    pub intended: u64,
    /// When it was.
    pub sent: u64,
}

/// The books of one step: pure, the caller has the clock.
#[derive(Debug)]
pub struct Ledger {
    pace: Pace,
    begin: u64,
    end: u64,
    /// Intended moments of requests that wait for a connection, oldest first.
    backlog: VecDeque<u64>,
    in_flight: u64,
    /// Requests x nanoseconds that requests were due or under way, up to `changed`.
    area: f64,
    changed: u64,
    totals: Totals,
}

/// What a step comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Requests that were to be sent.
    pub scheduled: u64,
    /// Those with an end: a good answer, a bad one, or none within the time-out.
    pub completed: u64,
    /// Those given up when draining ended.
    pub dropped: u64,
    /// Good answers before the step's time was over.
    pub answered_in_time: u64,
    /// Completed with a failure, by [`Failing::ALL`].
    pub failed: [u64; Failing::ALL.len()],
    /// Requests that had no free connection at their moment.
    pub waited: u64,
    /// Most requests that waited for a connection at a time.
    pub most_waiting: usize,
    /// Sum of the response times of all completed, nanoseconds.
    pub response_sum: f64,
    /// The same, each cut off at the end of the step's time.
    pub response_sum_in_time: f64,
    /// Requests due or under way x nanoseconds, from the begin to the last end.
    pub area: f64,
    /// Length of the step, without draining, in nanoseconds.
    pub length: u64,
    /// Until the last request had its end, nanoseconds.
    pub lasted: u64,
    /// Sent less intended, or less the moment at which a connection became free if that is later; in
    /// a closed loop always the latter.
    pub lag: Latencies,
    /// By the second of the intended moment.
    pub seconds: Vec<Second>,
}

impl Totals {
    /// All that failed.
    pub fn errors(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Of good answers, from the intended moment.
    pub fn response(&self) -> Latencies {
        self.merged(|second| &second.response)
    }

    /// Of good answers, from sending.
    pub fn service(&self) -> Latencies {
        self.merged(|second| &second.service)
    }

    fn merged(&self, which: impl Fn(&Second) -> &Latencies) -> Latencies {
        let mut all = Latencies::new();
        self.seconds
            .iter()
            .for_each(|second| all.add(which(second)));
        all
    }

    /// Good answers per second of the step's time: who refuses at once is not quick.
    pub fn requests_per_second(&self) -> f64 {
        self.answered_in_time as f64 / (self.length.max(1) as f64 / 1e9)
    }

    /// Little's law: throughput x mean response time, divided by the requests that were under way.
    /// 1 if the books are right and the client left no connection idle. With `connections`, those of
    /// a closed loop, all of which should be busy all the time; without, the mean number that was
    /// due or under way. `None` if nothing was completed.
    pub fn little(&self, connections: Option<u64>) -> Option<f64> {
        if self.completed == 0 {
            return None;
        }
        match connections {
            Some(count) => {
                let busy = count as f64 * self.length as f64;
                (busy > 0.0).then(|| self.response_sum_in_time / busy)
            }
            // Throughput and mean in flight are both over `lasted`, which cancels out.
            None => (self.area > 0.0).then(|| self.response_sum / self.area),
        }
    }

    /// The sum of this and another step of the same kind.
    pub fn add(&mut self, other: &Totals) {
        self.add_counts(other);
        self.most_waiting = self.most_waiting.max(other.most_waiting);
        self.length += other.length;
        self.lasted += other.lasted;
        self.seconds.extend(other.seconds.iter().cloned());
    }

    /// The sum of this and what another client did in the same time.
    pub fn beside(&mut self, other: &Totals) {
        self.add_counts(other);
        self.most_waiting += other.most_waiting;
        self.length = self.length.max(other.length);
        self.lasted = self.lasted.max(other.lasted);
        let seconds = self.seconds.len().max(other.seconds.len());
        self.seconds.resize_with(seconds, Second::default);
        for (sum, more) in self.seconds.iter_mut().zip(&other.seconds) {
            sum.add(more);
        }
    }

    fn add_counts(&mut self, other: &Totals) {
        self.scheduled += other.scheduled;
        self.completed += other.completed;
        self.dropped += other.dropped;
        self.answered_in_time += other.answered_in_time;
        for (sum, more) in self.failed.iter_mut().zip(other.failed) {
            *sum += more;
        }
        self.waited += other.waited;
        self.response_sum += other.response_sum;
        self.response_sum_in_time += other.response_sum_in_time;
        self.area += other.area;
        self.lag.add(&other.lag);
    }
}

impl Ledger {
    /// The books of a step from `begin` to `end`.
    pub fn new(pace: Pace, begin: u64, end: u64) -> Ledger {
        let length = end.saturating_sub(begin);
        let seconds = length.div_ceil(1_000_000_000).clamp(1, MOST_SECONDS as u64);
        Ledger {
            pace,
            begin,
            end,
            backlog: VecDeque::with_capacity(1024),
            in_flight: 0,
            area: 0.0,
            changed: begin,
            totals: Totals {
                length,
                seconds: vec![Second::default(); seconds as usize],
                ..Totals::default()
            },
        }
    }

    /// When the loop should be asked again though nothing has happened: the next intended moment.
    pub fn next_due(&self) -> Option<u64> {
        match &self.pace {
            Pace::Closed => None,
            Pace::Open(schedule) => schedule.peek(),
        }
    }

    /// Puts what is due by now into the backlog.
    pub fn advance(&mut self, now: u64) {
        let Pace::Open(schedule) = &mut self.pace else {
            return;
        };
        let (before, mut late) = (self.backlog.len(), 0.0);
        while let Some(at) = schedule.due(now) {
            self.backlog.push_back(at);
            second_of(&mut self.totals, self.begin, at).scheduled += 1;
            late += now.saturating_sub(at) as f64;
        }
        let more = (self.backlog.len() - before) as u64;
        if more > 0 {
            self.account(now);
            self.totals.scheduled += more;
            // They were due since their moment, whenever that is noticed.
            self.area += late;
        }
    }

    /// The request that a free connection should send now: its intended moment.
    pub fn take(&mut self, now: u64) -> Option<u64> {
        match self.pace {
            Pace::Closed if now < self.end => {
                self.account(now);
                self.totals.scheduled += 1;
                second_of(&mut self.totals, self.begin, now).scheduled += 1;
                self.in_flight += 1;
                Some(now)
            }
            Pace::Closed => None,
            Pace::Open(_) => {
                let intended = self.backlog.pop_front()?;
                self.in_flight += 1;
                Some(intended)
            }
        }
    }

    /// What is left in the backlog has no free connection.
    pub fn note_waiting(&mut self) {
        self.totals.most_waiting = self.totals.most_waiting.max(self.backlog.len());
    }

    /// A request was sent at `sent`, on a connection that was free since `free_since`.
    pub fn sent(&mut self, intended: u64, sent: u64, free_since: u64) -> Ticket {
        let due = match self.pace {
            // When its connection had the answer before.
            Pace::Closed => free_since,
            Pace::Open(_) => {
                self.totals.waited += u64::from(free_since > intended);
                intended.max(free_since)
            }
        };
        let lag = sent.saturating_sub(due);
        self.totals.lag.record(lag);
        second_of(&mut self.totals, self.begin, intended).lag_sum += lag;
        Ticket { intended, sent }
    }

    /// A request has its end.
    pub fn done(&mut self, ticket: Ticket, now: u64, outcome: Result<(), Failing>) {
        self.account(now);
        self.in_flight -= 1;
        let totals = &mut self.totals;
        totals.completed += 1;
        totals.answered_in_time += u64::from(now <= self.end && outcome.is_ok());
        let response = now.saturating_sub(ticket.intended);
        totals.response_sum += response as f64;
        let in_time = now.min(self.end).saturating_sub(ticket.intended);
        totals.response_sum_in_time += in_time as f64;
        totals.lasted = totals.lasted.max(now.saturating_sub(self.begin));
        let second = second_of(totals, self.begin, ticket.intended);
        match outcome {
            Ok(()) => {
                second.response.record(response);
                second.service.record(now.saturating_sub(ticket.sent));
            }
            Err(failing) => {
                second.failed += 1;
                totals.failed[failing as usize] += 1;
            }
        }
    }

    /// Whether no request is due, under way or still to come.
    pub fn is_over(&self, now: u64) -> bool {
        let none_to_come = match &self.pace {
            Pace::Closed => now >= self.end,
            Pace::Open(schedule) => schedule.peek().is_none(),
        };
        none_to_come && self.backlog.is_empty() && self.in_flight == 0
    }

    /// Requests that have their end.
    pub fn completed(&self) -> u64 {
        self.totals.completed
    }

    /// Those of them that failed.
    pub fn failed(&self) -> u64 {
        self.totals.errors()
    }

    /// Nothing is sent any more: what has no end by now is dropped, what should have been sent by
    /// `now` with it.
    pub fn close(mut self, now: u64) -> Totals {
        self.advance(now);
        self.account(now);
        self.totals.dropped += self.backlog.len() as u64 + self.in_flight;
        self.totals.area = self.area;
        self.totals
    }

    fn account(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.changed);
        let outstanding = self.totals.scheduled - self.totals.completed;
        self.area += outstanding as f64 * elapsed as f64;
        self.changed = self.changed.max(now);
    }
}

/// The second in which a request was to be sent.
fn second_of(totals: &mut Totals, begin: u64, intended: u64) -> &mut Second {
    let second = intended.saturating_sub(begin) / 1_000_000_000;
    let last = totals.seconds.len() - 1;
    &mut totals.seconds[(second as usize).min(last)]
}

#[cfg(test)]
mod tests;
