//! Many series: a line each, with the last value, its change and a sparkline.

use fathom_model::quantity::counted;
use fathom_model::{HistoryRecord, HistorySeries};

use super::scale::Scale;
use super::{HistoryOptions, last_change, named_in, plot, say_shared, shared, signed, tone};
use crate::line::{Line, Tone};

/// Of a store that has nothing.
pub(crate) const NOTHING_SAVED: &str =
    "nothing was saved yet; in a project `fathom bench` and its kin save, elsewhere --save does";
/// Series that are shown without `-v`: a screen.
const SHOWN: usize = 18;
/// Points of a sparkline.
const SPARK: usize = 16;

/// Why there is no change.
fn no_change(series: &HistorySeries) -> String {
    match series.points.len() {
        0 | 1 => "first".to_owned(),
        _ => "new env".to_owned(),
    }
}

/// A line for each series. `others` are metrics that were not asked for. Ends with a line end.
pub fn history_list(record: &HistoryRecord, others: usize, options: &HistoryOptions) -> String {
    let mut page = options.page();
    let shown = match options.verbose {
        true => record.series.len(),
        false => record.series.len().min(SHOWN),
    };
    if record.series.is_empty() {
        page.prose(0, Tone::Strong, NOTHING_SAVED);
        return page.finish();
    }
    let metric_width = record.series[..shown]
        .iter()
        .map(|series| series.metric.chars().count().min(20))
        .max()
        .unwrap_or(0)
        .max("metric".len());
    // Two blanks between columns: metric, value, change, sparkline.
    let fixed = metric_width + 11 + 8 + SPARK + 8;
    let room = page.width().saturating_sub(fixed).max(12);
    let shared = shared(record.series.iter().map(|series| &series.parameters));
    let name = |series: &HistorySeries| named_in(&series.benchmark, &series.parameters, &shared);
    let width = record.series[..shown]
        .iter()
        .map(|series| crate::columns(&page.clean(&name(series))))
        .max()
        .unwrap_or(0)
        .clamp("benchmark".len(), room);
    let head = format!(
        "{:<width$}  {:<metric_width$}  {:>11}  {:>8}  last {SPARK}",
        "benchmark", "metric", "last", "change"
    );
    page.push(Line::new().add(Tone::Quiet, head));
    for series in &record.series[..shown] {
        let name = page.fit(&name(series), width);
        let metric = page.fit(&series.metric, metric_width);
        let last = series.points.last();
        let value = last.map_or("-".to_owned(), |last| {
            Scale::of(last.value, &series.unit).with_unit(last.value, last.low, last.high)
        });
        let value = page.fit(&value, 11);
        let change = last_change(series);
        let from = series.points.len().saturating_sub(SPARK);
        let values: Vec<f64> = series.points[from..].iter().map(|one| one.value).collect();
        let line = Line::new()
            .add(Tone::Strong, name)
            .pad_to(width + 2)
            .add(Tone::Plain, metric)
            .pad_to(width + metric_width + 4)
            .add(Tone::Plain, format!("{value:>11}  "))
            .add(
                change.map_or(Tone::Quiet, |change| {
                    tone(series.direction.as_deref(), change)
                }),
                format!("{:>8}  ", change.map_or_else(|| no_change(series), signed)),
            )
            .add(Tone::Plain, plot::spark(&values, page.unicode()));
        page.push(line);
    }
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
    notes.push("points and plot of one: fathom history NAME".to_owned());
    page.prose(0, Tone::Quiet, &notes.join("; "));
    page.finish()
}
