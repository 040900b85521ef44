//! The figures as a table; on a terminal the notes on a figure follow below it.

use fathom_model::quantity::three_digits;
use fathom_model::{ProbeResult, ProbeVerdict};

use super::MachineOptions;
use super::figure::{machine_figure, status};
use crate::document::{Cell, Kind, Place, Table};

/// Builds a table with a row for each probe.
pub(super) fn table<'r>(
    results: impl IntoIterator<Item = &'r ProbeResult>,
    options: MachineOptions,
) -> Table {
    let mut table = Table::new("All figures")
        .placed("probe", Kind::Name, Place::Terminal(0))
        .placed("probe", Kind::Name, Place::Page)
        .column("value", Kind::Number)
        .column("spread", Kind::Number)
        .column("status", Kind::Words)
        .placed("reported", Kind::Number, Place::Page)
        .placed("method and remarks", Kind::Words, Place::Page);
    for result in results {
        let figure = |value: f64| machine_figure(value, &result.unit);
        let class = match result.verdict {
            ProbeVerdict::Ok => "ok",
            ProbeVerdict::Disturbed | ProbeVerdict::NoAnswer => "disturbed",
            ProbeVerdict::NotMeasurable => "absent",
        };
        let spread = result.spread.map(|spread| match spread < 10.0 {
            true => Cell::number(&format!("{:.1} %", spread * 100.0), spread),
            false => Cell::number("> 10x", spread),
        });
        let how = Cell::words(&result.method);
        table.row(
            class,
            vec![
                Cell::name(&result.title).with_small(remarks(result, options)),
                Cell::name(&result.title),
                match result.value {
                    Some(value) => Cell::number(&figure(value), value),
                    None => Cell::none(status(result)),
                },
                spread.unwrap_or_default(),
                Cell::words(status(result)),
                result
                    .reported
                    .map_or_else(Cell::default, |value| Cell::number(&figure(value), value)),
                how.with_hidden(
                    cycles(result)
                        .into_iter()
                        .chain(result.note.clone())
                        .collect(),
                ),
            ],
        );
    }
    table
}

fn cycles(result: &ProbeResult) -> Option<String> {
    let cycles = three_digits(result.cycles?);
    Some(format!("{cycles} cycles of the core's clock"))
}

/// Returns the notes on a figure.
fn remarks(result: &ProbeResult, options: MachineOptions) -> Vec<String> {
    let figure = |value: f64| machine_figure(value, &result.unit);
    let reported = result.reported.map(|reported| {
        let differs = match result.value {
            Some(value) if value != reported => " (differs)",
            _ => "",
        };
        format!("reported by the system: {}{differs}", figure(reported))
    });
    let ends = result.min.zip(result.median);
    let disturbed = ends.filter(|_| result.verdict == ProbeVerdict::Disturbed);
    let measured =
        disturbed.map(|(min, median)| format!("measured: {} and {}", figure(min), figure(median)));
    let method = options.methods.then(|| result.method.clone());
    let note = result.note.clone();
    let all = [cycles(result), reported, note, measured, method];
    all.into_iter().flatten().collect()
}
