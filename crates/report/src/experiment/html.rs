//! The record as one page that needs no network and runs no script.

use std::fmt::Write;

use fathom_model::{ClaimResult, ClaimVerdict, ExperimentRecord, Layer};

use super::pictures;
use super::terminal::machine;
use super::words;
use crate::page::page;
use crate::text::html as text;
use crate::waits;

/// The experiments as a page. Texts from outside are escaped twice over: what controls a terminal
/// or reorders a line becomes visible, and what is markup becomes text.
pub fn experiment_html(records: &[ExperimentRecord]) -> String {
    let title = match records {
        [one] => text(&one.title),
        many => format!("{} experiments", many.len()),
    };
    let mut out = String::new();
    if records.len() > 1 {
        overview(&mut out, records);
    }
    for (index, record) in records.iter().enumerate() {
        one(&mut out, record, index);
    }
    page("run", &title, &out)
}

/// Writing to a String can't fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => { let _ = write!($out, $($argument)*); };
}

fn overview(out: &mut String, records: &[ExperimentRecord]) {
    let all: Vec<ClaimResult> = records.iter().flat_map(|r| r.claims.clone()).collect();
    put!(
        out,
        "<h1>{} experiments</h1>\n<p>{}</p>\n<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th>Experiment</th><th>Verdicts</th></tr></thead>\n<tbody>\n",
        records.len(),
        text(&words::tally(&all))
    );
    for (index, record) in records.iter().enumerate() {
        put!(
            out,
            "<tr><td><a href=\"#e{index}\">{}</a></td><td>{}</td></tr>\n",
            text(&record.title),
            text(&words::tally(&record.claims))
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn one(out: &mut String, record: &ExperimentRecord, index: usize) {
    put!(
        out,
        "<section id=\"e{index}\">\n<h1>{}</h1>\n",
        text(&record.title)
    );
    if let Some(question) = &record.question {
        put!(out, "<p class=\"question\">{}</p>\n", text(question));
    }
    if let Some(source) = words::source(record) {
        put!(out, "<p class=\"soft\">published: {}</p>\n", text(&source));
    }
    if !record.complete {
        out.push_str("<p class=\"bad\">Partial: not everything was measured; the notes at the end say what.</p>\n");
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        put!(out, "<p class=\"warn\">{}</p>\n", waits);
    }
    put!(
        out,
        "<p class=\"tally\">{}</p>\n",
        text(&words::tally(&record.claims))
    );
    for layer in [Layer::Arithmetic, Layer::Mechanism, Layer::Size] {
        let claims: Vec<&ClaimResult> = record.claims.iter().filter(|c| c.layer == layer).collect();
        if !claims.is_empty() {
            table(out, layer, &claims);
        }
    }
    pictures::html(out, record);
    answers(out, record);
    results(out, record);
    footer(out, record);
    out.push_str("</section>\n");
}

fn class(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Reproduced => "good",
        ClaimVerdict::NotReproduced | ClaimVerdict::Contradicted => "bad",
        ClaimVerdict::DirectionOnly | ClaimVerdict::IllPosed => "warn",
        ClaimVerdict::Undecided | ClaimVerdict::NotRunnableHere => "soft",
    }
}

fn table(out: &mut String, layer: Layer, claims: &[&ClaimResult]) {
    put!(
        out,
        "<h2>{}</h2>\n<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th>Claim</th><th>Published</th><th>{}</th><th>Verdict</th></tr></thead>\n<tbody>\n",
        words::layer(layer),
        words::here(layer)
    );
    for claim in claims {
        let measured: Vec<String> = words::measured(claim).iter().map(|m| text(m)).collect();
        put!(
            out,
            "<tr><td>{}<code>{}</code></td><td title=\"{}\">{}</td><td>{}</td><td><strong class=\"{}\">{}</strong>{}",
            text(&claim.text),
            text(claim.holds.as_deref().unwrap_or("")),
            text(
                claim
                    .published
                    .as_ref()
                    .and_then(|p| p.figures.as_deref())
                    .unwrap_or("")
            ),
            text(&words::published(claim.published.as_ref())),
            measured.join("<br>"),
            class(claim.judged.verdict),
            words::verdict(claim),
            if claim.budget { " (budget)" } else { "" }
        );
        for remark in words::remarks(claim) {
            put!(out, "<small>{}</small>", text(&remark));
        }
        for other in &claim.elsewhere {
            put!(
                out,
                "<small>{}: <span class=\"{}\">{}</span> {}</small>",
                text(&words::parameters(&other.parameters)),
                class(other.verdict),
                other.verdict.name(),
                text(&words::quantities(&other.measured).join("; "))
            );
        }
        out.push_str("</td></tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn answers(out: &mut String, record: &ExperimentRecord) {
    if record.answers.is_empty() {
        return;
    }
    out.push_str("<h2>Open questions</h2>\n<dl>\n");
    for answer in &record.answers {
        put!(
            out,
            "<dt>{}</dt>\n<dd><strong>{}</strong>",
            text(&answer.question),
            text(&answer.status)
        );
        for part in [&answer.answer, &answer.tried].into_iter().flatten() {
            put!(out, " {}", text(part));
        }
        for (id, verdict) in &answer.evidence {
            put!(
                out,
                "<small>{}: <span class=\"{}\">{}</span></small>",
                text(id),
                class(*verdict),
                verdict.name()
            );
        }
        out.push_str("</dd>\n");
    }
    out.push_str("</dl>\n");
}

/// Rows that a page shows: `why` alone yields dozens for each subject, the record has all.
const MOST_ROWS: usize = 400;

fn results(out: &mut String, record: &ExperimentRecord) {
    let rows: Vec<_> = record
        .results
        .iter()
        .filter(|row| row.median.is_some())
        .collect();
    if rows.is_empty() {
        return;
    }
    put!(
        out,
        "<details><summary>All {} measured metrics</summary>\n<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th>Measure</th><th>Metric</th><th>Subject</th><th>Parameters</th><th>Runs</th><th>Median</th></tr></thead>\n<tbody>\n",
        rows.len()
    );
    for row in rows.iter().take(MOST_ROWS) {
        let median = row.median.as_ref();
        let median = median.map(|median| words::with_interval(median, &row.unit));
        put!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            text(&row.measure),
            text(&row.metric),
            text(row.subject.as_deref().unwrap_or("")),
            text(&words::parameters(&row.parameters)),
            row.runs,
            text(&median.unwrap_or_default())
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
    if rows.len() > MOST_ROWS {
        put!(
            out,
            "<p class=\"soft\">and {} more in the JSON record</p>\n",
            rows.len() - MOST_ROWS
        );
    }
    out.push_str("</details>\n");
}

fn footer(out: &mut String, record: &ExperimentRecord) {
    out.push_str("<footer>\n");
    for tool in &record.tools {
        match (&tool.version, &tool.missing) {
            (Some(version), _) => {
                put!(
                    out,
                    "<p class=\"soft\">{}: {}</p>\n",
                    text(&tool.name),
                    text(version)
                );
            }
            (None, missing) => {
                put!(
                    out,
                    "<p class=\"warn\">{}</p>\n",
                    text(missing.as_deref().unwrap_or(""))
                );
            }
        }
    }
    for warning in &record.warnings {
        put!(out, "<p class=\"warn\">warning: {}</p>\n", text(warning));
    }
    for measure in &record.measures {
        for note in &measure.notes {
            put!(
                out,
                "<p class=\"soft\">{}: {}</p>\n",
                text(&measure.id),
                text(note)
            );
        }
    }
    put!(
        out,
        "<p class=\"soft\">{}</p>\n<p class=\"soft\">{} set, {}, Fathom {}</p>\n</footer>\n",
        text(&machine(record)),
        if record.quick { "quick" } else { "full" },
        words::seconds(record.seconds),
        text(&record.fathom_version)
    );
}
