//! The complete answer of `fathom serve`, as written by its `--json`.

mod cold_start;
mod load;
mod ramp;
mod websocket;

use serde::{Deserialize, Serialize};

use crate::{
    CallRow, Environment, Estimate, MoreRounds, OwnCode, StopReason, TimeAccount, Verdict, Warning,
};
pub use cold_start::{ColdStart, Launch, ListeningBy, SlowLaunch, Spread};
pub use load::{
    Doubt, HighestRate, LoadResult, LoadRound, LoadSecond, Percentiles, ServerCalls, TriedRate,
};
pub use ramp::{RampLimit, RampResult, RampWindow};
pub use websocket::{WebSocketClient, WebSocketLink, WebSocketResult, WebSocketRound};

/// The default for older records, which used one thread.
fn one() -> u32 {
    1
}

/// The conditions of all servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServeConditions {
    /// The seed of the order of launches and steps.
    pub seed: u64,
    /// The number of launches of each server.
    pub launches: u32,
    /// The number of load rounds.
    pub rounds: u32,
    /// The seconds in which requests are started, in each step of a round.
    pub step_seconds: f64,
    /// The uncounted seconds at the beginning of each step.
    pub warmup_seconds: f64,
    /// The maximum number of seconds after a step in which answers are awaited.
    pub drain_seconds: f64,
    /// The method of the requests.
    pub method: String,
    /// The requested paths, used in turn.
    pub paths: Vec<String>,
    /// Additional header lines. A secret, recognized by its name, is replaced by `redacted-` and a hash under
    /// the user's key.
    pub headers: Vec<(String, String)>,
    /// The length of the body sent with each request, in bytes.
    pub body_bytes: usize,
    /// Whether a connection is used for several requests.
    pub keep_alive: bool,
    /// Whether TLS is used.
    #[serde(default)]
    pub tls: bool,
    /// The number of concurrent requests on an HTTP/2 connection; absent with HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2_streams: Option<u32>,
    /// The seconds after which a request without a complete answer has failed.
    pub request_timeout_seconds: f64,
    /// The seconds after which a server that isn't ready has failed.
    pub launch_timeout_seconds: f64,
    /// The CPUs that the servers may use under load; all if empty.
    pub server_cpus: Vec<usize>,
    /// The CPU of the generator's first thread; absent if it shares those of the servers.
    pub generator_cpu: Option<usize>,
    /// The number of the generator's threads; each has its own CPU.
    #[serde(default = "one")]
    pub generator_threads: u32,
    /// The margin of the verdicts, as a share.
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
}

/// A measured server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServedServer {
    /// The command or address as given; not trustworthy: escape it.
    pub name: String,
    /// The arguments as executed, starting with the program; empty for a server that was already running.
    pub arguments: Vec<String>,
    /// The last address at which it listened.
    pub address: Option<String>,
    /// The status of its first good answer.
    pub status: Option<u16>,
    /// The length of that answer's body.
    pub body_bytes: Option<u64>,
    /// The time from launch to first answer; absent for a server that was already running.
    pub cold: Option<ColdStart>,
    /// The time from launch to first answer with the server's files evicted from memory, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_evicted: Option<ColdStart>,
    /// The results under load, closed loops first.
    pub load: Vec<LoadResult>,
    /// Its system calls; absent for a server that was already running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<ServerCalls>,
    /// The result of `--find-rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_rate: Option<HighestRate>,
    /// The result of `--ramp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<RampResult>,
    /// The results over WebSocket; empty unless requested.
    #[serde(default)]
    pub websocket: Vec<WebSocketResult>,
    /// Where its own time goes under load, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<ServerWhy>,
}

/// Where the time of a server under load goes, from a separate step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerWhy {
    /// The number of connections; in an open loop, the maximum.
    pub connections: u32,
    /// The number of requests to send per second; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<f64>,
    /// How it was observed: `kernel`, `perf` or `sample`.
    pub tier: String,
    /// The duration of the observation in seconds.
    pub seconds: f64,
    /// Good answers per second during the observation, which slows a server down.
    pub requests_per_second: f64,
    /// What its threads did in that time, plus the waits of the busiest one.
    pub account: TimeAccount,
    /// System calls, most time first; empty if the tier doesn't see them.
    pub calls: Vec<CallRow>,
    /// The functions in which its own code ran; absent if there were none.
    pub own_code: Option<OwnCode>,
    /// What could not be seen, one sentence each.
    pub not_visible: Vec<String>,
}

/// A quantity by which two servers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServeMetric {
    /// The time from launch to first answer.
    Ready,
    /// The time for each request: the inverse of requests per second.
    TimePerRequest,
    /// The 99th percentile of the response time.
    P99,
    /// The server's CPU time for each request.
    ServerCpu,
}

/// A round-by-round comparison of two servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServeComparison {
    /// The index of the reference server.
    pub reference: usize,
    /// The index of the subject server.
    pub subject: usize,
    /// The compared quantity.
    pub metric: ServeMetric,
    /// The index into `load`; absent for `ready`.
    pub load: Option<usize>,
    /// The number of rounds or launches in which both have a value.
    pub rounds: usize,
    /// The ratio subject / reference, with its interval.
    pub ratio: Estimate,
    /// The level (0 to 1) at which `faster` and `slower` are claimed, as in a comparison of commands.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub claim_level: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
    /// `errors differ`, `responses differ`: then the verdict means little.
    pub doubts: Vec<String>,
}

/// A limit of `--budget` for one server, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServeBudget {
    /// The index of the server.
    pub server: usize,
    /// As given, such as `p99=2ms`.
    pub limit: String,
    /// The measured value, in the unit of the limit: milliseconds, microseconds of CPU time, or a count.
    pub value: Option<f64>,
    /// Whether it holds.
    pub met: bool,
}

/// The complete record of `fathom serve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServeRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `serve`.
    #[cfg_attr(test, schemars(extend("const" = "serve")))]
    pub kind: String,
    /// Version of Fathom.
    pub fathom_version: String,
    /// The start, RFC 3339, UTC.
    pub started_at: String,
    /// The environment.
    pub environment: Environment,
    /// The conditions of all servers.
    pub conditions: ServeConditions,
    /// The servers, in the order in which they were given.
    pub servers: Vec<ServedServer>,
    /// The comparisons of each server with the first.
    pub comparisons: Vec<ServeComparison>,
    /// The limits of `--budget`.
    pub budget: Vec<ServeBudget>,
    /// Warnings about how far the numbers can be trusted.
    pub warnings: Vec<Warning>,
    /// False if measuring was cut short.
    pub complete: bool,
    /// Why measuring ended.
    pub stop: StopReason,
}
