//! Ping-pong over WebSocket.

use serde::{Deserialize, Serialize};

use super::Percentiles;

/// How a WebSocket client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WebSocketClient {
    /// It sleeps until something comes: its wake-ups are in the times.
    Blocking,
    /// It asks again and again: the server's part of the time shows.
    Spinning,
}

/// What a server does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WebSocketLink {
    /// It sends it to the other client.
    Relay,
    /// It sends it back to who sent it.
    Echo,
}

/// One step of a round by WebSocket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    pub verdicts: Vec<super::Doubt>,
    /// Every step.
    pub rounds: Vec<WebSocketRound>,
}
