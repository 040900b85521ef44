//! The record as one page that needs no network.

use fathom_model::{ClaimResult, ClaimVerdict, ExperimentRecord, Layer, listed, pairs};

use super::pictures;
use super::words;
use crate::line::Tone;
use crate::page::{Cell, Head, Kind, Origin, Table, page, section};
use crate::text::{bounded, html as text, name, put};
use crate::waits;

/// The experiments as a page. Texts from outside are escaped twice over: what controls a terminal
/// or reorders a line becomes visible, and what is markup becomes text.
pub fn experiment_html(records: &[ExperimentRecord]) -> String {
    let Some(first) = records.first() else {
        return String::new();
    };
    let all: Vec<ClaimResult> = records.iter().flat_map(|r| r.claims.clone()).collect();
    let mut out = String::new();
    if records.len() > 1 {
        out.push_str(&section("Experiments", &overview(records)));
    }
    for (index, record) in records.iter().enumerate() {
        one(&mut out, record, index);
    }
    let complete = records.iter().all(|record| record.complete);
    let head = Head {
        verb: "run",
        of: &first.title,
        answer: match records {
            [one] if !one.complete => format!("Partial: {}", words::tally(&all)),
            [_] => words::tally(&all),
            many => format!("{} experiments: {}", many.len(), words::tally(&all)),
        },
        tone: if complete { Tone::Strong } else { Tone::Notice },
        basis: match records {
            [one] => bounded(&one.title, 300),
            _ => String::new(),
        },
        commands: Vec::new(),
        origin: Origin {
            environment: &first.environment,
            started_at: &first.started_at,
            fathom_version: &first.fathom_version,
        },
    };
    page(&head, &out)
}

fn overview(records: &[ExperimentRecord]) -> String {
    let mut table = Table::new("Experiments")
        .column("experiment", Kind::Name)
        .column("verdicts", Kind::Words);
    for (index, record) in records.iter().enumerate() {
        let link = format!("<a href=\"#e{index}\">{}</a>", text(&record.title));
        table.row(
            "",
            vec![
                Cell::markup(link),
                Cell::words(&words::tally(&record.claims)),
            ],
        );
    }
    table.html()
}

fn one(out: &mut String, record: &ExperimentRecord, index: usize) {
    put!(
        *out,
        "<section id=\"e{index}\" class=\"experiment\">\n<h2>{}</h2>\n",
        text(&record.title)
    );
    if let Some(question) = &record.question {
        put!(*out, "<p>{}</p>\n", text(question));
    }
    if let Some(source) = words::source(record) {
        put!(*out, "<p class=\"soft\">published: {}</p>\n", text(&source));
    }
    if !record.complete {
        out.push_str("<p class=\"strip bad\">Partial: not everything was measured; the notes at the end say what.</p>\n");
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        put!(
            *out,
            "<p class=\"strip warn\">{}</p>\n",
            crate::text::words(&waits)
        );
    }
    put!(
        *out,
        "<p class=\"tally\">{}</p>\n",
        text(&words::tally(&record.claims))
    );
    for layer in [Layer::Arithmetic, Layer::Mechanism, Layer::Size] {
        let claims: Vec<&ClaimResult> = record.claims.iter().filter(|c| c.layer == layer).collect();
        if !claims.is_empty() {
            put!(
                *out,
                "<h3>{}</h3>\n{}",
                words::layer(layer),
                table(layer, &claims)
            );
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

fn table(layer: Layer, claims: &[&ClaimResult]) -> String {
    let mut table = Table::new("Claims")
        .column("claim", Kind::Words)
        .column("published", Kind::Words)
        .column(words::here(layer), Kind::Words)
        .column("verdict", Kind::Words);
    for claim in claims {
        let measured: Vec<String> = words::measured(claim).iter().map(|m| text(m)).collect();
        let holds = claim.holds.as_deref().unwrap_or("");
        let figures = claim.published.as_ref().and_then(|p| p.figures.as_deref());
        table.row(
            "",
            vec![
                Cell::markup(format!("{}<code>{}</code>", text(&claim.text), name(holds))),
                Cell::markup(text(&words::published(claim.published.as_ref())))
                    .with_title(figures.unwrap_or("")),
                Cell::markup(measured.join("<br>")),
                Cell::markup(verdict(claim)),
            ],
        );
    }
    table.html()
}

fn verdict(claim: &ClaimResult) -> String {
    let mut out = format!(
        "<strong class=\"{}\">{}</strong>{}",
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
            text(&pairs(listed(&other.parameters), ", ")),
            class(other.verdict),
            other.verdict.name(),
            text(&words::quantities(&other.measured).join("; "))
        );
    }
    out
}

fn answers(out: &mut String, record: &ExperimentRecord) {
    if record.answers.is_empty() {
        return;
    }
    out.push_str("<h3>Open questions</h3>\n<dl>\n");
    for answer in &record.answers {
        put!(
            *out,
            "<dt>{}</dt>\n<dd><strong>{}</strong>",
            text(&answer.question),
            text(&answer.status)
        );
        for part in [&answer.answer, &answer.tried].into_iter().flatten() {
            put!(*out, " {}", text(part));
        }
        for (id, verdict) in &answer.evidence {
            put!(
                *out,
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
    let mut table = Table::new("All measured metrics")
        .column("measure", Kind::Name)
        .column("metric", Kind::Name)
        .column("subject", Kind::Name)
        .column("parameters", Kind::Name)
        .column("runs", Kind::Number)
        .column("median", Kind::Number);
    for row in rows.iter().take(MOST_ROWS) {
        let Some(median) = &row.median else { continue };
        table.row(
            "",
            vec![
                Cell::name(&row.measure),
                Cell::name(&row.metric),
                Cell::name(row.subject.as_deref().unwrap_or("")),
                Cell::name(&pairs(listed(&row.parameters), ", ")),
                Cell::number(&row.runs.to_string(), row.runs as f64),
                Cell::number(
                    &crate::escape(&words::with_interval(median, &row.unit)),
                    median.value,
                ),
            ],
        );
    }
    put!(
        *out,
        "<details><summary>All {} measured metrics</summary>\n{}",
        rows.len(),
        table.html()
    );
    if rows.len() > MOST_ROWS {
        put!(
            *out,
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
                    *out,
                    "<p class=\"soft\">{}: {}</p>\n",
                    text(&tool.name),
                    text(version)
                );
            }
            (None, missing) => {
                put!(
                    *out,
                    "<p class=\"warn\">{}</p>\n",
                    text(missing.as_deref().unwrap_or(""))
                );
            }
        }
    }
    for warning in &record.warnings {
        put!(*out, "<p class=\"warn\">{}</p>\n", text(warning));
    }
    for measure in &record.measures {
        for note in &measure.notes {
            put!(
                *out,
                "<p class=\"soft\">{}: {}</p>\n",
                text(&measure.id),
                text(note)
            );
        }
    }
    put!(
        *out,
        "<p class=\"soft\">{} set, {}</p>\n</footer>\n",
        if record.quick { "quick" } else { "full" },
        words::seconds(record.seconds)
    );
}
