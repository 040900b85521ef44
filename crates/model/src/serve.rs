//! The complete answer of `fathom serve`: what its `--json` writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    CallRow, Environment, Estimate, MoreRounds, OwnCode, StopReason, TimeAccount, Verdict, Warning,
};

/// Records of before had one thread.
fn one() -> u32 {
    1
}

/// What holds for all servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServeConditions {
    /// Seed of the order of launches and steps.
    pub seed: u64,
    /// Launches of each server.
    pub launches: u32,
    /// Rounds of load.
    pub rounds: u32,
    /// Seconds in which requests are begun, in each step of a round.
    pub step_seconds: f64,
    /// Seconds of each step before that, which don't count.
    pub warmup_seconds: f64,
    /// Most seconds after it in which answers are waited for.
    pub drain_seconds: f64,
    /// The method of the requests.
    pub method: String,
    /// What is asked for, in turn.
    pub paths: Vec<String>,
    /// Header lines that were added.
    pub headers: Vec<(String, String)>,
    /// Length of what is sent with each request.
    pub body_bytes: usize,
    /// Several requests on a connection.
    pub keep_alive: bool,
    /// By TLS.
    #[serde(default)]
    pub tls: bool,
    /// Requests under way at a time on a connection of HTTP/2; absent with HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2_streams: Option<u32>,
    /// Seconds after which a request without its whole answer has failed.
    pub request_timeout_seconds: f64,
    /// Seconds after which a server that isn't ready has failed.
    pub launch_timeout_seconds: f64,
    /// CPUs that the servers may use under load; empty: all.
    pub server_cpus: Vec<usize>,
    /// The CPU of the generator's first thread; absent where it shares those of the servers.
    pub generator_cpu: Option<usize>,
    /// Its threads; each has a CPU of its own.
    #[serde(default = "one")]
    pub generator_threads: u32,
    /// Margin of the verdicts as a share.
    pub margin: f64,
}

/// The distribution of one quantity over launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile; absent with fewer than 100 launches.
    pub p99: Option<f64>,
    /// The largest.
    pub max: f64,
}

/// Why a launch took longer than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowLaunch {
    /// It waited for a CPU.
    WaitedForCpu,
    /// It read from the storage device.
    WaitedForDisk,
    /// It used more CPU time.
    WorkedLonger,
    /// It slept longer, for another reason.
    Other,
}

/// How it was seen that a server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListeningBy {
    /// The kernel held the call of `listen` for Fathom.
    Kernel,
    /// By looks at all sockets that listen.
    Look,
}

/// One launch. Milliseconds from the call of `execve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Place in the order of all launches, from 0.
    pub position: u32,
    /// The server's files were taken out of memory before.
    pub evicted: bool,
    /// Its program had been loaded.
    pub exec_ms: f64,
    /// It listened; absent where it was never seen to.
    pub listening_ms: Option<f64>,
    /// How that was seen.
    pub listening_by: Option<ListeningBy>,
    /// It may have been earlier by this much, microseconds: the time since the look before.
    pub listening_uncertainty_us: Option<f64>,
    /// The kernel had accepted a connection.
    pub accepted_ms: f64,
    /// TLS was agreed on; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secured_ms: Option<f64>,
    /// The first byte of the first good answer had come.
    pub first_byte_ms: f64,
    /// The first good answer had come whole.
    pub ready_ms: f64,
    /// CPU time of all its processes until then.
    pub cpu_ms: f64,
    /// Time that its threads were ready to run and had no CPU.
    pub run_queue_wait_ms: f64,
    /// Bytes fetched from the storage device.
    pub read_bytes: u64,
    /// Page faults that had to read from the storage device.
    pub major_faults: u64,
    /// Answers before the first good one.
    pub answers_before: u32,
    /// From SIGTERM until nothing of it was left.
    pub stop_ms: f64,
    /// Processes that had to be killed.
    pub killed: u32,
    /// Why it took longer than the others, if it did.
    pub slow: Option<SlowLaunch>,
}

