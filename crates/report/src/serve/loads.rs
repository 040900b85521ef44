//! What servers did under load: one row for each server and load.

use fathom_model::{LoadResult, ServeRecord};

use super::words::{self, ms_or};
use crate::line::{Page, Tone};
use crate::quantity::{counted, fixed, format_bytes, format_count, format_share};
use crate::why::columns::{Column, write as write_columns};

/// Writes the tables.
pub(super) fn write(page: &mut Page, record: &ServeRecord, verbose: bool) {
    let loads = all(record);
    if loads.is_empty() {
        return;
    }
    page.gap();
    page.prose(0, Tone::Strong, &title(record));
    let names: Vec<String> = loads
        .iter()
        .map(|(server, load)| format!("{}{}", words::number(record, *server), words::load(load)))
        .collect();
    let column = |title, expendable, of: &dyn Fn(&LoadResult) -> String| {
        Column::new(
            title,
            expendable,
            loads.iter().map(|(_, load)| of(load)).collect(),
        )
    };
    let us = |value: Option<f64>| value.map_or_else(|| "-".to_string(), words::us);
    write_columns(
        page,
        "",
        &names,
        vec![
            column("requests/s", 0, &|load| {
                format_count(load.requests_per_second.round())
            }),
            column("p50", 0, &|load| ms_or(load.response_ms.p50)),
            column("p99", 0, &|load| ms_or(load.response_ms.p99)),
            column("p99.9", 2, &|load| ms_or(load.response_ms.p999)),
            column("max", 1, &|load| ms_or(load.response_ms.max)),
            column("CPU each", 3, &|load| us(load.server_cpu_us_per_request)),
        ],
    );
    if loads.iter().any(|(_, load)| load.rate_per_second.is_none()) {
        page.prose(2, Tone::Quiet, CLOSED);
    }
    if let Some(text) = neighbours(&loads) {
        page.prose(2, Tone::Bad, &text);
    }
    for (server, load) in &loads {
        let said = doubts(load, |text| page.clean(text));
        if !said.is_empty() {
            let who = format!("{}{}", words::number(record, *server), words::load(load));
            page.prose(2, Tone::Notice, &format!("{who}: {}", said.join("; ")));
        }
    }
    if verbose {
        details(page, &names, &loads);
    }
}

/// All loads with the index of their server.
pub(super) fn all(record: &ServeRecord) -> Vec<(usize, &LoadResult)> {
    let servers = record.servers.iter().enumerate();
    let of = servers.flat_map(|(index, server)| server.load.iter().map(move |load| (index, load)));
    of.collect()
}

/// What stands above them.
pub(super) fn title(record: &ServeRecord) -> String {
    let conditions = &record.conditions;
    let rounds = counted(u64::from(conditions.rounds), "round", "rounds");
    let decimals = usize::from(conditions.step_seconds.fract() != 0.0);
    format!(
        "Under load ({rounds} of {} s; response times of good answers)",
        fixed(conditions.step_seconds, decimals)
    )
}

/// Why a closed loop has no verdict on latency.
pub(super) const CLOSED: &str =
    "Closed loops hardly notice a standstill; the open loop counts it in full.";

