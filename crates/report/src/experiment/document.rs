//! The description of a run, independent of its medium.

use fathom_model::{ClaimResult, ExperimentRecord, Layer, listed, pairs};

use super::claims::{self, Shown};
use super::{pictures, words};
use crate::Screen;
use crate::document::{Cell, Document, Form, Kind, Table, html_below, markdown, write};
use crate::line::{Page, Tone};
use crate::page::{Head, Origin, page, section};
use crate::text::{bounded, html as text};
use crate::waits;
use crate::why::markdown_text as plain;

/// Formats the claims of an experiment by layer, each with the published figure, the measurement and the
/// verdict. The answers, what is missing, and where it was measured follow. No line is wider than the screen.
pub fn experiment_terminal(record: &ExperimentRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    page.prose(0, Tone::Strong, &record.title);
    write(&mut page, &document(record, Form::Full));
    page.finish()
}

/// Formats each experiment as GitHub Markdown, with its tables of claims: for a catalogue's README, or a pull
/// request. Untrusted text can't become markup, a mention or a link.
pub fn experiment_markdown(records: &[ExperimentRecord]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for record in records {
        let below = markdown(&document(record, Form::Markdown), plain, 3);
        parts.push(format!("## {}\n{below}", plain(&record.title)));
    }
    if records.len() > 1 {
        let all = all_claims(records);
        parts.push(format!(
            "{} experiments, {} claims: {}\n",
            records.len(),
            all.len(),
            words::tally(&all)
        ));
    }
    parts.join("\n---\n\n")
}

