//! The complete answer of `fathom serve`: what its `--json` writes.

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

/// Records of before had one thread.
fn one() -> u32 {
    1
}

/// What holds for all servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Header lines that were added. A secret, known by its name, is `redacted-` and a hash under the
    /// user's key.
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
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
}

/// A server that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// What `--ramp` found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<RampResult>,
    /// By WebSocket; empty unless that was asked for.
    #[serde(default)]
    pub websocket: Vec<WebSocketResult>,
    /// Where its own time goes under load, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<ServerWhy>,
}

/// Where the time of a server under load goes, from a step of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Level (0 to 1) at which `faster` and `slower` are claimed, as in a comparison of commands.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub claim_level: f64,
    /// What follows.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
    /// `errors differ`, `responses differ`: then the verdict means little.
    pub doubts: Vec<String>,
}

/// What `--budget` asked of one server, and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
