//! The page: one file that needs no network and runs no script at all.

use fathom_model::{StartupMetric, StartupPhase, StartupRecord, StartupTrace};

use super::answer::answer;
use super::{machine_notes, phases, svg, verdicts, words};
use crate::page::page;
use crate::text::{JOIN, html as text};
use crate::{format_bytes, format_count};

/// Paths that are listed of one program; the JSON has all.
const MOST_PATHS: usize = 60;

/// The record as one page: the phases as stacked bars, the distributions, the verdicts, and what
/// each program opened.
///
/// Texts from outside are put in as text only, escaped.
pub fn startup_html(record: &StartupRecord) -> String {
    let mut out = String::from("<h1>From exec to the first byte of output</h1>\n");
    out.push_str(&format!(
        "<p><strong>{}</strong></p>\n",
        text(&answer(record).1)
    ));
    out.push_str(&format!(
        "<p class=\"soft\">{} rounds in random order (seed {}); {}; {}; {}</p>\n",
        record.conditions.rounds,
        record.conditions.seed,
        text(
            record
                .environment
                .cpu_model
                .as_deref()
                .unwrap_or("unknown processor")
        ),
        text(&record.environment.kernel),
        text(&record.started_at)
    ));
    pictures(&mut out, record);
    for metric in [StartupMetric::FirstOutput, StartupMetric::Exit] {
        distribution(&mut out, record, metric);
    }
    comparisons(&mut out, record);
    budget(&mut out, record);
    for trace in &record.traces {
        program(&mut out, record, trace);
    }
    warnings(&mut out, record);
    page("startup", "How programs start", &out)
}

fn pictures(out: &mut String, record: &StartupRecord) {
    let bars = svg::stacked_bars(record);
    if bars.is_empty() && record.traces.is_empty() {
        out.push_str("<p>No way to observe was allowed that shows phases.</p>\n");
    }
    for trace in record.traces.iter().filter(|t| !t.phases.is_empty()) {
        if let Some(why) = phases::no_shares(trace) {
            out.push_str(&format!(
                "<p>No phases are drawn of {}: {}.</p>\n",
                name(record, trace.program),
                text(why)
            ));
        }
    }
    if bars.is_empty() {
        return;
    }
    out.push_str("<h2>Phases</h2>\n<p class=\"soft\">Medians of further runs that were observed; the distributions below are of runs that nobody observed.</p>\n");
    out.push_str(&format!("<div class=\"chart\">{bars}</div>\n"));
    out.push_str("<ul class=\"legend\">\n");
    for phase in [
        StartupPhase::Wrappers,
        StartupPhase::Exec,
        StartupPhase::Loader,
        StartupPhase::Entry,
        StartupPhase::RuntimeAndMain,
        StartupPhase::LoaderToMain,
        StartupPhase::FirstWrite,
        StartupPhase::Exit,
        StartupPhase::WaitingForCpu,
    ] {
        let used = record
            .traces
            .iter()
            .any(|trace| trace.phases.iter().any(|p| p.phase == phase));
        if used {
            out.push_str(&format!(
                "<li><svg viewBox=\"0 0 12 12\"><rect class=\"{}\" width=\"12\" height=\"12\"/></svg> {}</li>\n",
                svg::class(phase),
                words::phase(phase)
            ));
        }
    }
    out.push_str("</ul>\n");
}

fn name(record: &StartupRecord, program: usize) -> String {
    let name = record
        .programs
        .get(program)
        .map_or("?", |p| p.name.as_str());
    text(name)
}

fn distribution(out: &mut String, record: &StartupRecord, metric: StartupMetric) {
    let rows: Vec<_> = record
        .summaries
        .iter()
        .filter(|summary| summary.metric == metric)
        .collect();
    if rows.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<h2>From exec to the {}</h2>\n<div class=\"scroll\"><table>\n<tr><th>program</th><th>state</th><th>runs</th><th>void</th><th>floor</th><th>p50</th><th>p90</th><th>p99</th><th>max</th></tr>\n",
        words::metric(metric)
    ));
    for row in rows {
        out.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            name(record, row.program),
            words::cache(row.cache),
            row.runs,
            row.void_runs,
            words::time(row.floor),
            words::time(row.p50.value),
            words::time(row.p90),
            words::time(row.p99),
            words::time(row.max)
        ));
    }
    out.push_str("</table></div>\n");
}

fn comparisons(out: &mut String, record: &StartupRecord) {
    if record.comparisons.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<h2>Against {}</h2>\n<div class=\"scroll\"><table>\n<tr><th>program</th><th>state</th><th>from exec to the</th><th>verdict</th></tr>\n",
        name(record, 0)
    ));
    for comparison in &record.comparisons {
        out.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            name(record, comparison.subject),
            words::cache(comparison.cache),
            words::metric(comparison.metric),
            text(&verdicts::verdict(comparison).replace(JOIN, " "))
        ));
    }
    out.push_str("</table></div>\n");
}

fn budget(out: &mut String, record: &StartupRecord) {
    let Some(budget) = &record.budget else { return };
    let (class, word) = match budget.held {
        true => ("good", "holds"),
        false => ("bad", "does not hold"),
    };
    out.push_str(&format!(
        "<p class=\"{class}\">The budget of {} at {} {word}.</p>\n",
        text(&words::time(budget.seconds)),
        text(&budget.quantile)
    ));
}

fn program(out: &mut String, record: &StartupRecord, trace: &StartupTrace) {
    out.push_str(&format!("<h2>{}</h2>\n", name(record, trace.program)));
    let ran = record
        .programs
        .get(trace.program)
        .map(|program| program.ran.as_slice())
        .unwrap_or_default();
    let ran: Vec<String> = ran
        .iter()
        .map(|path| format!("<code>{}</code>", text(path)))
        .collect();
    out.push_str(&format!("<p>Ran: {}</p>\n", ran.join(" then ")));
    out.push_str(&format!(
        "<p>{} libraries, {} other files opened, {} failed lookups, {} read, {} page faults from memory and {} from the device.</p>\n",
        trace.libraries.len(),
        trace.files.len(),
        format_count(trace.failed_lookups as f64),
        format_bytes(trace.bytes_read as f64),
        format_count(trace.minor_faults as f64),
        format_count(trace.major_faults as f64)
    ));
    list(out, "Libraries", &trace.libraries);
    list(out, "Other files", &trace.files);
    let missing: Vec<String> = trace.missing.iter().map(|m| m.path.clone()).collect();
    list(out, "Not found", &missing);
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
        out.push_str(&format!("<li><code>{}</code></li>\n", text(path)));
    }
    if paths.len() > MOST_PATHS {
        out.push_str(&format!("<li>and {} more</li>\n", paths.len() - MOST_PATHS));
    }
    out.push_str("</ul></details>\n");
}

fn warnings(out: &mut String, record: &StartupRecord) {
    let machine = machine_notes(record);
    if record.warnings.is_empty() && machine.is_empty() {
        return;
    }
    out.push_str("<h2>Notes</h2>\n<ul>\n");
    for (label, sentence) in machine {
        out.push_str(&format!("<li>{label}: {}</li>\n", text(&sentence)));
    }
    for warning in &record.warnings {
        let who = warning
            .benchmark
            .map_or(String::new(), |index| format!("{}: ", name(record, index)));
        out.push_str(&format!("<li>{who}{}</li>\n", text(&warning.message)));
    }
    out.push_str("</ul>\n");
}
