//! The page: one file that needs no network.

use fathom_model::{StartupMetric, StartupRecord, StartupSummary, StartupTrace};

use super::answer::answer;
use super::{machine_notes, pictures, verdicts, words};
use crate::page::{Cell, Head, Kind, Origin, Rungs, Table, ladder, ladder_axis, page, section};
use crate::quantity::counted;
use crate::text::{html, name, words as own};
use crate::{format_bytes, format_count};

/// Paths that are listed of one program; the JSON has all.
const MOST_PATHS: usize = 60;

/// The record as one page: the answer, the distributions, the phases as stacked bars, the verdicts,
/// and what each program opened.
///
/// Texts from outside are put in as text only, escaped.
pub fn startup_html(record: &StartupRecord) -> String {
    let mut out = notes(record);
    for metric in [StartupMetric::FirstOutput, StartupMetric::Exit] {
        let heading = format!("From exec to the {}", words::metric(metric));
        out.push_str(&section(&heading, &distribution(record, metric)));
    }
    out.push_str(&section("Phases", &pictures::phases(record)));
    if !record.comparisons.is_empty() {
        out.push_str(&section("Against program 1", &comparisons(record)));
    }
    for trace in &record.traces {
        out.push_str(&program(record, trace));
    }
    page(&head(record), &out)
}

fn head(record: &StartupRecord) -> Head<'_> {
    let (tone, answer) = answer(record);
    let conditions = &record.conditions;
    Head {
        verb: "startup",
        of: record.programs.first().map_or("", |p| p.name.as_str()),
        answer,
        tone,
        basis: format!(
            "{} in random order (seed {})",
            counted(u64::from(conditions.rounds), "round", "rounds"),
            conditions.seed
        ),
        commands: record.programs.iter().map(|p| p.name.as_str()).collect(),
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    }
}

/// The name of a program; from outside.
pub(super) fn program_name(record: &StartupRecord, program: usize) -> &str {
    record
        .programs
        .get(program)
        .map_or("?", |p| p.name.as_str())
}

/// With its number where there are several; from outside.
pub(super) fn numbered(record: &StartupRecord, program: usize) -> String {
    let name = program_name(record, program);
    match record.programs.len() {
        1 => name.to_owned(),
        _ => format!("{} {name}", program.saturating_add(1)),
    }
}

fn distribution(record: &StartupRecord, metric: StartupMetric) -> String {
    let all = record.summaries.iter();
    let rows: Vec<&StartupSummary> = all.filter(|summary| summary.metric == metric).collect();
    if rows.is_empty() {
        return String::new();
    }
    let state = |row: &StartupSummary| match record.conditions.cold_by {
        None => String::new(),
        Some(_) => format!(", {}", words::cache(row.cache)),
    };
    let names: Vec<String> = rows
        .iter()
        .map(|row| numbered(record, row.program) + &state(row))
        .collect();
    let rungs: Vec<Rungs> = rows
        .iter()
        .zip(&names)
        .map(|(row, name)| Rungs {
            name,
            figures: [
                ("min", row.floor),
                ("p50", row.p50.value),
                ("p90", row.p90),
                ("p99", row.p99),
                ("max", row.max),
            ]
            .map(|(what, value)| (value, format!("{what} {}", words::time(value))))
            .to_vec(),
            main: 1,
            colour: row.program,
        })
        .collect();
    let axis = ladder_axis(rungs.iter());
    let drawing = ladder(
        &rungs,
        &axis,
        &axis.times(),
        None,
        "Distributions",
        "From left to right: min, median (the dot), p90, p99, max.",
    );
    let mut table = Table::new("Distributions")
        .column("program", Kind::Name)
        .column("state", Kind::Words)
        .column("runs", Kind::Number)
        .column("void", Kind::Number);
    for quantile in ["min", "p50", "p90", "p99", "max"] {
        table = table.column(quantile, Kind::Number);
    }
    for row in rows {
        let time = |value: f64| Cell::number(&words::time(value), value);
        let count = |count: usize| Cell::number(&format_count(count as f64), count as f64);
        let interval = format!(
            "{} to {}",
            words::time(row.p50.low),
            words::time(row.p50.high)
        );
        table.row(
            "",
            vec![
                Cell::name(&numbered(record, row.program)),
                Cell::words(words::cache(row.cache)),
                count(row.runs),
                count(row.void_runs),
                time(row.floor),
                time(row.p50.value).with_title(&interval),
                time(row.p90),
                time(row.p99),
                time(row.max),
            ],
        );
    }
    drawing + &table.html()
}

fn comparisons(record: &StartupRecord) -> String {
    let mut table = Table::new("Comparisons")
        .column("program", Kind::Name)
        .column("state", Kind::Words)
        .column("by the time to the", Kind::Words)
        .column("verdict", Kind::Words);
    for comparison in &record.comparisons {
        table.row(
            "",
            vec![
                Cell::name(&numbered(record, comparison.subject)),
                Cell::words(words::cache(comparison.cache)),
                Cell::words(words::metric(comparison.metric)),
                Cell::words(&verdicts::verdict(comparison)),
            ],
        );
    }
    table.html()
}

fn program(record: &StartupRecord, trace: &StartupTrace) -> String {
    let ran = record
        .programs
        .get(trace.program)
        .map(|program| program.ran.as_slice())
        .unwrap_or_default();
    let ran: Vec<String> = ran
        .iter()
        .map(|path| format!("<code>{}</code>", name(path)))
        .collect();
    let mut out = format!(
        "<section>\n<h2>{}</h2>\n<p>Ran: {}</p>\n",
        name(&numbered(record, trace.program)),
        ran.join(" then ")
    );
    out.push_str(&format!(
        "<p>{}, {} opened, {}, {} read, {} page faults from memory and {} from the device.</p>\n",
        counted(trace.libraries.len() as u64, "library", "libraries"),
        counted(trace.files.len() as u64, "other file", "other files"),
        counted(trace.failed_lookups, "failed lookup", "failed lookups"),
        format_bytes(trace.bytes_read as f64),
        format_count(trace.minor_faults as f64),
        format_count(trace.major_faults as f64)
    ));
    list(&mut out, "Libraries", &trace.libraries);
    list(&mut out, "Other files", &trace.files);
    let missing: Vec<String> = trace.missing.iter().map(|m| m.path.clone()).collect();
    list(&mut out, "Not found", &missing);
    out.push_str("</section>\n");
    out
}

fn list(out: &mut String, title: &str, paths: &[String]) {
    if paths.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<details><summary>{title} ({})</summary><ul>\n",
        paths.len()
    ));
    for path in paths.iter().take(MOST_PATHS) {
        out.push_str(&format!("<li><code>{}</code></li>\n", name(path)));
    }
    if paths.len() > MOST_PATHS {
        out.push_str(&format!("<li>and {} more</li>\n", paths.len() - MOST_PATHS));
    }
    out.push_str("</ul></details>\n");
}

/// What must be known to trust the numbers.
fn notes(record: &StartupRecord) -> String {
    let mut out = String::new();
    for (label, sentence) in machine_notes(record) {
        out.push_str(&format!(
            "<p class=\"strip\"><strong>{label}</strong> {}</p>\n",
            own(&sentence)
        ));
    }
    for warning in &record.warnings {
        let who = match warning.benchmark {
            Some(index) if record.programs.len() > 1 => format!("{}: ", index.saturating_add(1)),
            _ => String::new(),
        };
        out.push_str(&format!(
            "<p class=\"strip warn\">{who}{}</p>\n",
            html(&warning.message)
        ));
    }
    out
}
