//! Several series: a line each, with the last value, its change and a sparkline.

use fathom_model::quantity::counted;
use fathom_model::{HistoryRecord, HistorySeries};

use super::{last_change, named_in, plot, say_shared, shared, tone};
use crate::Screen;
use crate::document::{Cell, Kind, Table, fitted};
use crate::line::{Page, Tone};
use crate::quantity::{Scale, apart, signed_apart};

/// The text for an empty store.
pub(crate) const NOTHING_SAVED: &str = "nothing is saved yet; in a project, `fathom bench` and similar verbs save their results; elsewhere, add --save";
/// The maximum number of series shown without `-v`: a screenful.
pub const SHOWN: usize = 18;
/// Width of the metric's name.
const METRIC: usize = 20;
/// Number of points in a sparkline.
const SPARK: usize = 16;

/// Returns why there is no change.
fn no_change(series: &HistorySeries) -> String {
    match series.points.len() {
        0 | 1 => "first".to_owned(),
        _ => "new env".to_owned(),
    }
}

/// Formats a line for each series. `others` is the number of metrics that were not requested. Ends with a
/// newline.
pub fn history_list(record: &HistoryRecord, others: usize, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let shown = match screen.verbose {
        true => record.series.len(),
        false => record.series.len().min(SHOWN),
    };
    if record.series.is_empty() {
        page.prose(0, Tone::Strong, NOTHING_SAVED);
        return page.finish();
    }
    let shared = shared(record.series.iter().map(|series| &series.parameters));
    let rows = &record.series[..shown];
    let metrics: Vec<String> = rows.iter().map(|series| series.metric.clone()).collect();
    let metrics = fitted(&page, &metrics, METRIC);
    let last = |series: &HistorySeries| series.points.last().map_or(f64::NAN, |last| last.value);
    let values: Vec<f64> = rows.iter().map(last).collect();
    let values = apart(&values, &|row, more| {
        let series = &rows[row];
        series.points.last().map_or("-".to_owned(), |last| {
            let scale = Scale::of(last.value, &series.unit);
            scale.with_unit(last.value, last.low, last.high, more)
        })
    });
    let changes: Vec<Option<f64>> = rows.iter().map(last_change).collect();
    let known: Vec<f64> = changes
        .iter()
        .map(|change| change.unwrap_or(f64::NAN))
        .collect();
    let written = signed_apart(&known);
    let mut table = Table::new("Series")
        .column("benchmark", Kind::Name)
        .column("metric", Kind::Words)
        .column("last", Kind::Number)
        .column("change", Kind::Number)
        .column(&format!("last {SPARK}"), Kind::Words);
    for (row, series) in rows.iter().enumerate() {
        let name = named_in(&series.benchmark, &series.parameters, &shared);
        let change = match changes[row] {
            Some(change) => {
                let tone = tone(series.direction.as_deref(), change);
                Cell::words(&written[row]).toned(tone)
            }
            None => Cell::words(&no_change(series)).toned(Tone::Quiet),
        };
        let from = series.points.len().saturating_sub(SPARK);
        let newest: Vec<f64> = series.points[from..].iter().map(|one| one.value).collect();
        let cells = vec![
            Cell::name(&name).toned(Tone::Strong),
            Cell::words(&metrics[row]),
            Cell::words(&values[row]),
            change,
            Cell::drawn(plot::spark(&newest, page.unicode())),
        ];
        table.row("", cells);
    }
    table.terminal(&mut page, 0);
    say_shared(&mut page, &shared);
    page.gap();
    let mut notes = Vec::new();
    let hidden = record.series.len() - shown;
    if hidden > 0 {
        notes.push(format!("{hidden} more with -v"));
    }
    if others > 0 {
        notes.push(format!(
            "{} with --metric NAME",
            counted(others as u64, "other metric", "other metrics")
        ));
    }
    notes.push("to see the points and plot of one series: fathom history NAME".to_owned());
    page.prose(0, Tone::Quiet, &notes.join("; "));
    page.finish()
}
