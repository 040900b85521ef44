//! Records the outcome of each request. Every scheduled request is in the ledger, whatever happens.

use std::collections::VecDeque;

use crate::latencies::Latencies;
use crate::schedule::Schedule;

/// Number of seconds with a separate histogram; later ones share the last.
const MOST_SECONDS: usize = 3600;

/// Why a request has no good response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failing {
    /// No connection could be established.
    Connect,
    /// This machine had no port left for another connection: not the server's fault.
    NoPort,
    /// A connection was established, but TLS or the HTTP version could not be negotiated.
    Handshake,
    /// The connection was reset.
    Reset,
    /// The server closed the connection before its response was complete.
    Closed,
    /// No complete response within the timeout.
    TimedOut,
    /// The received data is not an HTTP response.
    Malformed,
    /// The status differs from the expected one.
    Status,
    /// The body differs from the expected one.
    Body,
}

impl Failing {
    /// All variants, in the order in which they are counted.
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

    /// Returns the name used in records.
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

/// The pace of the requests.
#[derive(Debug, Clone)]
pub enum Pace {
    /// Each connection sends its next request when it has received its response.
    Closed,
    /// Requests have scheduled times, regardless of the server.
    Open(Schedule),
}

/// The latencies of the requests that were scheduled in one second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Second {
    /// From the intended time to the complete response. Good responses only.
    pub response: Latencies,
    /// From sending to the complete response. Good responses only.
    pub service: Latencies,
    /// Sum of the generator's own delays, in nanoseconds.
    pub lag_sum: u64,
    /// Number of scheduled requests.
    pub scheduled: u64,
    /// Number of failed requests.
    pub failed: u64,
}

impl Second {
    /// Adds the figures of another second.
    pub fn add(&mut self, other: &Second) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lag_sum += other.lag_sum;
        self.scheduled += other.scheduled;
        self.failed += other.failed;
    }
}

/// An outstanding request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// When it should have been sent.
    pub intended: u64,
    /// When it was sent.
    pub sent: u64,
}

/// The ledger of one step. It doesn't read the clock; the caller passes times.
#[derive(Debug)]
pub struct Ledger {
    pace: Pace,
    begin: u64,
    end: u64,
    /// Intended times of requests that wait for a connection, oldest first.
    backlog: VecDeque<u64>,
    in_flight: u64,
    /// Integral of the number of due or outstanding requests, in requests x nanoseconds, up to `changed`.
    area: f64,
    changed: u64,
    totals: Totals,
}

/// The results of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Number of scheduled requests.
    pub scheduled: u64,
    /// Requests that ended: with a good response, a bad one, or none within the timeout.
    pub completed: u64,
    /// Requests given up when draining ended.
    pub dropped: u64,
    /// Good responses within the step's duration.
    pub answered_in_time: u64,
    /// Failed requests, by the index in [`Failing::ALL`].
    pub failed: [u64; Failing::ALL.len()],
    /// Requests that had no free connection when they were due.
    pub waited: u64,
    /// Maximum number of requests that waited for a connection.
    pub most_waiting: usize,
    /// Sum of the response times of all completed requests, in nanoseconds.
    pub response_sum: f64,
    /// Sum of the response times, each cut off at the end of the step's duration, in nanoseconds.
    pub response_sum_in_time: f64,
    /// Integral of due or outstanding requests, in requests x nanoseconds, from the beginning to the end of
    /// the last request.
    pub area: f64,
    /// Duration of the step without draining, in nanoseconds.
    pub length: u64,
    /// Duration until the last request ended, in nanoseconds.
    pub lasted: u64,
    /// Delay of sending after the intended time, or after a connection became free if that is later; in a
    /// closed loop always the latter.
    pub lag: Latencies,
    /// Figures by second of the intended time.
    pub seconds: Vec<Second>,
}

impl Totals {
    /// Returns the number of failed requests.
    pub fn errors(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Returns the latencies of good responses from the intended time.
    pub fn response(&self) -> Latencies {
        self.merged(|second| &second.response)
    }

    /// Returns the latencies of good responses from sending.
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

    /// Returns good responses per second of the step's duration: a server that refuses immediately doesn't
    /// count as fast.
    pub fn requests_per_second(&self) -> f64 {
        self.answered_in_time as f64 / (self.length.max(1) as f64 / 1e9)
    }

    /// Checks Little's law: returns throughput x mean response time, divided by the number of concurrent
    /// requests. The result is 1 if the ledger is right and the client left no connection idle. With
    /// `connections`, the number of connections of a closed loop is used, all of which should be busy all the
    /// time; without, the mean number of requests due or outstanding. `None` if nothing was completed.
    pub fn little(&self, connections: Option<u64>) -> Option<f64> {
        if self.completed == 0 {
            return None;
        }
        match connections {
            Some(count) => {
                let busy = count as f64 * self.length as f64;
                (busy > 0.0).then(|| self.response_sum_in_time / busy)
            }
            // Throughput and mean concurrency are both relative to `lasted`, which cancels out.
            None => (self.area > 0.0).then(|| self.response_sum / self.area),
        }
    }

    /// Adds another step of the same kind.
    pub fn add(&mut self, other: &Totals) {
        self.add_counts(other);
        self.most_waiting = self.most_waiting.max(other.most_waiting);
        self.length += other.length;
        self.lasted += other.lasted;
        self.seconds.extend(other.seconds.iter().cloned());
    }

    /// Adds the results of another client in the same period.
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
    /// Creates the ledger of a step from `begin` to `end`.
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

    /// Returns when the loop must run again without an event: the next intended time.
    pub fn next_due(&self) -> Option<u64> {
        match &self.pace {
            Pace::Closed => None,
            Pace::Open(schedule) => schedule.peek(),
        }
    }

    /// Moves requests that are due into the backlog.
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
            // The requests were due at their scheduled time, even if noticed later.
            self.area += late;
        }
    }

    /// Returns the intended time of the request that a free connection should send now.
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

    /// Notes that the requests in the backlog have no free connection.
    pub fn note_waiting(&mut self) {
        self.totals.most_waiting = self.totals.most_waiting.max(self.backlog.len());
    }

    /// Notes that a request was sent at `sent`, on a connection that was free since `free_since`.
    pub fn sent(&mut self, intended: u64, sent: u64, free_since: u64) -> Ticket {
        let due = match self.pace {
            // When its connection received the previous response.
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

    /// Notes the end of a request.
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

    /// Returns whether no request is due, outstanding or still to come.
    pub fn is_over(&self, now: u64) -> bool {
        let none_to_come = match &self.pace {
            Pace::Closed => now >= self.end,
            Pace::Open(schedule) => schedule.peek().is_none(),
        };
        none_to_come && self.backlog.is_empty() && self.in_flight == 0
    }

    /// Returns the number of completed requests.
    pub fn completed(&self) -> u64 {
        self.totals.completed
    }

    /// Returns the number of completed requests that failed.
    pub fn failed(&self) -> u64 {
        self.totals.errors()
    }

    /// Ends the step: outstanding requests are dropped, as are requests due by `now`.
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

/// Returns the second in which a request was scheduled.
fn second_of(totals: &mut Totals, begin: u64, intended: u64) -> &mut Second {
    let second = intended.saturating_sub(begin) / 1_000_000_000;
    let last = totals.seconds.len() - 1;
    &mut totals.seconds[(second as usize).min(last)]
}

#[cfg(test)]
mod tests;
