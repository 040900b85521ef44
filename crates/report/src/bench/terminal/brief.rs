//! One line for each command: name, median, interval, verdict.

use fathom_model::{BenchRecord, Comparison, Metric};

use super::answer::metrics;
use super::causes;
use super::options::{SortOrder, TerminalOptions};
use super::verdict::short;
use crate::TimeUnit;
use crate::document::{Cell, Kind, Table};
use crate::line::{Page, Tone};
use crate::quantity::{InUnit, counted, format_level};
use crate::session::{Subject, rounds};
use crate::text::JOIN;

/// Writes the lines, followed by the basis of the verdicts.
pub(super) fn write(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    options: &TerminalOptions,
) {
    // Figures and verdicts use the same metrics, so that they agree.
    for metric in metrics(record) {
        of_metric(page, record, subjects, metric, options);
    }
    for subject in subjects {
        // The time of a command that always fails is only that of its failures.
        if let Some(text) = causes::failed(subject) {
            let text = format!("{}: {text}", subject.index + 1);
            page.prose(0, Tone::Bad, &text);
        }
    }
    let warnings = record.outcome.as_ref().map_or(0, |o| o.warnings.len());
    if warnings > 0 {
        let warnings = counted(warnings as u64, "warning", "warnings");
        let text = format!("{warnings} hidden by --brief");
        page.prose(0, Tone::Notice, &text);
    }
}

/// Writes the lines of one metric, followed by their basis.
fn of_metric(
    page: &mut Page,
    record: &BenchRecord,
    subjects: &[Subject],
    metric: Metric,
    options: &TerminalOptions,
) {
    let compared = record.outcome.iter().flat_map(|o| &o.comparisons);
    let compared: Vec<&Comparison> = compared.filter(|one| one.metric == metric).collect();
    let mut ordered: Vec<&Subject> = subjects.iter().collect();
    if options.sort == SortOrder::Median {
        let median = |subject: &Subject| subject.median(metric).unwrap_or(f64::INFINITY);
        ordered.sort_by(|a, b| median(a).total_cmp(&median(b)));
    }
    let mut table = Table::new("Commands")
        .column("", Kind::Name)
        .column("", Kind::Number)
        .column("", Kind::Words)
        .column("", Kind::Words);
    let width = subjects.len().to_string().len();
    for subject in ordered {
        let mut cells = row(subject, &compared, metric, options.time_unit);
        let name = match subjects.len() {
            1 => subject.benchmark.name.clone(),
            _ => format!("{:>width$}: {}", subject.index + 1, subject.benchmark.name),
        };
        cells.insert(0, Cell::name(&name).toned(Tone::Strong));
        table.row("", cells);
    }
    table.terminal(page, 0);
    page.prose(0, Tone::Quiet, &foot(record, subjects, &compared, metric));
}

fn row(
    subject: &Subject,
    compared: &[&Comparison],
    metric: Metric,
    unit: Option<TimeUnit>,
) -> Vec<Cell> {
    let comparison = compared.iter().find(|c| c.subject == subject.index);
    let is_reference = compared.iter().any(|c| c.reference == subject.index);
    let (median, interval) = match subject.summary(metric) {
        None => ("not known".to_owned(), String::new()),
        Some(summary) => {
            let median = &summary.median;
            let unit = InUnit::asked(metric, median.value, unit);
            let decimals = unit.decimals(median);
            let number = |value: f64| unit.number(value, decimals);
            let interval = match median.level > 0.0 {
                true => format!("{} to {}", number(median.low), number(median.high)),
                false => String::new(),
            };
            let text = unit.with_symbol(&number(median.value));
            (text.replace(' ', &JOIN.to_string()), interval)
        }
    };
    let verdict = match comparison {
        Some(comparison) => short(comparison),
        None if is_reference => "reference".to_owned(),
        None => String::new(),
    };
    let tone = comparison.map_or(Tone::Quiet, |one| Tone::of(one.verdict));
    vec![
        Cell::words(&median),
        Cell::words(&interval).toned(Tone::Quiet),
        Cell::words(&verdict).toned(tone),
    ]
}

/// Writes the basis of the lines.
fn foot(
    record: &BenchRecord,
    subjects: &[Subject],
    compared: &[&Comparison],
    metric: Metric,
) -> String {
    let level = subjects
        .iter()
        .filter_map(|subject| subject.summary(metric))
        .map(|summary| summary.median.level)
        .find(|level| *level > 0.0);
    let interval = level.map_or(String::new(), |level| {
        format!(", {} interval", format_level(level))
    });
    let rounds = counted(rounds(record), "round", "rounds");
    let verdicts = compared.first().map_or(String::new(), |comparison| {
        let reference = comparison.reference + 1;
        format!("; verdicts against {reference}")
    });
    let metric = metric.label();
    format!("median {metric}{interval}, {rounds}{verdicts}")
}
