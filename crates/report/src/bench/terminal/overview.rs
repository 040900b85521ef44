//! The table that comes first: a row for each command, all times in one unit.

use fathom_model::{BenchRecord, Comparison, Metric, Summary};

use super::options::{SortOrder, TerminalOptions};
use super::verdict::{clock_name, short, tone};
use crate::TimeUnit;
use crate::line::{Line, Page, Tone};
use crate::quantity::{fixed, format_bytes, format_level, supported_decimals};
use crate::session::Subject;
use crate::text::columns;

/// A name gets at least so many columns, at the cost of what matters least.
const SHORTEST_NAME: usize = 24;
/// Of fewer runs nine in ten are all of them.
pub(crate) const FEWEST_FOR_P90: usize = 10;

/// One column behind the names.
struct Column {
    head: String,
    cells: Vec<String>,
    tone: Tone,
    /// The lowest goes first where there is no room.
    weight: u8,
    /// Numbers stand at the right, words at the left.
    left: bool,
}

impl Column {
    fn numbers(head: &str, tone: Tone, weight: u8, cells: Vec<String>) -> Column {
        Column {
            head: head.to_owned(),
            cells,
            tone,
            weight,
            left: false,
        }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns(cell)).max();
        cells.unwrap_or(0).max(columns(&self.head))
    }

    fn has_something(&self) -> bool {
        self.cells.iter().any(|cell| !cell.is_empty())
    }
}

/// Writes the table.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    clock: Metric,
    options: &TerminalOptions,
) {
    let mut ordered: Vec<&Subject> = subjects.iter().collect();
    if options.sort == SortOrder::Median {
        let median = |subject: &Subject| subject.median(clock).unwrap_or(f64::INFINITY);
        ordered.sort_by(|a, b| median(a).total_cmp(&median(b)));
    }
    let mut shown = table(record, &ordered, clock, options.time_unit);
    let number_width = match subjects.len() {
        0 | 1 => 2,
        many => 2 + many.to_string().len() + 2,
    };
    let names = ordered
        .iter()
        .map(|subject| columns(&page.clean(&subject.benchmark.name)));
    let names = names.max().unwrap_or(0);
    let head = clock_name(clock);
    let wanted = names.max(columns(head) + 2 - number_width.min(columns(head) + 2));
    let taken = |shown: &[Column]| -> usize { shown.iter().map(|c| c.width() + 3).sum() };
    let needed = wanted.min(SHORTEST_NAME);
    while number_width + needed + taken(&shown) > page.width() {
        let Some(least) = (0..shown.len()).min_by_key(|&at| shown[at].weight) else {
            break;
        };
        if shown.len() < 3 {
            break;
        }
        shown.remove(least);
    }
    let room = page.width().saturating_sub(number_width + taken(&shown));
    let name_width = wanted.min(room.max(needed.min(12)));
    let line = |start: Line, cell: &dyn Fn(&Column) -> (Tone, String)| {
        let mut at = number_width + name_width;
        let mut line = start.pad_to(at);
        for column in &shown {
            let (tone, text) = cell(column);
            let width = column.width();
            let before = match column.left {
                true => 3,
                false => 3 + width - columns(&text),
            };
            line = line.pad_to(at + before).add(tone, text);
            at += 3 + width;
        }
        line
    };
    let head = Line::new().add(Tone::Plain, "  ").add(Tone::Quiet, head);
    page.push(line(head, &|column| (Tone::Quiet, column.head.clone())));
    for (row, subject) in ordered.iter().enumerate() {
        let number = match subjects.len() {
            0 | 1 => "  ".to_owned(),
            _ => format!("  {:>1$}  ", subject.index + 1, number_width - 4),
        };
        let name = page.fit(&subject.benchmark.name, name_width);
        let start = Line::new().add(Tone::Quiet, number).add(Tone::Strong, name);
        page.push(line(start, &|column| {
            let tone = match column.left {
                true => comparison_of(record, subject.index).map_or(Tone::Quiet, tone),
                false => column.tone,
            };
            (tone, column.cells[row].clone())
        }));
    }
}

pub(crate) fn comparison_of(record: &BenchRecord, subject: usize) -> Option<&Comparison> {
    let outcome = record.outcome.as_ref()?;
    outcome.comparisons.iter().find(|c| c.subject == subject)
}

