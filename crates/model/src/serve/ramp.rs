//! A server under a growing rate.

use serde::{Deserialize, Serialize};

use super::{Doubt, Percentiles};

/// The result of a growing rate, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RampResult {
    /// The number of requests to send per second at the beginning.
    pub from_per_second: f64,
    /// The number of requests to send per second at the end.
    pub to_per_second: f64,
    /// The duration of the growth in seconds.
    pub seconds: f64,
    /// `constant` or `poisson`.
    pub arrivals: String,
    /// The maximum number of connections.
    pub connections: u32,
    /// How often the ramp was run.
    pub rounds: u32,
    /// The rate up to which each limit was kept; the knee if no limit was given.
    pub limits: Vec<RampLimit>,
    /// Doubts about the whole ramp.
    pub verdicts: Vec<Doubt>,
    /// Its parts, ordered by rate.
    pub windows: Vec<RampWindow>,
}

/// Where a limit stops being kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RampLimit {
    /// The limit as given, or `knee`: the rate at which the response time is several times that at low rates.
    pub limit: String,
    /// The index of the part from which on the limit is no longer kept; absent if it is kept at the end.
    pub left_in: Option<usize>,
    /// The highest number of requests per second that still kept the limit: the beginning of that part, or
    /// the end of the ramp. Absent if the first part didn't keep it.
    pub kept_up_to_per_second: Option<f64>,
    /// Like `kept_up_to_per_second`, for each round separately.
    pub kept_up_to_by_round: Vec<Option<f64>>,
    /// The largest value of the limited quantity in a part that could be judged: milliseconds, or a number of
    /// requests.
    pub worst: Option<f64>,
    /// The number of parts with too few answers to judge the limit.
    pub not_judged: usize,
    /// The number of earlier parts that didn't keep the limit either.
    pub broken_before: usize,
}

/// A part of a ramp, by the times at which its requests should have been sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RampWindow {
    /// Requests per second at its beginning.
    pub from_per_second: f64,
    /// Requests per second at its end.
    pub to_per_second: f64,
    /// The number of requests that should have been sent.
    pub scheduled: u64,
    /// The number of good answers.
    pub answered: u64,
    /// The number of requests that failed.
    pub errors: u64,
    /// The number of requests that were abandoned when draining ended.
    pub dropped: u64,
    /// The time from when a request should have been sent to its complete good answer.
    pub response_ms: Percentiles,
    /// The time from when a request was actually sent to its complete good answer.
    pub service_ms: Percentiles,
    /// The generator's own average delay, in microseconds.
    pub generator_lag_us: f64,
    /// Whether the generator was late here, so that the load differed from the intended one.
    pub generator_late: bool,
    /// Response times of good answers: the upper bound of a histogram bucket in nanoseconds, and the count.
    pub histogram_ns: Vec<(u64, u64)>,
}
