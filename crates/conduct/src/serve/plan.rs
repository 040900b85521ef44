//! What is to be served, and how it is asked.

use std::path::PathBuf;
use std::time::Duration;

use fathom_load::{Arrivals, Checks, Rate, RequestPlan, Tls, Url};

use crate::{RunTerms, Target, redaction};

/// Launches of each server, unless something else is said: enough for a p90.
pub const LAUNCHES: u32 = 30;
/// Connections of the closed loops, unless something else is said.
pub const CONNECTIONS: [u32; 3] = [1, 16, 64];
/// Rounds of load for one server, unless something else is said.
pub const ROUNDS: u32 = 5;
/// For several: fewer support no verdict at the level of claims.
pub const ROUNDS_TO_COMPARE: u32 = 8;
/// Rounds of a ramp alone, unless something else is said: how far its answers lie apart is to be seen.
pub const RAMP_ROUNDS: u32 = 3;
/// Length of a step, unless something else is said.
pub const STEP: Duration = Duration::from_secs(3);
/// The share of the highest throughput at which the open loop runs, unless a rate is given.
pub const SHARE_OF_BEST: f64 = 0.7;

/// A launch that takes longer has failed, unless something else is said.
pub const LAUNCH_TIMEOUT: Duration = Duration::from_secs(30);
/// Length of a WebSocket message, unless something else is said: who sends and a number.
pub const MESSAGE_BYTES: usize = 9;

/// A server.
#[derive(Debug, Clone)]
pub enum Served {
    /// It is started here.
    Started(Box<Target>),
    /// It runs already; [`Served::running`] makes it.
    Running(Url),
}

impl Served {
    /// One that runs already. From here on its text has no secrets; what is sent keeps them.
    pub fn running(url: Url) -> Served {
        Served::Running(Url {
            text: redaction::text(&url.text),
            ..url
        })
    }

    /// As it was given, without secrets.
    pub fn name(&self) -> &str {
        match self {
            Served::Started(target) => &target.benchmark.name,
            Served::Running(url) => &url.text,
        }
    }
}

/// An open loop whose rate grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Requests per second, at the begin and at the end.
    pub rate: Rate,
    /// How long it grows.
    pub length: Duration,
}

/// When a started server counts as ready.
#[derive(Debug, Clone, Default)]
pub struct Ready {
    /// What it is asked for; the first of the paths if absent.
    pub path: Option<String>,
    /// Status codes that are good answers to that; those of the requests if empty.
    pub status: Vec<u16>,
    /// It isn't asked before it has written this.
    pub line: Option<String>,
}

/// What must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// As it was given.
    pub text: String,
    /// Of what.
    pub of: Limited,
    /// At most this: milliseconds, microseconds of CPU time, or a count.
    pub most: f64,
}

/// A quantity that can have a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limited {
    /// A percentile of the response time, as a share; 1 is the largest.
    Response(f64),
    /// Requests that failed or were dropped.
    Errors,
    /// 90th percentile of the time from launch to first answer.
    Ready,
    /// CPU time of the server for each request.
    Cpu,
}

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct ServePlan {
    /// The servers.
    pub servers: Vec<Served>,
    /// The port on which they are to listen; a free one if absent.
    pub port: Option<u16>,
    /// Launches of each.
    pub launches: u32,
    /// Also launches with the server's files taken out of memory.
    pub cold: bool,
    /// Connections of the closed loops.
    pub connections: Vec<u32>,
    /// Rates of the open loop; a share of the highest throughput if absent, none if empty.
    pub rates: Option<Vec<f64>>,
    /// How the moments of the open loop follow each other.
    pub poisson: bool,
    /// Find the highest rate that keeps this limit.
    pub find_rate: Option<Limit>,
    /// Let the rate grow.
    pub ramp: Option<Ramp>,
    /// Length of a step.
    pub step: Duration,
    /// Rounds.
    pub rounds: u32,
    /// The requests.
    pub requests: RequestPlan,
    /// How TLS is spoken: with all servers that are started here, and those whose address says so.
    pub tls: Option<Tls>,
    /// Requests under way at a time on a connection of HTTP/2.
    pub streams: u32,
    /// Threads of the generator.
    pub generator_threads: u32,
    /// Length of a WebSocket message.
    pub message_bytes: usize,
    /// Which answers are good.
    pub checks: Checks,
    /// When a request has failed.
    pub request_timeout: Duration,
    /// When a launch has failed.
    pub launch_timeout: Duration,
    /// When a server is ready.
    pub ready: Ready,
    /// Time that a server has to end by itself.
    pub stop_timeout: Duration,
    /// Observe each server once more, under a load of its own.
    pub why: bool,
    /// What must hold.
    pub budget: Vec<Limit>,
    /// Differences up to this share count as none.
    pub margin: f64,
    /// Seed of all orders.
    pub seed: u64,
    /// A file that gets the record.
    pub record: Option<PathBuf>,
    /// How the servers are run.
    pub terms: RunTerms,
}

impl ServePlan {
    /// What is measured of these servers where nothing else is said.
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

    /// Time before a step that doesn't count: a third of it, at most a second.
    pub(super) fn warmup(&self) -> Duration {
        (self.step / 3).min(Duration::from_secs(1))
    }

    /// Longest time after a step in which answers are waited for.
    pub(super) fn drain(&self) -> Duration {
        self.request_timeout.min(Duration::from_secs(10))
    }

    pub(super) fn arrivals(&self, round: u32) -> Arrivals {
        match self.poisson {
            true => Arrivals::Poisson(self.seed ^ (u64::from(round) << 32)),
            false => Arrivals::Constant,
        }
    }

    /// As it is written in records.
    pub(super) fn arrivals_name(&self) -> &'static str {
        if self.poisson { "poisson" } else { "constant" }
    }

    pub(super) fn most_connections(&self) -> u32 {
        let most = self.connections.iter().copied().max();
        most.unwrap_or(CONNECTIONS[2]).max(1)
    }
}
