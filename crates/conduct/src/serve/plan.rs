//! What `serve` measures, and with which requests.

use std::path::PathBuf;
use std::time::Duration;

use fathom_load::{Arrivals, Checks, Rate, RequestPlan, Tls, Url};

use crate::{RunTerms, Target, redaction};

/// The default number of launches of each server: enough for a p90.
pub const LAUNCHES: u32 = 30;
/// The default numbers of connections of the closed loops.
pub const CONNECTIONS: [u32; 3] = [1, 16, 64];
/// The default number of load rounds for one server.
pub const ROUNDS: u32 = 5;
/// The default number of load rounds for several servers; fewer can't support a verdict at the confidence
/// level that claims require.
pub const ROUNDS_TO_COMPARE: u32 = 8;
/// The default number of rounds for a ramp alone: enough to show how much its results vary.
pub const RAMP_ROUNDS: u32 = 3;
/// The default length of a step.
pub const STEP: Duration = Duration::from_secs(3);
/// The share of the highest throughput at which the open loop runs if no rate is given.
pub const SHARE_OF_BEST: f64 = 0.7;

/// The default time after which a launch counts as failed.
pub const LAUNCH_TIMEOUT: Duration = Duration::from_secs(30);
/// The default length of a WebSocket message in bytes, which holds the sender and a number.
pub const MESSAGE_BYTES: usize = 9;

/// A server.
#[derive(Debug, Clone)]
pub enum Served {
    /// A server to start here.
    Started(Box<Target>),
    /// A server that is already running; made by [`Served::running`].
    Running(Url),
}

impl Served {
    /// Returns a server that is already running. Secrets are removed from its text, but are still sent.
    pub fn running(url: Url) -> Served {
        Served::Running(Url {
            text: redaction::text(&url.text),
            ..url
        })
    }

    /// Returns the server as given, without secrets.
    pub fn name(&self) -> &str {
        match self {
            Served::Started(target) => &target.benchmark.name,
            Served::Running(url) => &url.text,
        }
    }
}

/// An open loop with a growing rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Requests per second, at the beginning and at the end.
    pub rate: Rate,
    /// The duration of the growth.
    pub length: Duration,
}

/// When a started server counts as ready.
#[derive(Debug, Clone, Default)]
pub struct Ready {
    /// The path to probe; the first of the paths if absent.
    pub path: Option<String>,
    /// Status codes that count as good for this path; those of the requests if empty.
    pub status: Vec<u16>,
    /// A line that the server must have written before it is probed.
    pub line: Option<String>,
}

/// A limit that must hold; a plan's budget is a list of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The limit as given.
    pub text: String,
    /// The limited quantity.
    pub of: Limited,
    /// The upper limit: milliseconds, microseconds of CPU time, or a count.
    pub most: f64,
}

/// A quantity that can have a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limited {
    /// A percentile of the response time, as a share; 1 is the maximum.
    Response(f64),
    /// Requests that failed or were dropped.
    Errors,
    /// The 90th percentile of the time from launch to first answer.
    Ready,
    /// The server's CPU time for each request.
    Cpu,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct ServePlan {
    /// The servers.
    pub servers: Vec<Served>,
    /// The port on which they listen; a free one if absent.
    pub port: Option<u16>,
    /// The number of launches of each server.
    pub launches: u32,
    /// Also launch with the server's files evicted from memory.
    pub cold: bool,
    /// The numbers of connections of the closed loops.
    pub connections: Vec<u32>,
    /// The rates of the open loop; if absent, a share of the highest throughput; if empty, there is no open
    /// loop.
    pub rates: Option<Vec<f64>>,
    /// Whether requests of the open loop arrive at random intervals (Poisson) rather than constant ones.
    pub poisson: bool,
    /// The limit for which to find the highest rate that stays within it.
    pub find_rate: Option<Limit>,
    /// The ramp along which to increase the rate.
    pub ramp: Option<Ramp>,
    /// The length of a step.
    pub step: Duration,
    /// The number of rounds.
    pub rounds: u32,
    /// The requests.
    pub requests: RequestPlan,
    /// How to use TLS, both with the servers started here and with those whose address requires it.
    pub tls: Option<Tls>,
    /// The number of concurrent requests on an HTTP/2 connection.
    pub streams: u32,
    /// The number of generator threads.
    pub generator_threads: u32,
    /// The length of a WebSocket message in bytes.
    pub message_bytes: usize,
    /// Which answers are good.
    pub checks: Checks,
    /// The time after which a request counts as failed.
    pub request_timeout: Duration,
    /// The time after which a launch counts as failed.
    pub launch_timeout: Duration,
    /// When a server is ready.
    pub ready: Ready,
    /// How long a server may take to end by itself.
    pub stop_timeout: Duration,
    /// Whether to observe each server once more, under a separate load.
    pub why: bool,
    /// A limit that must hold; a plan's budget is a list of these.
    pub budget: Vec<Limit>,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// The seed of all random orders.
    pub seed: u64,
    /// A file to which the record is written.
    pub record: Option<PathBuf>,
    /// How the servers are run.
    pub terms: RunTerms,
}

impl ServePlan {
    /// Returns the default plan for these servers.
    pub fn usual(servers: Vec<Served>, seed: u64) -> ServePlan {
        ServePlan {
            rounds: match servers.len() {
                0 | 1 => ROUNDS,
                _ => ROUNDS_TO_COMPARE,
            },
            servers,
            port: None,
            launches: LAUNCHES,
            cold: false,
            connections: CONNECTIONS.to_vec(),
            rates: None,
            poisson: false,
            find_rate: None,
            ramp: None,
            step: STEP,
            requests: RequestPlan::default(),
            tls: None,
            streams: 1,
            generator_threads: 1,
            message_bytes: MESSAGE_BYTES,
            checks: Checks::default(),
            request_timeout: Duration::from_secs(10),
            launch_timeout: LAUNCH_TIMEOUT,
            ready: Ready::default(),
            stop_timeout: Duration::from_secs(5),
            why: false,
            budget: Vec::new(),
            margin: 0.01,
            seed,
            record: None,
            terms: RunTerms::default(),
        }
    }

    /// Returns the duration of the uncounted warm-up before a step: a third of the step, at most a second.
    pub(super) fn warmup(&self) -> Duration {
        (self.step / 3).min(Duration::from_secs(1))
    }

    /// Returns how long to wait for outstanding answers after a step.
    pub(super) fn drain(&self) -> Duration {
        self.request_timeout.min(Duration::from_secs(10))
    }

    pub(super) fn arrivals(&self, round: u32) -> Arrivals {
        match self.poisson {
            true => Arrivals::Poisson(self.seed ^ (u64::from(round) << 32)),
            false => Arrivals::Constant,
        }
    }

    /// Returns the name used in records.
    pub(super) fn arrivals_name(&self) -> &'static str {
        if self.poisson { "poisson" } else { "constant" }
    }

    pub(super) fn most_connections(&self) -> u32 {
        let most = self.connections.iter().copied().max();
        most.unwrap_or(CONNECTIONS[2]).max(1)
    }
}
