//! WebSocket messages through servers and back: one row for each server and kind of client.

use fathom_model::{ServeRecord, WebSocketClient, WebSocketLink, WebSocketResult};

use crate::quantity::{counted, fixed, format_bytes, format_share};
use crate::text::bounded;

/// Returns all results with the index of their server.
pub(super) fn all(record: &ServeRecord) -> Vec<(usize, &WebSocketResult)> {
    let servers = record.servers.iter().enumerate();
    let of =
        servers.flat_map(|(index, server)| server.websocket.iter().map(move |one| (index, one)));
    of.collect()
}

/// Returns the title above the results; `None` if there are no results.
pub(super) fn title(record: &ServeRecord, all: &[(usize, &WebSocketResult)]) -> Option<String> {
    let (_, first) = all.first()?;
    let conditions = &record.conditions;
    let rounds = counted(u64::from(conditions.rounds), "round", "rounds");
    let decimals = usize::from(conditions.step_seconds.fract() != 0.0);
    Some(format!(
        "Messages of {} through the server and back ({rounds} of {} s)",
        format_bytes(first.message_bytes as f64),
        fixed(conditions.step_seconds, decimals)
    ))
}

pub(super) fn client(one: &WebSocketResult) -> &'static str {
    match one.client {
        WebSocketClient::Blocking => "clients sleep",
        WebSocketClient::Spinning => "clients spin",
    }
}

/// Describes what the server does with a message, and the negotiated extensions.
pub(super) fn link(one: &WebSocketResult) -> String {
    let link = match one.link {
        WebSocketLink::Relay => "it relays from one client to the other, and back",
        WebSocketLink::Echo => "it sends each message back to its sender",
    };
    let extensions = bounded(one.extensions.as_deref().unwrap_or("none"), 200);
    format!("{link}; extensions: {extensions}")
}

/// Returns how much CPU time other programs took, if it was too much in any measurement.
pub(super) fn neighbours(all: &[(usize, &WebSocketResult)]) -> Option<String> {
    let disturbed = all.iter().filter(|(_, one)| !one.verdicts.is_empty());
    let shares = disturbed.flat_map(|(_, one)| &one.rounds);
    let most = shares
        .map(|round| round.neighbours_share)
        .fold(0.0, f64::max);
    (most > 0.0).then(|| {
        let most = format_share(most);
        format!("Other programs took up to {most} of the CPUs: these numbers are unreliable")
    })
}
