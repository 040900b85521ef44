//! A server under a rate that grows.

use serde::{Deserialize, Serialize};

use super::{Doubt, Percentiles};

/// What a growing rate showed, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RampResult {
    /// Requests to be sent per second at the begin.
    pub from_per_second: f64,
    /// At the end.
    pub to_per_second: f64,
    /// How long the rate grows, seconds.
    pub seconds: f64,
    /// `constant` or `poisson`.
    pub arrivals: String,
    /// Connections at most.
    pub connections: u32,
    /// How often it was made.
    pub rounds: u32,
    /// Up to which rate each limit was kept; the knee where none was given.
    pub limits: Vec<RampLimit>,
    /// What must be known of all of it.
    pub verdicts: Vec<Doubt>,
    /// Its parts, in order of the rate.
    pub windows: Vec<RampWindow>,
}

/// Where a limit is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RampLimit {
    /// The limit as it was given, or `knee`: the response time is several times that of low rates.
    pub limit: String,
    /// From this part on it is not kept, to the end; absent where it is kept there.
    pub left_in: Option<usize>,
    /// Requests per second that still kept it: where that part begins, or the end of the ramp. Absent where
    /// the first part left it.
    pub kept_up_to_per_second: Option<f64>,
    /// The same of each round alone.
    pub kept_up_to_by_round: Vec<Option<f64>>,
    /// Its largest value in a part that could be judged: milliseconds, or a number of requests.
    pub worst: Option<f64>,
    /// Parts that have too few answers to judge it.
    pub not_judged: usize,
    /// Parts before that which didn't keep it either.
    pub broken_before: usize,
}

/// A part of a ramp, by the moments at which its requests should have been sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RampWindow {
    /// Requests per second at its begin.
    pub from_per_second: f64,
    /// At its end.
    pub to_per_second: f64,
    /// Requests that were to be sent.
    pub scheduled: u64,
    /// Good answers.
    pub answered: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Those that were given up when draining ended.
    pub dropped: u64,
    /// From the moment at which a request should have been sent to its whole good answer.
    pub response_ms: Percentiles,
    /// From the moment at which it was sent.
    pub service_ms: Percentiles,
    /// How late the generator was itself on average, microseconds.
    pub generator_lag_us: f64,
    /// The generator was late here: the load was another one.
    pub generator_late: bool,
    /// Response times of good answers: largest nanoseconds of a step of the histogram, and how many.
    pub histogram_ns: Vec<(u64, u64)>,
}
