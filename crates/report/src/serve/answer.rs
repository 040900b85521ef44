//! The first sentences: how soon a server answers, its capacity, and the latency.

use fathom_model::{
    LoadResult, ServeComparison, ServeMetric, ServeRecord, ServedServer, StopReason, Verdict,
};

use super::compared::too_few;
use super::words::{self, ms};
use crate::line::Tone;
use crate::quantity::{Words, change, counted, format_count};
use crate::text::{JOIN, shorten};

/// Width of a name within a sentence.
const NAME: usize = 36;

/// Returns the answer in a few sentences, and its tone.
pub(super) fn answer(record: &ServeRecord) -> (Tone, String) {
    let mut tone = Tone::Strong;
    let mut sentences = Vec::new();
    if !record.complete {
        tone = Tone::Bad;
        sentences.push(match record.stop {
            StopReason::Interrupted => "PARTIAL: interrupted.".to_string(),
            _ => "PARTIAL: a server failed.".to_string(),
        });
    }
    let broken = || record.budget.iter().filter(|budget| !budget.met);
    // An exceeded limit is more informative than an unknown value.
    let first = broken().find(|budget| budget.value.is_some());
    if let Some(first) = first.or_else(|| broken().next()) {
        tone = Tone::Bad;
        let number = words::number(record, first.server);
        let limit = shorten(&first.limit, NAME);
        sentences.push(match first.value {
            Some(value) => format!(
                "OVER the budget: {number}{limit}, but it is {}.",
                budget_value(&first.limit, value)
            ),
            None => format!("The budget can't be judged: {number}{limit} needs more values."),
        });
    } else if !record.budget.is_empty() {
        tone = if record.complete { Tone::Good } else { tone };
        let limits = counted(record.budget.len() as u64, "limit", "limits");
        sentences.push(format!("Within the budget of {limits}."));
    }
    if let Some(doubts) = doubts(record) {
        tone = match tone {
            Tone::Strong | Tone::Good => Tone::Notice,
            other => other,
        };
        // Doubts come first, since the figures after them don't depend on the server alone.
        sentences.insert(usize::from(!record.complete), doubts);
    }
    if let Some(server) = record.servers.first() {
        sentences.push(of(server));
    }
    for index in 1..record.servers.len() {
        sentences.extend(of_other(record, index));
    }
    (tone, sentences.join(" ").replace(JOIN, " "))
}

/// Formats what other than the servers affected some step: `Doubtful: generator-bound, neighbours.`
fn doubts(record: &ServeRecord) -> Option<String> {
    let loads = record.servers.iter().flat_map(|server| &server.load);
    let ramps = record.servers.iter().flat_map(|server| &server.ramp);
    let of_ramps = ramps.flat_map(|ramp| &ramp.verdicts);
    let mut found: Vec<&str> = Vec::new();
    for verdict in loads.flat_map(|load| &load.verdicts).chain(of_ramps) {
        if !found.contains(&verdict.name()) {
            found.push(verdict.name());
        }
    }
    (!found.is_empty()).then(|| format!("Doubtful: {}.", found.join(", ")))
}

/// Formats a value like its limit: `p99=2ms`, `errors=0`, `cpu=50us`.
pub(super) fn budget_value(limit: &str, value: f64) -> String {
    match limit.split(['=', '<']).next().unwrap_or_default().trim() {
        "errors" => format_count(value),
        "cpu" => words::us(value),
        _ => ms(value),
    }
}

fn of(server: &ServedServer) -> String {
    let name = shorten(&server.name, NAME);
    let mut parts = Vec::new();
    if let Some(cold) = &server.cold {
        parts.push(format!(
            "answers {} after its launch",
            ms(cold.ready_ms.p50)
        ));
    }
    if let Some(best) = best(server) {
        let cpu = best.server_cpu_us_per_request.map_or(String::new(), |us| {
            format!(" at {} of CPU time each", words::us(us))
        });
        let most = format_count(best.requests_per_second.round());
        parts.push(format!(
            "does {most} requests/s on {}{cpu}",
            words::load(best)
        ));
    }
    if let Some(open) = server
        .load
        .iter()
        .find(|load| load.rate_per_second.is_some())
    {
        let rate = format_count(open.rate_per_second.unwrap_or(0.0));
        parts.push(match open.response_ms.p99 {
            Some(p99) => format!("at {rate}/s has a p99 of {}", ms(p99)),
            None => format!("at {rate}/s has too few answers for a p99"),
        });
    }
    if let Some(ramp) = &server.ramp
        && let Some(limit) = ramp.limits.first()
    {
        parts.push(match limit.limit.as_str() {
            "knee" => match limit.kept_up_to_per_second {
                Some(rate) if limit.left_in.is_some() => {
                    format!(
                        "answers more slowly from {}/s on",
                        format_count(rate.round())
                    )
                }
                Some(_) => "does not slow down much at any rate of the ramp".to_owned(),
                None => "has too few answers to find a knee".to_owned(),
            },
            text => match limit.kept_up_to_per_second {
                Some(rate) => {
                    let limit = shorten(text, NAME);
                    format!("keeps {limit} up to {}/s", format_count(rate.round()))
                }
                None => format!("exceeds {} at every rate of the ramp", shorten(text, NAME)),
            },
        });
    }
    if let Some(first) = server.websocket.first() {
        let trips = format_count(first.round_trips_per_second.round());
        let p50 = words::ms_or(first.round_trip_ms.p50);
        parts.push(format!(
            "does {trips} WebSocket round trips/s with a p50 of {p50}"
        ));
    }
    match parts.len() {
        0 => format!("{name}: nothing was measured."),
        1 => format!("{name} {}.", parts[0]),
        2 => format!("{name} {} and {}.", parts[0], parts[1]),
        last => format!(
            "{name} {}, and {}.",
            parts[..last - 1].join(", "),
            parts[last - 1]
        ),
    }
}

/// Returns the closed-loop load with the highest throughput; the table shows which side was the limit.
fn best(server: &ServedServer) -> Option<&LoadResult> {
    let closed = server
        .load
        .iter()
        .filter(|load| load.rate_per_second.is_none());
    closed.max_by(|a, b| a.requests_per_second.total_cmp(&b.requests_per_second))
}

fn of_other(record: &ServeRecord, index: usize) -> Option<String> {
    let mine = |comparison: &&ServeComparison| comparison.subject == index;
    let of_metric = |metric| {
        record
            .comparisons
            .iter()
            .filter(mine)
            .rfind(move |c| c.metric == metric)
    };
    let part = |metric, what: &str| {
        let comparison = of_metric(metric)?;
        Some(match comparison.verdict {
            Verdict::Faster | Verdict::Slower => {
                let words = Words {
                    less: "faster",
                    more: "slower",
                };
                format!("{} {what}", change(comparison.ratio.value, words))
            }
            Verdict::Same => format!("the same {what}"),
            Verdict::Undecided => match too_few(comparison) {
                Some(too_few) => format!("undecided {what}: {too_few}"),
                None => format!("undecided {what}"),
            },
        })
    };
    let parts = [
        part(ServeMetric::Ready, "to its first answer"),
        part(ServeMetric::TimePerRequest, "in requests/s"),
        part(ServeMetric::P99, "in p99"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let name = shorten(&record.servers.get(index)?.name, NAME);
    (!parts.is_empty()).then(|| format!("Compared with server 1, {name} is {}.", parts.join(", ")))
}
