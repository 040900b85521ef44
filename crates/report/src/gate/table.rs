//! The rows of a gate, on a terminal and on a page.

use fathom_model::{GateBenchmark, GateVerdict};

use super::{change, levels};
use crate::document::{Cell, Kind, Place, Table};
use crate::line::Tone;
use crate::quantity::{format_count, format_share, signed_interval};

/// Returns the outcome of a row, and its tone.
pub(super) fn verdict(row: &GateBenchmark) -> (&'static str, Tone) {
    match (row.verdict, &row.waived) {
        (GateVerdict::Worse, Some(_)) => ("waived", Tone::Notice),
        (GateVerdict::Worse, None) => ("worse", Tone::Bad),
        (GateVerdict::NotWorse, _) => ("not worse", Tone::Good),
        (GateVerdict::CannotTell, _) => ("cannot tell", Tone::Notice),
    }
}

/// Returns the reason for a row's verdict, and what differs.
pub(super) fn why(row: &GateBenchmark) -> Vec<String> {
    let waived = row.waived.iter();
    let waived = waived.map(|waiver| format!("waived until {}: {}", waiver.until, waiver.reason));
    let all = row.why.iter().cloned().chain(waived);
    all.chain(row.difference.iter().cloned()).collect()
}

/// Builds a table with a row for each benchmark.
pub(crate) fn table<'r>(rows: impl IntoIterator<Item = &'r GateBenchmark>) -> Table {
    let mut table = Table::new("Gate")
        .column("benchmark", Kind::Name)
        .placed("metric", Kind::Name, Place::Page)
        .column("verdict", Kind::Words)
        .placed("change", Kind::Words, Place::Terminal(0))
        .placed("change", Kind::Number, Place::Page)
        .placed("interval", Kind::Number, Place::Page)
        .column("base -> head", Kind::Words)
        .placed("margin", Kind::Number, Place::Page)
        .placed("rounds", Kind::Number, Place::Page);
    for row in rows {
        let (word, tone) = verdict(row);
        let shown = match &row.budget {
            Some(budget) => format!("{} {budget}", row.metric),
            None => change(row),
        };
        let (own, interval) = match row.ratio.as_ref().map(|one| (one, signed_interval(one))) {
            Some((ratio, (change, interval))) => (
                Cell::number(&change, ratio.value),
                interval.map_or(Cell::none("counted exactly"), |interval| {
                    Cell::number(&interval, ratio.low)
                }),
            ),
            None => (
                Cell::none("judged without a ratio"),
                Cell::none("judged without a ratio"),
            ),
        };
        table.row(
            "",
            vec![
                Cell::name(&row.name)
                    .toned(Tone::Strong)
                    .with_small(why(row)),
                Cell::name(&row.metric),
                Cell::words(word).toned(tone),
                Cell::words(&shown),
                own,
                interval,
                Cell::words(&levels(row)).toned(Tone::Quiet),
                Cell::number(&format_share(row.margin), row.margin),
                Cell::number(&format_count(row.rounds as f64), row.rounds as f64),
            ],
        );
    }
    table
}
