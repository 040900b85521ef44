//! A server under load: rounds, seconds, percentiles and calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// The distribution of a latency. Quantiles with too few values are absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Percentiles {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// The maximum.
    pub max: Option<f64>,
}

/// One step of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadRound {
    /// The number of the round, from 0.
    pub round: u32,
    /// The position in the order of all steps, from 0.
    pub position: u32,
    /// Good answers per second of the step's time.
    pub requests_per_second: f64,
    /// The median response time of good answers, in milliseconds.
    pub p50_ms: Option<f64>,
    /// The 90th percentile of the response time.
    pub p90_ms: Option<f64>,
    /// The 95th percentile of the response time.
    pub p95_ms: Option<f64>,
    /// The 99th percentile of the response time.
    pub p99_ms: Option<f64>,
    /// The CPU time of the server's processes for each request; absent if Fathom didn't start them.
    pub server_cpu_us_per_request: Option<f64>,
    /// The generator's CPU time for each request.
    pub generator_cpu_us_per_request: f64,
    /// The generator's CPU time as a share of the elapsed time.
    pub generator_cpu_share: f64,
    /// The CPU time of the server's processes, as a number of CPUs.
    pub server_cpus_used: Option<f64>,
    /// The CPU time of other programs as a share of all CPUs.
    pub neighbours_share: f64,
    /// The number of requests that failed.
    pub errors: u64,
}

/// One second of a step, by the time at which requests should have been sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadSecond {
    /// The number of the round, from 0.
    pub round: u32,
    /// The number of the second in the step, from 0.
    pub second: u32,
    /// The number of requests that failed.
    pub failed: u64,
    /// Response times of good answers: the upper bound of a histogram bucket in nanoseconds, and the count.
    pub histogram_ns: Vec<(u64, u64)>,
}

/// A server under one load, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadResult {
    /// The number of connections; in an open loop, the maximum.
    pub connections: u32,
    /// The number of requests to send per second; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// `constant` or `poisson`; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<String>,
    /// Good answers per second: the median over the rounds.
    pub requests_per_second: f64,
    /// The median with its interval.
    pub requests_per_second_interval: Estimate,
    /// The number of requests that should have been sent.
    pub scheduled: u64,
    /// The number of scheduled requests with an outcome: a good answer, an error, or a timeout.
    pub completed: u64,
    /// The number of scheduled requests that were abandoned when draining ended.
    pub dropped: u64,
    /// The number of completed requests that failed.
    pub errors: u64,
    /// The failures by kind.
    #[cfg_attr(test, schemars(extend("propertyNames" = {"enum": ["connect", "handshake", "no_port", "reset", "closed", "timed_out", "malformed", "status", "body"]})))]
    pub errors_by_kind: BTreeMap<String, u64>,
    /// The time from when a request should have been sent to its complete good answer.
    pub response_ms: Percentiles,
    /// The time from when a request was actually sent to its complete good answer.
    pub service_ms: Percentiles,
    /// The generator's own delay, in microseconds.
    pub generator_lag_us: Percentiles,
    /// How long it took to establish a connection, including those made before the step and in its warm-up.
    #[serde(default)]
    pub connect_ms: Percentiles,
    /// How long the TLS handshake took on an established connection; absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_ms: Option<Percentiles>,
    /// The number of requests that had no free connection at their scheduled time.
    pub waited_for_connection: u64,
    /// The maximum number of requests that waited for a connection at once.
    pub most_waiting: usize,
    /// Little's law: throughput x mean latency / concurrency. It should be 1.
    pub little: Option<f64>,
    /// The CPU time of the server's processes for each request.
    pub server_cpu_us_per_request: Option<f64>,
    /// The generator's CPU time for each request.
    pub generator_cpu_us_per_request: f64,
    /// The generator's CPU time as a share of the elapsed time.
    pub generator_cpu_share: f64,
    /// The CPU time of the server's processes, as a number of CPUs.
    pub server_cpus_used: Option<f64>,
    /// The sum of the peak resident memory of the server's processes, in bytes.
    pub server_peak_memory_bytes: Option<u64>,
    /// The number of the server's threads.
    pub server_threads: Option<u64>,
    /// How often one of the server's threads waited, for each request.
    pub server_voluntary_switches_per_request: Option<f64>,
    /// How often one of the server's threads was preempted, for each request.
    pub server_involuntary_switches_per_request: Option<f64>,
    /// The number of connections that had to be re-established.
    pub reconnects: u64,
    /// The number of good answers whose body differed from the first.
    pub other_bodies: u64,
    /// The number of bytes received.
    pub received_bytes: u64,
    /// Doubts about the numbers: `generator-bound`, `not steady` and so on.
    pub verdicts: Vec<Doubt>,
    /// Every step.
    pub rounds: Vec<LoadRound>,
    /// Every second of each step.
    pub seconds: Vec<LoadSecond>,
    /// Response times of all good answers, as in [`LoadSecond`].
    pub histogram_ns: Vec<(u64, u64)>,
}

/// System calls of a server, counted in a separate round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerCalls {
    /// The number of connections of that round; in an open loop, the maximum.
    pub connections: u32,
    /// The number of requests to send per second; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// The number of completed requests.
    pub requests: u64,
    /// The number of system calls of the server's processes for each request; absent if they can't be
    /// counted.
    pub per_request: Option<f64>,
    /// Why they can't be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// The highest rate that keeps a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HighestRate {
    /// The limit as given.
    pub limit: String,
    /// The highest number of requests per second that kept the limit; absent if none did.
    pub rate_per_second: Option<f64>,
    /// Every rate that was tried.
    pub tried: Vec<TriedRate>,
}

/// A rate that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TriedRate {
    /// Requests per second.
    pub rate_per_second: f64,
    /// The limited percentile, in milliseconds; absent if there were too few answers.
    pub value_ms: Option<f64>,
    /// The number of requests that failed or were dropped.
    pub errors: u64,
    /// Whether the rate kept the limit.
    pub met: bool,
}

/// Why numbers should not be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Doubt {
    /// The generator had no CPU time left: the server was not the limit.
    #[serde(rename = "generator-bound")]
    GeneratorBound,
    /// Requests were sent later than they should have been.
    #[serde(rename = "generator late")]
    Lagging,
    /// Other programs used more than a tenth of the CPUs.
    #[serde(rename = "neighbours")]
    Neighbours,
    /// Throughput x latency doesn't match the number of requests in flight.
    #[serde(rename = "Little's law off")]
    Little,
    /// The server's cost of a request changed from round to round.
    #[serde(rename = "not steady")]
    NotSteady,
}

impl Doubt {
    /// Returns the name used in records and output.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::GeneratorBound => "generator-bound",
            Doubt::Lagging => "generator late",
            Doubt::Neighbours => "neighbours",
            Doubt::Little => "Little's law off",
            Doubt::NotSteady => "not steady",
        }
    }

    /// Reports whether the numbers don't describe the server. [`Doubt::NotSteady`] is not such a doubt,
    /// because the server itself may be unsteady.
    pub fn is_grave(self) -> bool {
        self != Doubt::NotSteady
    }
}
