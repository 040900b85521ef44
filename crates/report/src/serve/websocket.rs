//! Messages through servers and back: one row for each server and kind of client.

use fathom_model::{ServeRecord, WebSocketClient, WebSocketLink, WebSocketResult};

use super::words::{self, ms_or};
use crate::line::{Page, Tone};
use crate::quantity::{counted, fixed, format_bytes, format_count, format_share};
use crate::why::columns::{Column, write as write_columns};

/// Writes the table.
pub(super) fn write(page: &mut Page, record: &ServeRecord) {
    let all = all(record);
    let Some(title) = title(record, &all) else {
        return;
    };
    page.gap();
    page.prose(0, Tone::Strong, &title);
    let names: Vec<String> = all
        .iter()
        .map(|(server, one)| format!("{}{}", words::number(record, *server), client(one)))
        .collect();
    let column = |title, expendable, of: &dyn Fn(&WebSocketResult) -> String| {
        let cells = all.iter().map(|(_, one)| of(one)).collect();
        Column::new(title, expendable, cells)
    };
    let us = |value: Option<f64>| value.map_or_else(|| "-".to_string(), words::us);
    let columns = vec![
        column("round trips/s", 0, &|one| {
            format_count(one.round_trips_per_second.round())
        }),
        column("p50", 0, &|one| ms_or(one.round_trip_ms.p50)),
        column("p99", 0, &|one| ms_or(one.round_trip_ms.p99)),
        column("max", 1, &|one| ms_or(one.round_trip_ms.max)),
        column("CPU each", 2, &|one| us(one.server_cpu_us_per_round_trip)),
    ];
    write_columns(page, "", &names, columns);
    for (server, one) in &all {
        // Both kinds of clients have the same server.
        if one.client == WebSocketClient::Spinning {
            continue;
        }
        let number = words::number(record, *server);
        let link = link(one, |text| page.clean(text));
        page.prose(2, Tone::Quiet, &format!("{number}{link}"));
    }
    if let Some(text) = neighbours(&all) {
        page.prose(2, Tone::Bad, &text);
    }
}

/// All with the index of their server.
pub(super) fn all(record: &ServeRecord) -> Vec<(usize, &WebSocketResult)> {
    let servers = record.servers.iter().enumerate();
    let of =
        servers.flat_map(|(index, server)| server.websocket.iter().map(move |one| (index, one)));
    of.collect()
}

/// What stands above them; nothing if there are none.
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

/// What the server does with a message, and what was agreed on, which goes through `clean`.
pub(super) fn link(one: &WebSocketResult, clean: impl Fn(&str) -> String) -> String {
    let link = match one.link {
        WebSocketLink::Relay => "it relays from one client to the other, and back",
        WebSocketLink::Echo => "it sends each message back to who sent it",
    };
    let extensions = clean(one.extensions.as_deref().unwrap_or("none"));
    format!("{link}; extensions: {extensions}")
}

/// How much others took, if that was too much anywhere.
pub(super) fn neighbours(all: &[(usize, &WebSocketResult)]) -> Option<String> {
    let disturbed = all.iter().filter(|(_, one)| !one.verdicts.is_empty());
    let shares = disturbed.flat_map(|(_, one)| &one.rounds);
    let most = shares
        .map(|round| round.neighbours_share)
        .fold(0.0, f64::max);
    (most > 0.0).then(|| {
        let most = format_share(most);
        format!("Other programs took up to {most} of the CPUs: don't trust these numbers")
    })
}
