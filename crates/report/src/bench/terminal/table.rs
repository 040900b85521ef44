//! The table of medians, intervals and quantiles.

use fathom_model::{Metric, Summary};

use crate::bench::figures::{FEWEST_FOR_P90, FEWEST_FOR_P99};
use crate::line::{LABEL_WIDTH, Line, Page, Tone};
use crate::quantity::{counted, fixed, format_count, format_level};
use crate::text::JOIN;

/// One metric, ready to be aligned.
pub(super) struct Row {
    label: &'static str,
    metric: Metric,
    runs: usize,
    level: f64,
    unit: &'static str,
    median: String,
    /// Empty where there is no interval: one run has none.
    low: String,
    high: String,
    /// min, p90, p99, max; empty where the runs are too few for that.
    quantiles: [String; 4],
}

const QUANTILES: [&str; 4] = ["min", "p90", "p99", "max"];
/// Columns of a unit with the space before it: ` MiB`.
const UNIT_WIDTH: usize = 4;
/// Least columns of a number, so that the tables of several benchmarks stand below each other.
const NUMBER_WIDTH: usize = 7;

impl Row {
    /// Numbers in units of `size`, with `decimals` decimals.
    pub(super) fn new(
        label: &'static str,
        metric: Metric,
        summary: &Summary,
        unit: &'static str,
        size: f64,
        decimals: usize,
    ) -> Row {
        let number = |value: f64| fixed(value / size, decimals);
        let has_interval = summary.median.level > 0.0;
        let from = |fewest: usize, value: f64| match summary.runs >= fewest {
            true => number(value),
            false => String::new(),
        };
        Row {
            label,
            metric,
            runs: summary.runs,
            level: summary.median.level,
            unit,
            median: number(summary.median.value),
            low: if has_interval {
                number(summary.median.low)
            } else {
                String::new()
            },
            high: if has_interval {
                number(summary.median.high)
            } else {
                String::new()
            },
            quantiles: [
                number(summary.min),
                from(FEWEST_FOR_P90, summary.p90),
                from(FEWEST_FOR_P99, summary.p99),
                number(summary.max),
            ],
        }
    }
}

/// Widths of the columns that fit all rows.
struct Widths {
    median: usize,
    low: usize,
    high: usize,
    quantiles: [usize; 4],
}

impl Widths {
    fn of(rows: &[Row], least: usize) -> Widths {
        let widest = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
        Widths {
            median: widest(&|row| row.median.len()).max(least),
            low: widest(&|row| row.low.len()).max(least - 1),
            high: widest(&|row| row.high.len()).max(least - 1),
            quantiles: [0, 1, 2, 3].map(|at| widest(&|row| row.quantiles[at].len()).max(least) + 1),
        }
    }

    fn total(&self) -> usize {
        LABEL_WIDTH
            + self.median
            + UNIT_WIDTH
            + 2
            + self.interval()
            + self.quantiles.iter().sum::<usize>()
    }

    fn interval(&self) -> usize {
        self.low + " to ".len() + self.high
    }
}

/// Writes `rows` as a table if it fits, else each row as prose.
pub(super) fn write(page: &mut Page, rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    let fitting = [NUMBER_WIDTH, 5]
        .map(|least| Widths::of(rows, least))
        .into_iter();
    match fitting
        .into_iter()
        .find(|widths| widths.total() <= page.width())
    {
        Some(widths) => aligned(page, rows, &widths, first),
        None => stacked(page, rows),
    }
    for row in rows {
        let mut notes = Vec::new();
        if row.runs < first.runs {
            notes.push(format!(
                "known for {} of {}",
                format_count(row.runs as f64),
                counted(first.runs as u64, "run", "runs")
            ));
        }
        if row.runs < first.runs && row.metric == Metric::Undisturbed {
            notes.push(
                "where one thread did all the work and its waits could be measured exactly"
                    .to_owned(),
            );
        }
        if row.level > 0.0 && format_level(row.level) != format_level(first.level) {
            notes.push(format!("its interval has {}", format_level(row.level)));
        }
        if !notes.is_empty() {
            page.field(row.label, Tone::Quiet, &notes.join(", "));
        }
    }
}

fn aligned(page: &mut Page, rows: &[Row], widths: &Widths, first: &Row) {
    let level = match first.level > 0.0 {
        true => format!("{} interval", format_level(first.level)).replace(JOIN, " "),
        false => "no interval".to_owned(),
    };
    let interval = widths.interval();
    let mut header = Line::new()
        .pad_to(LABEL_WIDTH)
        .add(
            Tone::Quiet,
            format!("{:>1$}", "median", widths.median + UNIT_WIDTH - 1),
        )
        .pad_to(LABEL_WIDTH + widths.median + UNIT_WIDTH + 2)
        .add(Tone::Quiet, format!("{level:^interval$}"));
    for (name, width) in QUANTILES.iter().zip(widths.quantiles) {
        header = header.add(Tone::Quiet, format!("{name:>width$}"));
    }
    page.push(header);
    for row in rows {
        let strong = if row.metric == Metric::Wall {
            Tone::Strong
        } else {
            Tone::Plain
        };
        let to = if row.low.is_empty() { "    " } else { " to " };
        let mut line = Line::new()
            .add(Tone::Plain, "  ")
            .add(Tone::Quiet, row.label)
            .pad_to(LABEL_WIDTH)
            .add(
                strong,
                format!("{:>1$} {2}", row.median, widths.median, row.unit),
            )
            .pad_to(LABEL_WIDTH + widths.median + UNIT_WIDTH + 2)
            .add(
                Tone::Plain,
                format!(
                    "{:>1$}{to}{2:<3$}",
                    row.low, widths.low, row.high, widths.high
                ),
            );
        for (value, width) in row.quantiles.iter().zip(widths.quantiles) {
            line = line.add(Tone::Plain, format!("{value:>width$}"));
        }
        page.push(line);
    }
}

fn stacked(page: &mut Page, rows: &[Row]) {
    for row in rows {
        let level = format_level(row.level);
        let interval = match row.low.is_empty() {
            true => String::new(),
            false => format!(
                ", {level}{JOIN}interval {}{JOIN}to{JOIN}{}",
                row.low, row.high
            ),
        };
        let strong = if row.metric == Metric::Wall {
            Tone::Strong
        } else {
            Tone::Plain
        };
        page.field(
            row.label,
            strong,
            &format!("{}{JOIN}{}{interval}", row.median, row.unit),
        );
        let quantiles: Vec<String> = QUANTILES
            .iter()
            .zip(&row.quantiles)
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}{JOIN}{value}"))
            .collect();
        page.field("", Tone::Plain, &quantiles.join(", "));
    }
}