/// What stands in the way of trust in one load; what is from outside goes through `clean`.
pub(super) fn doubts(load: &LoadResult, clean: impl Fn(&str) -> String) -> Vec<String> {
    let mut said = Vec::new();
    for verdict in &load.verdicts {
        said.push(match verdict.as_str() {
            "generator-bound" => format!(
                "generator-bound: the generator had {} of its CPU, the server {}",
                format_share(load.generator_cpu_share),
                load.server_cpus_used
                    .map_or("an unknown part".to_string(), |cpus| {
                        format!("{} CPUs", fixed(cpus, 2))
                    })
            ),
            "generator late" => format!(
                "the generator was late: p99 of its lag {}",
                load.generator_lag_us
                    .p99
                    .map_or("n/a".to_string(), words::us)
            ),
            // Said once, of all.
            "neighbours" => continue,
            "Little's law off" => format!(
                "Little's law is off: {} instead of 1",
                load.little
                    .map_or("?".to_string(), |little| fixed(little, 3))
            ),
            "not steady" => {
                "not steady: CPU time for each request moves over the rounds".to_string()
            }
            other => clean(other),
        });
    }
    if load.errors + load.dropped > 0 {
        let kinds = load.errors_by_kind.iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{} {}", format_count(*count as f64), clean(kind)))
            .collect();
        let dropped = match load.dropped {
            0 => String::new(),
            dropped => format!("; {} were never answered", format_count(dropped as f64)),
        };
        said.push(format!(
            "{} of {} requests failed{}{}{dropped}",
            format_count(load.errors as f64),
            format_count(load.scheduled as f64),
            if kinds.is_empty() { "" } else { ": " },
            kinds.join(", ")
        ));
    }
    said
}

/// How much others took, at the least and at the most, if that was too much anywhere.
pub(super) fn neighbours(loads: &[(usize, &LoadResult)]) -> Option<String> {
    let disturbed = |load: &LoadResult| load.verdicts.iter().any(|verdict| verdict == "neighbours");
    if !loads.iter().any(|(_, load)| disturbed(load)) {
        return None;
    }
    let all = loads.iter().flat_map(|(_, load)| &load.rounds);
    let shares = all.map(|round| round.neighbours_share);
    let (least, most) = shares.fold((f64::INFINITY, 0f64), |(least, most), share| {
        (least.min(share), most.max(share))
    });
    let (least, most) = (format_share(least), format_share(most));
    let shares = match least == most {
        true => most,
        false => format!("{least} to {most}"),
    };
    Some(format!(
        "Other programs took {shares} of the CPUs: don't trust these numbers"
    ))
}

fn details(page: &mut Page, names: &[String], loads: &[(usize, &LoadResult)]) {
    let column = |title, expendable, of: &dyn Fn(&LoadResult) -> String| {
        Column::new(
            title,
            expendable,
            loads.iter().map(|(_, load)| of(load)).collect(),
        )
    };
    let lag = |us: Option<f64>| us.map_or_else(|| "n/a".to_string(), words::us);
    page.gap();
    page.prose(0, Tone::Strong, "How the requests were sent");
    write_columns(
        page,
        "",
        names,
        vec![
            column("scheduled", 0, &|load| format_count(load.scheduled as f64)),
            column("dropped", 0, &|load| format_count(load.dropped as f64)),
            column("service p99", 0, &|load| ms_or(load.service_ms.p99)),
            column("lag p50", 0, &|load| lag(load.generator_lag_us.p50)),
            column("lag p99", 0, &|load| lag(load.generator_lag_us.p99)),
            column("Little", 0, &|load| {
                load.little
                    .map_or("-".to_string(), |little| fixed(little, 3))
            }),
        ],
    );
    page.gap();
    page.prose(0, Tone::Strong, "What both sides spent");
    let count = |value: Option<f64>| value.map_or("-".to_string(), |value| fixed(value, 2));
    write_columns(
        page,
        "",
        names,
        vec![
            column("CPUs", 0, &|load| count(load.server_cpus_used)),
            column("memory", 0, &|load| {
                load.server_peak_memory_bytes
                    .map_or("-".to_string(), |bytes| format_bytes(bytes as f64))
            }),
            column("threads", 0, &|load| {
                load.server_threads
                    .map_or("-".to_string(), |n| n.to_string())
            }),
            column("waits each", 0, &|load| {
                count(load.server_voluntary_switches_per_request)
            }),
            column("generator", 0, &|load| {
                format_share(load.generator_cpu_share)
            }),
            column("each", 1, &|load| {
                words::us(load.generator_cpu_us_per_request)
            }),
        ],
    );
}
