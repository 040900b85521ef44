//! The times of a run's benchmarks, and how much they changed since the previous run.

use fathom_model::{Estimate, StoredComparison};

use crate::Screen;
use crate::document::fitted;
use crate::line::{Line, Page, Tone};
use crate::quantity::{Scale, signed_with_interval};
use crate::text::columns;

/// The maximum width of the name column.
const NAME: usize = 32;

/// One figure of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMedian {
    /// Name of the benchmark, with its parameters.
    pub name: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values, as in the stored series.
    pub unit: String,
    /// The median with its interval.
    pub median: Estimate,
    /// The comparison with the previous run, if there is one.
    pub since: Option<StoredComparison>,
}

/// Formats a table of the medians. `before` names the run they are compared with.
pub fn run_medians_terminal(
    medians: &[RunMedian],
    before: Option<&str>,
    screen: &Screen,
) -> String {
    let mut page = Page::new(screen);
    let heading = match before {
        Some(before) => format!("Medians, and the change since {before}"),
        None => "Medians".to_owned(),
    };
    let heading = page.clean(&heading);
    page.heading(&heading);
    let named = |one: &RunMedian| match one.metric.as_str() {
        "wall" => one.name.clone(),
        metric => format!("{} {metric}", one.name),
    };
    let names: Vec<String> = medians.iter().map(named).collect();
    let rows: Vec<[String; 3]> = medians
        .iter()
        .zip(fitted(&page, &names, NAME))
        .map(|(one, name)| {
            let figures = page.clean(&figures(one));
            [
                name,
                figures,
                one.since.as_ref().map_or_else(String::new, change),
            ]
        })
        .collect();
    let wide = |column: usize| {
        rows.iter()
            .map(|row| columns(&row[column]))
            .max()
            .unwrap_or(0)
    };
    let (names, figures) = (wide(0), wide(1));
    for [name, figure, change] in rows {
        let line = Line::new()
            .add(Tone::Plain, format!("  {name}"))
            .pad_to(4 + names)
            .add(Tone::Strong, figure);
        if 6 + names + figures + columns(&change) <= page.width() {
            page.push(line.pad_to(6 + names + figures).add(Tone::Quiet, change));
        } else {
            page.push(line);
            page.prose(6, Tone::Quiet, &change);
        }
    }
    page.finish()
}

/// Formats the median with its interval: `12.3 ms (12.1 to 12.5)`.
fn figures(one: &RunMedian) -> String {
    let median = &one.median;
    Scale::of(median.value, &one.unit).estimate(median.value, median.low, median.high)
}

/// Formats a change with its verdict: `+2.1 % (-0.4 to +4.6), undecided`.
fn change(since: &StoredComparison) -> String {
    format!("{}, {}", signed_with_interval(&since.ratio), since.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_median_stands_with_its_interval_and_no_line_is_too_wide() {
        let estimate = |value: f64| Estimate {
            value,
            low: value * 0.99,
            high: value * 1.01,
            level: 0.95,
        };
        let median = |name: &str, unit: &str, value| RunMedian {
            name: name.to_owned(),
            metric: "wall".to_owned(),
            unit: unit.to_owned(),
            median: estimate(value),
            since: None,
        };
        let all = [
            median("sort", "seconds", 0.0123),
            median("size", "bytes", 2048.0),
        ];
        let text = run_medians_terminal(&all, None, &Screen::default());
        assert!(text.contains("sort  12.30 ms (12.18 to 12.42)"), "{text}");
        let narrow = run_medians_terminal(
            &all,
            Some("a run"),
            &Screen {
                width: 40,
                ..Screen::default()
            },
        );
        assert!(narrow.lines().all(|line| columns(line) <= 40), "{narrow}");
    }
}