/// How long a server takes from its launch to its first answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColdStart {
    /// Launches.
    pub launches: usize,
    /// To the end of `execve`.
    pub exec_ms: Spread,
    /// To listening; absent where it was never seen to.
    pub listening_ms: Option<Spread>,
    /// How that was seen, in most launches.
    pub listening_by: Option<ListeningBy>,
    /// Largest uncertainty of that, in microseconds; 0 where the kernel said so.
    pub listening_uncertainty_us: Option<f64>,
    /// To a connection that the kernel accepted.
    pub accepted_ms: Spread,
    /// To TLS that was agreed on; absent without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secured_ms: Option<Spread>,
    /// To the first byte of the first good answer.
    pub first_byte_ms: Spread,
    /// To the whole of it.
    pub ready_ms: Spread,
    /// The median of that with its interval.
    pub ready_median_ms: Estimate,
    /// CPU time until then.
    pub cpu_ms: Spread,
    /// From SIGTERM until nothing was left.
    pub stop_ms: Spread,
    /// Launches that were slow because they waited for a CPU.
    pub waited_for_cpu: usize,
    /// Because they waited for a disk.
    pub waited_for_disk: usize,
    /// Because they used more CPU time.
    pub worked_longer: usize,
    /// For another reason.
    pub slow_otherwise: usize,
    /// Every launch.
    pub runs: Vec<Launch>,
}

/// The distribution of a latency. Absent where there are too few values.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Percentiles {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

/// One step of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRound {
    /// Number of the round, from 0.
    pub round: u32,
    /// Place in the order of all steps, from 0.
    pub position: u32,
    /// Good answers per second of the step's time.
    pub requests_per_second: f64,
    /// Median response time of good answers.
    pub p50_ms: Option<f64>,
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
    pub errors_by_kind: BTreeMap<String, u64>,
    /// From the moment at which a request should have been sent to its whole good answer.
    pub response_ms: Percentiles,
    /// From the moment at which it was sent.
    pub service_ms: Percentiles,
    /// How late the generator was itself, microseconds.
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
    pub verdicts: Vec<String>,
    /// Every step.
    pub rounds: Vec<LoadRound>,
    /// Every second of each.
    pub seconds: Vec<LoadSecond>,
    /// Response times of all good answers, as in [`LoadSecond`].
    pub histogram_ns: Vec<(u64, u64)>,
}

/// System calls of a server, counted in a round of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// How a WebSocket client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebSocketClient {
    /// It sleeps until something comes: its wake-ups are in the times.
    Blocking,
    /// It asks again and again: the server's part of the time shows.
    Spinning,
}

/// What a server does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebSocketLink {
    /// It sends it to the other client.
    Relay,
    /// It sends it back to who sent it.
    Echo,
}

/// One step of a round by WebSocket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebSocketRound {
    /// Number of the round, from 0.
    pub round: u32,
    /// Round trips per second.
    pub round_trips_per_second: f64,
    /// Median time of a round trip.
    pub p50_ms: Option<f64>,
    /// CPU time of the server's processes for each round trip; absent where they are not Fathom's.
    pub server_cpu_us_per_round_trip: Option<f64>,
    /// CPU time of other programs as a share of all CPUs.
    pub neighbours_share: f64,
}

/// Messages through a server and back, one after the other, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebSocketResult {
    /// How the clients waited.
    pub client: WebSocketClient,
    /// What the server did with a message. Relay: a round trip is two messages between two clients.
    pub link: WebSocketLink,
    /// Extensions that both agreed on, as the server wrote them; absent if none. Not trustworthy:
    /// escape it.
    pub extensions: Option<String>,
    /// Length of a message.
    pub message_bytes: usize,
    /// Round trips.
    pub round_trips: u64,
    /// Round trips per second: the median over the rounds.
    pub round_trips_per_second: f64,
    /// Time of a round trip.
    pub round_trip_ms: Percentiles,
    /// Messages that were expected and came.
    pub messages: u64,
    /// Messages that came beside them, such as a client's own.
    pub other_messages: u64,
    /// CPU time of the server's processes for each round trip; absent where they are not Fathom's.
    pub server_cpu_us_per_round_trip: Option<f64>,
    /// What must be known: `neighbours`.
    pub verdicts: Vec<String>,
    /// Every step.
    pub rounds: Vec<WebSocketRound>,
}

