//! Messages through servers and back: one row for each server and kind of client.

use fathom_model::{ServeRecord, WebSocketClient, WebSocketLink, WebSocketResult};

use super::words::{self, ms_or};
use crate::line::{Page, Tone};
use crate::quantity::{counted, fixed, format_bytes, format_count, format_share};
use crate::why::columns::{Column, write as write_columns};

/// Writes the table.
pub(super) fn write(page: &mut Page, record: &ServeRecord) {
    let all: Vec<(usize, &WebSocketResult)> = record
        .servers
        .iter()
        .enumerate()
        .flat_map(|(index, server)| server.websocket.iter().map(move |one| (index, one)))
        .collect();
    let Some((_, first)) = all.first() else {
        return;
    };
    page.gap();
    let conditions = &record.conditions;
    let rounds = counted(u64::from(conditions.rounds), "round", "rounds");
    let decimals = usize::from(conditions.step_seconds.fract() != 0.0);
    let title = format!(
        "Messages of {} through the server and back ({rounds} of {} s)",
        format_bytes(first.message_bytes as f64),
        fixed(conditions.step_seconds, decimals)
    );
    page.prose(0, Tone::Strong, &title);
    let names: Vec<String> = all
        .iter()
        .map(|(server, one)| {
            let client = match one.client {
                WebSocketClient::Blocking => "clients sleep",
                WebSocketClient::Spinning => "clients spin",
            };
            format!("{}{client}", words::number(record, *server))
        })
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
        let link = match one.link {
            WebSocketLink::Relay => "it relays from one client to the other, and back",
            WebSocketLink::Echo => "it sends each message back to who sent it",
        };
        let extensions = page.clean(one.extensions.as_deref().unwrap_or("none"));
        let text = format!("{number}{link}; extensions: {extensions}");
        page.prose(2, Tone::Quiet, &text);
    }
    let disturbed = all.iter().filter(|(_, one)| !one.verdicts.is_empty());
    let shares = disturbed.flat_map(|(_, one)| &one.rounds);
    let most = shares
        .map(|round| round.neighbours_share)
        .fold(0.0, f64::max);
    if most > 0.0 {
        let most = format_share(most);
        let text =
            format!("Other programs took up to {most} of the CPUs: don't trust these numbers");
        page.prose(2, Tone::Bad, &text);
    }
}
