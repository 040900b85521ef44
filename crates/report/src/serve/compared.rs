//! Each server against the first, with intervals.

use fathom_model::{ServeComparison, ServeMetric, ServeRecord, Verdict};

use super::pictures::server_name;
use super::words;
use crate::document::{Cell, Kind, Place, Table};
use crate::line::Tone;
use crate::quantity::{Words, bound, change, change_with_interval, counted};

/// A row for each verdict.
pub(super) fn table(record: &ServeRecord) -> Table {
    let mut table = Table::new("Comparisons")
        .placed("", Kind::Name, Place::Terminal(0))
        .placed("server", Kind::Name, Place::Page)
        .column("by", Kind::Words)
        .column("verdict", Kind::Words)
        .stacked();
    for one in &record.comparisons {
        let cells = vec![
            Cell::words(&(one.subject + 1).to_string()),
            Cell::name(&server_name(record, one.subject)),
            Cell::words(&what(record, one)),
            Cell::words(&verdict(one)).toned(Tone::of(one.verdict)),
        ];
        table.row("", cells);
    }
    table
}

/// By what it is compared.
fn what(record: &ServeRecord, comparison: &ServeComparison) -> String {
    let load = || {
        let server = record.servers.get(comparison.subject)?;
        Some(words::load(server.load.get(comparison.load?)?))
    };
    let load = load().map_or(String::new(), |load| format!(", {load}"));
    let metric = match comparison.metric {
        ServeMetric::Ready => "first answer",
        ServeMetric::TimePerRequest => "time per request",
        ServeMetric::P99 => "p99",
        ServeMetric::ServerCpu => "CPU time each",
    };
    format!("{metric}{load}")
}

/// What follows, with its interval.
fn verdict(comparison: &ServeComparison) -> String {
    let words = match comparison.metric {
        ServeMetric::ServerCpu => Words {
            less: "less",
            more: "more",
        },
        _ => Words {
            less: "faster",
            more: "slower",
        },
    };
    if !comparison.doubts.is_empty() {
        return format!(
            "{}: no verdict ({})",
            comparison.doubts.join(", "),
            change(comparison.ratio.value, words)
        );
    }
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => change_with_interval(&comparison.ratio, words),
        Verdict::Same => format!("same, any difference is under {}", bound(&comparison.ratio)),
        Verdict::Undecided => {
            let more = comparison.more_rounds.map_or(String::new(), |more| {
                let rounds = counted(more.0, "more round", "more rounds");
                format!("; about {rounds} would decide")
            });
            format!(
                "undecided: between {} and {}{more}",
                change(comparison.ratio.low, words),
                change(comparison.ratio.high, words)
            )
        }
    }
}
