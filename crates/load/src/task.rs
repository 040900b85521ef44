//! The requests to a server, and their outcome.

use crate::address::Address;
use crate::ledger::{Failing, Totals};
use crate::request::{Checks, Expected, Request};
use crate::tls::TlsTerms;

/// The requests, their server, and the checks of the responses.
#[derive(Debug, Clone)]
pub struct Task {
    /// The server.
    pub address: Address,
    /// The TLS settings, if TLS is used.
    pub tls: Option<TlsTerms>,
    /// The requests in rotation, ready to be sent; all with the same version of HTTP.
    pub requests: Vec<Request>,
    /// Concurrent requests on an HTTP/2 connection.
    pub streams: usize,
    /// The first responses to the requests, if later responses are compared with them.
    pub expected: Vec<Expected>,
    /// Checks that decide whether a response is good.
    pub checks: Checks,
    /// Whether responses have no body.
    pub head_only: bool,
    /// Whether a connection serves several requests.
    pub keep_alive: bool,
    /// A request without a complete response after this many nanoseconds has failed.
    pub timeout: u64,
}

/// The results of a step, and its cost for the client.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The totals of the ledger.
    pub totals: Totals,
    /// CPU time of this thread over the step, without draining, minus the time spent spinning.
    pub cpu: u64,
    /// Wall time of the step without draining; for several clients, the sum of theirs.
    pub wall: u64,
    /// CPU time of this thread over the whole step, including draining.
    pub cpu_with_drain: u64,
    /// Bytes that were received.
    pub received_bytes: u64,
    /// Connections established during the step.
    pub connects: u64,
    /// Good responses whose body differs from that of the first response.
    pub other_bodies: u64,
    /// Responses followed by data that wasn't requested.
    pub unasked: u64,
    /// The first response that failed a check, for a message: reason, status, beginning of the body.
    pub example: Option<(Failing, u16, &'static str)>,
    /// Number of concurrent requests that the server allows on an HTTP/2 connection.
    pub most_streams: Option<usize>,
    /// Whether the step was ended by a stop request.
    pub stopped: bool,
}

impl Outcome {
    /// Adds the results of another client in the same period.
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