/// Formats the experiments as a page. Untrusted texts are escaped twice: characters that control a terminal
/// or reorder a line become visible, and markup becomes text.
pub fn experiment_html(records: &[ExperimentRecord]) -> String {
    let Some(first) = records.first() else {
        return String::new();
    };
    let tally = words::tally(&all_claims(records));
    let mut out = String::new();
    if records.len() > 1 {
        out.push_str(&section("Experiments", &overview(records)));
    }
    for (index, record) in records.iter().enumerate() {
        out.push_str(&format!(
            "<section id=\"e{index}\" class=\"experiment\">\n<h2>{}</h2>\n{}</section>\n",
            text(&record.title),
            html_below(&document(record, Form::Page), 3)
        ));
    }
    let complete = records.iter().all(|record| record.complete);
    let head = Head {
        verb: "run",
        of: &first.title,
        answer: match records {
            [one] if !one.complete => format!("Partial: {tally}"),
            [_] => tally,
            many => format!("{} experiments: {tally}", many.len()),
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

fn all_claims(records: &[ExperimentRecord]) -> Vec<ClaimResult> {
    let claims = records.iter().flat_map(|record| &record.claims);
    claims.cloned().collect()
}

fn overview(records: &[ExperimentRecord]) -> String {
    let mut table = Table::new("Experiments")
        .column("experiment", Kind::Name)
        .column("verdicts", Kind::Words);
    for (index, record) in records.iter().enumerate() {
        let link = format!("<a href=\"#e{index}\">{}</a>", text(&record.title));
        let tally = words::tally(&record.claims);
        table.row("", vec![Cell::markup(link), Cell::words(&tally)]);
    }
    table.html()
}

fn document(record: &ExperimentRecord, form: Form) -> Document<'_> {
    let mut out = Document::default();
    if let Some(question) = &record.question {
        out.prose(2, Tone::Plain, question);
    }
    if let Some(source) = words::source(record) {
        out.prose(2, Tone::Quiet, format!("Published: {source}"));
    }
    if !record.complete {
        let text = "Partial: some parts were not measured; the notes at the end name them.";
        out.prose(2, Tone::Bad, text);
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        out.prose(2, Tone::Notice, waits);
    }
    for layer in [Layer::Arithmetic, Layer::Mechanism, Layer::Size] {
        let mine = record.claims.iter().filter(|claim| claim.layer == layer);
        let mine: Vec<&ClaimResult> = mine.collect();
        match form {
            Form::Full => {
                out.gap();
                out.table(claims::table(&mine, Shown::OnTerminal(layer)));
            }
            _ => out.section(words::layer(layer), |part| {
                part.table(claims::table(&mine, Shown::Layer(layer)));
            }),
        }
    }
    pictures::add(&mut out, record, form);
    answers(&mut out, record);
    if form == Form::Page {
        out.folded("All measured metrics", results(record));
    }
    out.gap();
    lacking(&mut out, record);
    out.gap();
    out.prose(0, Tone::Strong, words::tally(&record.claims));
    made(&mut out, record, form);
    out
}

/// Adds the open questions of the source, each with its evidence from this run.
pub(super) fn answers(out: &mut Document, record: &ExperimentRecord) {
    out.section("Open questions", |part| {
        for answer in &record.answers {
            let mut text = String::new();
            for said in [&answer.answer, &answer.tried].into_iter().flatten() {
                text.push_str(&format!(": {said}"));
            }
            let evidence = answer.evidence.iter();
            let evidence: Vec<String> = evidence
                .map(|(id, verdict)| format!("{id}: {}", verdict.name()))
                .collect();
            if !evidence.is_empty() {
                text.push_str(&format!(" ({})", evidence.join("; ")));
            }
            part.item(&answer.question, &answer.status, text);
        }
    });
}

/// Builds the table of every metric: `why` alone yields dozens for each subject.
fn results(record: &ExperimentRecord) -> Table {
    let mut table = Table::new("All measured metrics")
        .column("measure", Kind::Name)
        .column("metric", Kind::Name)
        .column("subject", Kind::Name)
        .column("parameters", Kind::Name)
        .column("runs", Kind::Number)
        .column("median", Kind::Number);
    for row in &record.results {
        let Some(median) = &row.median else { continue };
        let cells = vec![
            Cell::name(&row.measure),
            Cell::name(&row.metric),
            Cell::name(row.subject.as_deref().unwrap_or("")),
            Cell::name(&pairs(listed(&row.parameters), ", ")),
            Cell::number(&row.runs.to_string(), row.runs as f64),
            Cell::number(&words::with_interval(median, &row.unit), median.value),
        ];
        table.row("", cells);
    }
    table
}

/// Adds what is missing, and notes on the measures.
fn lacking(out: &mut Document, record: &ExperimentRecord) {
    for tool in &record.tools {
        if let Some(missing) = &tool.missing {
            let without = tool.without.as_ref();
            let without = without.map_or(String::new(), |without| format!("; {without}"));
            out.prose(0, Tone::Notice, format!("missing: {missing}{without}"));
        }
    }
    for warning in &record.warnings {
        out.prose(0, Tone::Notice, format!("warning: {warning}"));
    }
    for measure in &record.measures {
        for note in &measure.notes {
            out.prose(0, Tone::Quiet, format!("{}: {note}", measure.id));
        }
    }
}

/// Adds the tools used, the place and the duration.
fn made(out: &mut Document, record: &ExperimentRecord, form: Form) {
    if record.measures.is_empty() {
        out.prose(0, Tone::Quiet, "Nothing had to be measured.");
        return;
    }
    // A check that only prints "there" doesn't report a version.
    let is_version = |version: &String| version.contains(|c: char| c.is_ascii_digit());
    let tools = record.tools.iter().filter_map(|tool| {
        let version = tool.version.as_ref()?;
        Some(
            if is_version(version) {
                version
            } else {
                &tool.name
            }
            .as_str(),
        )
    });
    let tools: Vec<&str> = tools.collect();
    if !tools.is_empty() {
        out.prose(0, Tone::Quiet, format!("tools: {}", tools.join("; ")));
    }
    if form != Form::Page {
        out.prose(0, Tone::Quiet, words::machine(record));
    }
    let set = if record.quick { "quick" } else { "full" };
    let records = match form {
        Form::Full => format!("; records: {}", record.work_folder),
        _ => String::new(),
    };
    let seconds = words::seconds(record.seconds);
    out.prose(0, Tone::Quiet, format!("{set} set, {seconds}{records}"));
}
