//! Clients for servers: schedules, HTTP/1.1 and HTTP/2 over epoll, TLS, histograms of latency.
//!
//! | question | where |
//! |---|---|
//! | When should each request be sent? | [`Schedule`] |
//! | What is the outcome of each request, and does Little's law hold? | [`Ledger`], [`Totals`] |
//! | How are a million latencies kept, and which percentiles do they support? | [`Latencies`] |
//! | What did the server respond? | [`Reader`] |
//! | Which side was the limit, and can the numbers be trusted? | [`doubts`], [`is_steady`] |
//! | Did a slow launch wait, or work longer? | [`why_slow`] |
//! | How long does a message take through a server and back? | [`websocket`] |
//! | Which TLS settings are used, and which certificates are trusted? | [`Tls`] |
//! | How are requests sent and responses read? | [`Client`]; [`ask`] for the very first response |
//!
//! All except the last only compute: they take times, bytes and numbers. Only [`Client`] and [`ask`] have
//! sockets and a clock.

mod address;
mod client;
pub mod clock;
mod dispatcher;
mod epoll;
mod first;
mod http1;
mod http2;
mod latencies;
mod ledger;
mod link;
mod punctual;
mod request;
mod response;
mod schedule;
mod slow_launches;
mod socket;
mod stream;
mod task;
mod tls;
mod trust;
pub mod websocket;

pub use address::{Address, Url};
pub use client::{Client, Open, Step, Tick, allow_descriptors};
pub use epoll::is_coarse;
pub use first::{Ask, First, NoAnswer, ask};
pub use http2::Http2Request;
pub use latencies::{Latencies, needed_for};
pub use ledger::{Failing, Ledger, Pace, Second, Ticket, Totals};
pub use link::Making;
pub use request::{Checks, Expected, Extensions, MOST_KEPT, Request, RequestPlan, Taken};
pub use response::{Answer, Body, Malformed, Progress, Reader};
pub use schedule::{Arrivals, Rate, Schedule};
pub use slow_launches::{LaunchCosts, SlowBy, why_slow};
pub use task::{Outcome, Task};
pub use tls::{Tls, TlsTerms, Trust};
pub use trust::{Observed, doubts, is_steady};
