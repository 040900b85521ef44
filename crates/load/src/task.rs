//! What is asked of a server, and what came of it.

use crate::address::Address;
use crate::ledger::{Failing, Totals};
use crate::request::{Checks, Expected, Request};
use crate::tls::TlsTerms;

/// What is asked, of whom, and what is a good answer.
#[derive(Debug, Clone)]
pub struct Task {
    /// The server.
    pub address: Address,
    /// How TLS is spoken with it, if it is.
    pub tls: Option<TlsTerms>,
    /// Ready to be sent, in turn; all in the same version of HTTP.
    pub requests: Vec<Request>,
    /// Requests under way at a time on a connection of HTTP/2.
    pub streams: usize,
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

/// What a step came to, and what it cost the client.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The books.
    pub totals: Totals,
    /// CPU time of this thread over the step, without draining, less what it spun.
    pub cpu: u64,
    /// The time of the step, without draining, by the clock; of several clients the sum.
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
    /// Requests that the server allows at a time on a connection of HTTP/2.
    pub most_streams: Option<usize>,
    /// The wish to stop ended the step.
    pub stopped: bool,
}

impl Outcome {
    /// Adds what another client did in the same time.
    pub fn beside(&mut self, other: &Outcome) {
        self.totals.beside(&other.totals);
        self.cpu += other.cpu;
        self.wall += other.wall;
        self.cpu_with_drain += other.cpu_with_drain;
        self.received_bytes += other.received_bytes;
        self.connects += other.connects;
        self.other_bodies += other.other_bodies;
        self.unasked += other.unasked;
        self.example = self.example.or(other.example);
        self.most_streams = match (self.most_streams, other.most_streams) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        self.stopped |= other.stopped;
    }
}
