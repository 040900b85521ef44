//! A server under load: rounds, seconds, percentiles and calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// The distribution of a latency. Absent where there are too few values.
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
    /// The largest.
    pub max: Option<f64>,
}

/// One step of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadRound {
    /// Number of the round, from 0.
    pub round: u32,
    /// Place in the order of all steps, from 0.
    pub position: u32,
    /// Good answers per second of the step's time.
    pub requests_per_second: f64,
    /// Median response time of good answers.
    pub p50_ms: Option<f64>,
    /// 90th percentile of it.
    pub p90_ms: Option<f64>,
    /// 95th percentile of it.
    pub p95_ms: Option<f64>,
    /// 99th percentile of it.
    pub p99_ms: Option<f64>,
    /// CPU time of the server's processes for each request; absent where they are not Fathom's.
    pub server_cpu_us_per_request: Option<f64>,
    /// CPU time of the generator for each request.
    pub generator_cpu_us_per_request: f64,
    /// CPU time of the generator as a share of the time.
    pub generator_cpu_share: f64,
    /// CPU time of the server's processes as a number of CPUs.
    pub server_cpus_used: Option<f64>,
    /// CPU time of other programs as a share of all CPUs.
    pub neighbours_share: f64,
    /// Requests that failed.
    pub errors: u64,
}

/// One second of a step, by the moment at which requests should have been sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadSecond {
    /// Number of the round, from 0.
    pub round: u32,
    /// Number of the second in the step, from 0.
    pub second: u32,
    /// Requests that failed.
    pub failed: u64,
    /// Response times of good answers: largest nanoseconds of a step of the histogram, and how many.
    pub histogram_ns: Vec<(u64, u64)>,
}

/// A server under one load, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadResult {
    /// Connections; in an open loop at most.
    pub connections: u32,
    /// Requests to be sent per second; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// `constant` or `poisson`; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<String>,
    /// Good answers per second: the median over the rounds.
    pub requests_per_second: f64,
    /// The same with its interval.
    pub requests_per_second_interval: Estimate,
    /// Requests that were to be sent.
    pub scheduled: u64,
    /// Those with an end: a good answer, one with an error, none within the time-out.
    pub completed: u64,
    /// Those that were given up when draining ended.
    pub dropped: u64,
    /// Completed with a failure.
    pub errors: u64,
    /// The same by kind.
    #[cfg_attr(test, schemars(extend("propertyNames" = {"enum": ["connect", "handshake", "no_port", "reset", "closed", "timed_out", "malformed", "status", "body"]})))]
    pub errors_by_kind: BTreeMap<String, u64>,
    /// From the moment at which a request should have been sent to its whole good answer.
    pub response_ms: Percentiles,
    /// From the moment at which it was sent.
    pub service_ms: Percentiles,
    /// The generator's own lateness, in microseconds.
    pub generator_lag_us: Percentiles,
    /// How long it took to make a connection, those before the step and in its warm-up too.
    #[serde(default)]
    pub connect_ms: Percentiles,
    /// How long it took from there to TLS that was agreed on; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_ms: Option<Percentiles>,
    /// Requests that had no free connection at their moment.
    pub waited_for_connection: u64,
    /// Most that waited at a time.
    pub most_waiting: usize,
    /// Little's law: throughput x mean latency / concurrency. 1 is right.
    pub little: Option<f64>,
    /// CPU time of the server's processes for each request.
    pub server_cpu_us_per_request: Option<f64>,
    /// CPU time of the generator for each request.
    pub generator_cpu_us_per_request: f64,
    /// CPU time of the generator as a share of the time.
    pub generator_cpu_share: f64,
    /// CPU time of the server's processes as a number of CPUs.
    pub server_cpus_used: Option<f64>,
    /// Sum of the largest resident memory of its processes, bytes.
    pub server_peak_memory_bytes: Option<u64>,
    /// Its threads.
    pub server_threads: Option<u64>,
    /// Times that a thread of it waited, for each request.
    pub server_voluntary_switches_per_request: Option<f64>,
    /// Times that a thread of it was taken off its CPU, for each request.
    pub server_involuntary_switches_per_request: Option<f64>,
    /// Connections that had to be made again.
    pub reconnects: u64,
    /// Good answers whose body was another than the first.
    pub other_bodies: u64,
    /// Bytes that came.
    pub received_bytes: u64,
    /// What must be known: `generator-bound`, `not steady` and so on.
    pub verdicts: Vec<Doubt>,
    /// Every step.
    pub rounds: Vec<LoadRound>,
    /// Every second of each.
    pub seconds: Vec<LoadSecond>,
    /// Response times of all good answers, as in [`LoadSecond`].
    pub histogram_ns: Vec<(u64, u64)>,
}

/// System calls of a server, counted in a round of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerCalls {
    /// Connections of that round; in an open loop at most.
    pub connections: u32,
    /// Requests to be sent per second; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// Requests that were completed.
    pub requests: u64,
    /// Calls of its processes for each; absent where they can't be counted.
    pub per_request: Option<f64>,
    /// Why they can't be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// The largest rate that keeps a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HighestRate {
    /// The limit as it was given.
    pub limit: String,
    /// Requests per second that kept it; absent if none did.
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
    /// The percentile that is limited, in milliseconds; absent where there were too few answers.
    pub value_ms: Option<f64>,
    /// Requests that failed or were dropped.
    pub errors: u64,
    /// It kept the limit.
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
    /// Other programs had more than a tenth of the CPUs.
    #[serde(rename = "neighbours")]
    Neighbours,
    /// Throughput x latency isn't the number of requests under way.
    #[serde(rename = "Little's law off")]
    Little,
    /// The server's cost of a request changed from round to round.
    #[serde(rename = "not steady")]
    NotSteady,
}

impl Doubt {
    /// As it is written in records and printed.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::GeneratorBound => "generator-bound",
            Doubt::Lagging => "generator late",
            Doubt::Neighbours => "neighbours",
            Doubt::Little => "Little's law off",
            Doubt::NotSteady => "not steady",
        }
    }

    /// Whether the numbers are not the server's; one that is not steady may be so by itself.
    pub fn is_grave(self) -> bool {
        self != Doubt::NotSteady
    }
}
