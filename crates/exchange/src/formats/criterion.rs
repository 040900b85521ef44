//! Criterion's default text: `NAME  time:   [low estimate high]`, with a long name on its own line.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    lines::of(head).any(|line| {
        lines::find(line, b"time: ").is_some()
            && row(&lines::shown(line))
                .is_some_and(|row| row.label == "time:" && row.interval.is_some())
    })
}

/// A line with one of criterion's intervals.
struct Row<'a> {
    /// The text before the interval.
    name: &'a str,
    /// The kind of interval.
    label: &'static str,
    /// The lower end, the estimate and the upper end, with their unit; `None` for a comparison, which is in
    /// percent.
    interval: Option<([f64; 3], &'a str)>,
}

fn row(line: &str) -> Option<Row<'_>> {
    let (left, rest) = line.rsplit_once(" [")?;
    let label = left.split_whitespace().next_back()?;
    let name = left.trim_end().strip_suffix(label)?.trim();
    let label = ["time:", "thrpt:", "change:"]
        .into_iter()
        .find(|known| *known == label)?;
    let words = rest
        .split_once(']')?
        .0
        .split_whitespace()
        .collect::<Vec<_>>();
    if words.len() == 3 && words.iter().all(|word| word.ends_with('%')) {
        return Some(Row {
            name,
            label,
            interval: None,
        });
    }
    let [low, low_unit, value, value_unit, high, high_unit] = words[..] else {
        return None;
    };
    let scale = |text: &str, unit: &str| {
        let value = lines::number(text)?;
        Some(value * lines::nanoseconds(unit).unwrap_or(1.0))
    };
    // Each figure has its own unit. Measurements other than wall time have no known unit.
    let unit = match lines::nanoseconds(value_unit) {
        Some(_) => "ns",
        None if [low_unit, high_unit] == [value_unit; 2] => value_unit,
        None => return None,
    };
    let figures = [
        scale(low, low_unit)?,
        scale(value, value_unit)?,
        scale(high, high_unit)?,
    ];
    Some(Row {
        name,
        label,
        interval: Some((figures, unit)),
    })
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    // The previous line, which may be the name of the benchmark.
    let mut before = String::new();
    lines::each(input, |line| {
        let text = lines::shown(line);
        // Text that a terminal would overwrite is dropped.
        let text = text.rsplit('\r').next().unwrap_or_default();
        let text = text.trim_start_matches("\u{1b}[K").trim();
        let found = row(text);
        match found.as_ref().map(|row| (row.label, row.interval)) {
            Some(("time:", Some((figures, unit)))) => {
                let own = found.as_ref().map_or("", |row| row.name);
                let name = if own.is_empty() { named(&before) } else { own };
                let metric = if unit == "ns" { "wall" } else { "value" };
                let [low, value, high] = figures;
                let summary = Summary {
                    value: Some(value),
                    low: Some(low),
                    high: Some(high),
                    level: Some(0.95),
                    ..Summary::default()
                };
                // Less is better for every measurement, because criterion calls an increase `regressed`.
                out.summary(Measure::new(name, metric, unit).lower(), summary);
            }
            Some(("thrpt:", Some(_))) => {
                out.left_out("thrpt", "computed from the time, which is kept");
            }
            Some(_) => out.left_out("change", "a comparison, not a measurement"),
            None => out.left_out_times("lines", "no results", u64::from(!text.is_empty())),
        }
        if !text.is_empty() {
            text.clone_into(&mut before);
        }
        Ok(())
    })
}

fn named(line: &str) -> &str {
    let progress = line.strip_prefix("Benchmarking ");
    progress.map_or(line, |name| {
        name.strip_suffix(": Analyzing").unwrap_or(name)
    })
}