/// A server that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServedServer {
    /// The command or address as it was given; not trustworthy: escape it.
    pub name: String,
    /// The arguments as they are executed, program first; empty for one that ran already.
    pub arguments: Vec<String>,
    /// Where it listened last.
    pub address: Option<String>,
    /// Status of its first good answer.
    pub status: Option<u16>,
    /// Length of that answer's body.
    pub body_bytes: Option<u64>,
    /// From launch to first answer; absent for one that ran already.
    pub cold: Option<ColdStart>,
    /// The same with its files out of memory, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_evicted: Option<ColdStart>,
    /// Under load, closed loops first.
    pub load: Vec<LoadResult>,
    /// Its system calls; absent for one that ran already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<ServerCalls>,
    /// What `--find-rate` found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_rate: Option<HighestRate>,
    /// By WebSocket; empty unless that was asked for.
    #[serde(default)]
    pub websocket: Vec<WebSocketResult>,
    /// Where its own time goes under load, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<ServerWhy>,
}

/// Where the time of a server under load goes, from a step of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerWhy {
    /// Connections; in an open loop at most.
    pub connections: u32,
    /// Requests to be sent per second; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// How it was observed: `kernel`, `perf` or `sample`.
    pub tier: String,
    /// For how long, seconds.
    pub seconds: f64,
    /// Good answers per second meanwhile: to be observed makes a server slower.
    pub requests_per_second: f64,
    /// What its threads did in that time, and beside that what the busiest of them waited for.
    pub account: TimeAccount,
    /// By call, most time first; empty where the tier sees none.
    pub calls: Vec<CallRow>,
    /// In which functions its own code was; absent where none was found.
    pub own_code: Option<OwnCode>,
    /// What could not be seen, a sentence each.
    pub not_visible: Vec<String>,
}

/// What two servers are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServeMetric {
    /// Time from launch to first answer.
    Ready,
    /// Time for each request: the inverse of requests per second.
    TimePerRequest,
    /// 99th percentile of the response time.
    P99,
    /// CPU time of the server for each request.
    ServerCpu,
}

/// Two servers compared, round by round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServeComparison {
    /// Index of the server that is compared with.
    pub reference: usize,
    /// Index of the server that is compared.
    pub subject: usize,
    /// By what.
    pub metric: ServeMetric,
    /// Index into `load`; absent for `ready`.
    pub load: Option<usize>,
    /// Rounds or launches in which both have a value.
    pub rounds: usize,
    /// Ratio subject / reference with its interval.
    pub ratio: Estimate,
    /// What follows.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
    /// `errors differ`, `responses differ`: then the verdict means little.
    pub doubts: Vec<String>,
}

/// What `--budget` asked of one server, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServeBudget {
    /// Index of the server.
    pub server: usize,
    /// As it was given, such as `p99=2ms`.
    pub limit: String,
    /// What was found, in the unit of the limit: milliseconds, microseconds of CPU time, or a count.
    pub value: Option<f64>,
    /// It holds.
    pub met: bool,
}

/// Everything that `fathom serve` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServeRecord {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Always `serve`.
    pub kind: String,
    /// Version of Fathom.
    pub fathom_version: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Where.
    pub environment: Environment,
    /// What holds for all servers.
    pub conditions: ServeConditions,
    /// The servers, in the order in which they were given.
    pub servers: Vec<ServedServer>,
    /// Each against the first.
    pub comparisons: Vec<ServeComparison>,
    /// What `--budget` asked.
    pub budget: Vec<ServeBudget>,
    /// What must be known to trust the numbers.
    pub warnings: Vec<Warning>,
    /// False when measuring was cut short.
    pub complete: bool,
    /// Why measuring ended.
    pub stop: StopReason,
}
