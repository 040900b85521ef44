//! The options of `fathom serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;
use crate::cli::given_commands::GivenCommands;
use crate::cli::options::{MEASURED, Margin, SHOWN, Seed};
use crate::cli::quantities;
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;
use fathom_conduct::serve::{Limit, Ramp};

const ASKED: &str = "Requests, and what counts as a good answer";
const STARTED: &str = "How to start servers";

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom serve -- node server.js {port}
  fathom serve 'python3 app.py {port}' './app {port}' --path /hello
  fathom serve --launches 100 --rounds 0 -- ./app {port}
  fathom serve -c 64 --rate 1000 --time 10s --url http://localhost:8080/
  fathom serve --ramp 100..5000/30s --budget p99=5ms,errors=0 -- ./app {port}
  fathom serve --websocket --path /ws -- node chat.js {port}
  fathom serve --budget p99=2ms,errors=0,ready=50ms -- ./app {port}

A worked example.
  fathom serve -- ./app {port}
starts ./app 30 times on a free port each time, and says how long it takes to its first answer, rung by rung. \
Then it starts it once more and loads it: closed loops of 1, 16 and 64 connections, and an open loop at 70 % of \
the best of them, whose times count from the moment at which each request should have been sent. Beside each, \
what the server spent, and which side was the limit.

{port} in the command, and the variable PORT, are a free port; --port names one. A server that needs neither is \
found by where it listens. Only this machine is asked, unless --allow-remote is given.

