//! Ping-pong over WebSocket.

use serde::{Deserialize, Serialize};

use super::Percentiles;

/// How a WebSocket client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WebSocketClient {
    /// It sleeps until a message arrives: its wake-ups are included in the times.
    Blocking,
    /// It polls: the times show the server's part.
    Spinning,
}

/// What a server does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WebSocketLink {
    /// It sends the message to the other client.
    Relay,
    /// It sends the message back to its sender.
    Echo,
}

/// One WebSocket step of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebSocketRound {
    /// The number of the round, from 0.
    pub round: u32,
    /// Round trips per second.
    pub round_trips_per_second: f64,
    /// The median time of a round trip.
    pub p50_ms: Option<f64>,
    /// The CPU time of the server's processes for each round trip; absent if Fathom didn't start them.
    pub server_cpu_us_per_round_trip: Option<f64>,
    /// The CPU time of other programs as a share of all CPUs.
    pub neighbours_share: f64,
}

/// Messages through a server and back, one after the other, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WebSocketResult {
    /// How the clients waited.
    pub client: WebSocketClient,
    /// What the server did with a message. With a relay, a round trip consists of two messages between two
    /// clients.
    pub link: WebSocketLink,
    /// The extensions agreed on, as the server wrote them; absent if none. Not trustworthy: escape it.
    pub extensions: Option<String>,
    /// The length of a message in bytes.
    pub message_bytes: usize,
    /// The number of round trips.
    pub round_trips: u64,
    /// Round trips per second: the median over the rounds.
    pub round_trips_per_second: f64,
    /// The time of a round trip.
    pub round_trip_ms: Percentiles,
    /// The number of expected messages that arrived.
    pub messages: u64,
    /// The number of other messages that arrived, such as a client's own.
    pub other_messages: u64,
    /// The CPU time of the server's processes for each round trip; absent if Fathom didn't start them.
    pub server_cpu_us_per_round_trip: Option<f64>,
    /// Doubts about the numbers: `neighbours`.
    pub verdicts: Vec<super::Doubt>,
    /// Every step.
    pub rounds: Vec<WebSocketRound>,
}