/// The unit of all times of a table: that of the smallest, or the next where all are a tenth of it
/// at least: 0.984 ms beside 1.18 ms reads better than 1180 µs beside 984.
pub(crate) fn unit(medians: &[f64]) -> TimeUnit {
    let smallest = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = medians.iter().copied().fold(0.0, f64::max);
    let next = TimeUnit::fitting(largest);
    match smallest >= 0.1 * next.seconds() {
        true => next,
        false => TimeUnit::fitting(smallest),
    }
}

fn table(
    record: &BenchRecord,
    ordered: &[&Subject],
    clock: Metric,
    asked: Option<TimeUnit>,
) -> Vec<Column> {
    let summaries: Vec<Option<&Summary>> = ordered.iter().map(|s| s.summary(clock)).collect();
    let known = || summaries.iter().flatten();
    let medians: Vec<f64> = known().map(|summary| summary.median.value).collect();
    let unit = asked.unwrap_or_else(|| unit(&medians));
    let number = |summary: &Summary, value: f64| {
        let decimals = supported_decimals(&summary.median, unit.seconds());
        fixed(value / unit.seconds(), decimals)
    };
    let cells = |of: &dyn Fn(&Summary) -> String| -> Vec<String> {
        let cell = |summary: &Option<&Summary>| summary.map(of).unwrap_or_default();
        summaries.iter().map(cell).collect()
    };
    let median = summaries.iter().zip(ordered).map(|(summary, subject)| {
        match (summary, subject.runs.is_empty()) {
            (Some(summary), _) => {
                format!(
                    "{} {}",
                    number(summary, summary.median.value),
                    unit.symbol()
                )
            }
            (None, true) => "no run".to_owned(),
            (None, false) => "not known".to_owned(),
        }
    });
    // The lowest level holds for all rows.
    let levels = known().map(|summary| summary.median.level);
    let level = levels.filter(|level| *level > 0.0).fold(1.0, f64::min);
    let interval = format!("{} interval", format_level(level)).replace('\u{a0}', " ");
    let p90_is_known = known().all(|summary| summary.runs >= FEWEST_FOR_P90);
    let one = ordered.len() == 1;
    let mut all = vec![
        Column::numbers("median", Tone::Strong, 9, median.collect()),
        Column::numbers(
            &interval,
            Tone::Plain,
            4,
            cells(&|s| match s.median.level > 0.0 {
                true => {
                    let (low, high) = (number(s, s.median.low), number(s, s.median.high));
                    format!("{low} to {high}")
                }
                false => String::new(),
            }),
        ),
    ];
    if one {
        let min = cells(&|s| number(s, s.min));
        all.push(Column::numbers("min", Tone::Plain, 0, min));
    }
    if p90_is_known {
        let p90 = cells(&|s| number(s, s.p90));
        all.push(Column::numbers("p90", Tone::Plain, 3, p90));
    }
    if one || !p90_is_known {
        let max = cells(&|s| number(s, s.max));
        all.push(Column::numbers("max", Tone::Plain, 1, max));
    }
    let memory = |subject: &&Subject| {
        let median = subject.median(Metric::PeakMemory);
        median.map(format_bytes).unwrap_or_default()
    };
    let memory = ordered.iter().map(memory).collect();
    all.push(Column::numbers("memory", Tone::Plain, 2, memory));
    let compared = record.outcome.as_ref().map(|o| &o.comparisons[..]);
    if let Some([first, _, ..]) = compared {
        let reference = first.reference;
        let cell = |subject: &&Subject| match comparison_of(record, subject.index) {
            Some(comparison) => short(comparison).replace('\u{a0}', " "),
            None => String::new(),
        };
        all.push(Column {
            head: format!("against {}", reference.saturating_add(1)),
            cells: ordered.iter().map(cell).collect(),
            tone: Tone::Plain,
            weight: 10,
            left: true,
        });
    }
    all.retain(Column::has_something);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_suits_all_rows() {
        assert_eq!(unit(&[0.000_984, 0.001_18]), TimeUnit::Millisecond);
        assert_eq!(unit(&[0.000_02, 0.001_18]), TimeUnit::Microsecond);
        assert_eq!(unit(&[0.4, 1.2]), TimeUnit::Second);
        assert_eq!(unit(&[0.012, 7.0]), TimeUnit::Millisecond);
    }
}