Exit codes: 0 done, 1 over the budget, 2 wrong arguments, 3 the server failed, 4 the numbers can't be trusted \
(the generator was the limit, or other programs took more than 10 % of the CPUs), 130 interrupted.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub given: GivenCommands,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Measure a running server: http://localhost:8080/path or unix:/run/x.sock. May be given several times
    #[arg(long, value_name = "URL", help_heading = STARTED)]
    pub url: Vec<String>,

    /// Measure other machines too: only with the consent of their owners
    #[arg(long, help_heading = STARTED)]
    pub allow_remote: bool,

    /// The servers that are started speak TLS; for --url, use https://
    #[arg(long, conflicts_with_all = ["url", "websocket"], help_heading = STARTED)]
    pub tls: bool,

    /// Accept any certificate
    #[arg(long, conflicts_with = "cacert", help_heading = STARTED)]
    pub insecure: bool,

    /// Accept certificates that are in this PEM file or signed by one of them (default: those that this
    /// machine trusts)
    #[arg(long, value_name = "FILE", help_heading = STARTED)]
    pub cacert: Option<PathBuf>,

    /// The servers listen on this port (default: a free one, as {port} and as the variable PORT)
    #[arg(long, value_name = "N", help_heading = STARTED)]
    pub port: Option<u16>,

    /// Request this path from a started server until the response is good (default: the first path)
    #[arg(long, value_name = "PATH", help_heading = STARTED)]
    pub ready_path: Option<String>,

    /// Good responses to that request have one of these status codes
    #[arg(long, value_name = "CODES", value_parser = values::status, help_heading = STARTED)]
    pub ready_status: Option<values::Status>,

    /// Don't send a request before the server has written this text
    #[arg(long, value_name = "TEXT", help_heading = STARTED)]
    pub ready_line: Option<String>,

    /// Time for a server to exit before it is killed
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = quantities::duration, help_heading = STARTED)]
    pub stop_timeout: Duration,

    /// Number of launches of each server; 0 for no cold start
    #[arg(long, value_name = "N", default_value_t = fathom_conduct::serve::LAUNCHES, value_parser = quantities::whole::<u32>, help_heading = MEASURED)]
    pub launches: u32,

    /// Also launch with the server's own files evicted from memory. Needs no privilege
    #[arg(long, help_heading = MEASURED)]
    pub cold: bool,

    /// Connections of the closed loops (default: 1,16,64); 0 for no closed loop. In an open loop, the maximum
    #[arg(short, long, value_name = "N,...", value_parser = values::connections, help_heading = MEASURED)]
    pub connections: Option<values::Connections>,

    /// Rates of open loops, requests per second (default: 70 % of the highest of the closed loops); 0
    /// for no open loop
    #[arg(long, value_name = "R,...", value_parser = values::rates, help_heading = MEASURED)]
    pub rate: Option<values::Rates>,

    /// Send the requests of the open loop at random times, as from many independent clients, not at equal
    /// intervals
    #[arg(long, help_heading = MEASURED)]
    pub poisson: bool,

    /// Find the highest rate that keeps this limit without errors, such as 'p99<5ms'
    #[arg(long, value_name = "LIMIT", value_parser = values::response_limit, help_heading = MEASURED)]
    pub find_rate: Option<Limit>,

    /// Let the rate of an open loop grow from A to B requests per second over TIME, and report up to which
    /// rate the budget is kept or, without a budget, where response times begin to grow: 100..5000/30s.
    /// Without -c and --rate there is no other load
    #[arg(long, value_name = "A..B/TIME", value_parser = values::ramp, help_heading = MEASURED)]
    pub ramp: Option<Ramp>,

    /// Duration of one step of a round
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = quantities::duration, help_heading = MEASURED)]
    pub time: Duration,

    /// Rounds of load over all servers (default: 5; 8 to compare several; 3 for a ramp alone); 0 for no load
    #[arg(short, long, value_name = "N", value_parser = quantities::whole::<u32>, help_heading = MEASURED)]
    pub rounds: Option<u32>,

    /// Load each server once more and show where its own time goes: waits, system calls, functions
    #[arg(long, conflicts_with_all = ["url", "websocket"], help_heading = MEASURED)]
    pub why: bool,

    #[command(flatten, next_help_heading = MEASURED)]
    pub margin: Margin,

    /// Threads of the load generator, each on a CPU that no server uses: for when one thread is the limit
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "websocket", value_parser = values::threads, help_heading = MEASURED)]
    pub generator_threads: u32,

    #[command(flatten)]
    pub seed: Seed,

    /// Two WebSocket clients send each other messages through the server, one at a time: once with clients
    /// that sleep, and once with clients that spin
    #[arg(long, conflicts_with_all = ["connections", "rate", "ramp", "poisson", "find_rate", "body", "paths_file", "no_keep_alive", "status", "body_contains"], help_heading = ASKED)]
    pub websocket: bool,

    /// Offer permessage-deflate (never offered by default)
    #[arg(long, requires = "websocket", help_heading = ASKED)]
    pub deflate: bool,

    /// Length of a WebSocket message
    #[arg(long, value_name = "N", default_value_t = 9, requires = "websocket", value_parser = values::message_bytes, help_heading = ASKED)]
    pub message_bytes: usize,

    /// Use HTTP/2: negotiated by TLS or, without TLS, assumed
    #[arg(long, conflicts_with_all = ["websocket", "no_keep_alive"], help_heading = ASKED)]
    pub http2: bool,

    /// Concurrent requests on each HTTP/2 connection
    #[arg(long, value_name = "N", default_value_t = 1, requires = "http2", value_parser = values::streams, help_heading = ASKED)]
    pub streams: u32,

    /// The method of the requests
    #[arg(short = 'X', long, value_name = "NAME", default_value = "GET", help_heading = ASKED)]
    pub method: String,

    /// A header line, 'Name: value'. May be given several times
    #[arg(short = 'H', long = "header", value_name = "LINE", help_heading = ASKED)]
    pub headers: Vec<String>,

    /// Body of each request; @FILE sends a file
    #[arg(short = 'd', long, value_name = "TEXT|@FILE", help_heading = ASKED)]
    pub body: Option<String>,

    /// Path to request (default: /). Several are requested in turn
    #[arg(long = "path", value_name = "PATH", help_heading = ASKED)]
    pub paths: Vec<String>,

    /// Read the paths from a file, one per line
    #[arg(long, value_name = "FILE", conflicts_with = "paths", help_heading = ASKED)]
    pub paths_file: Option<PathBuf>,

    /// Good responses have one of these status codes (default: any below 400)
    #[arg(long, value_name = "CODES", value_parser = values::status, help_heading = ASKED)]
    pub status: Option<values::Status>,

    /// Good responses have this text in their body
    #[arg(long, value_name = "TEXT", help_heading = ASKED)]
    pub body_contains: Option<String>,

    /// Open a new connection for each request
    #[arg(long, help_heading = ASKED)]
    pub no_keep_alive: bool,

    /// A request without a complete response after this long has failed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quantities::duration, help_heading = ASKED)]
    pub request_timeout: Duration,

    /// Exit with 1 if a server exceeds one of these, with 4 if one can't be judged: p50, p90, p95, p99, p99.9
    /// or max of the response time, errors, ready (p90 of the time to the first response), cpu (per request):
    /// 'p99=2ms,errors=0'. May be given several times
    #[arg(long, value_name = "LIMITS", value_parser = values::budget, help_heading = SHOWN)]
    pub budget: Vec<values::Budget>,

    /// Show everything: how requests were sent, Little's law, memory, verdicts with their intervals
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write an HTML page: the startup step by step, latency by percentile and over time, all tables
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub html: Option<PathBuf>,

    /// Write the complete record as JSON. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,
}
