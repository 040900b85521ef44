//! The page: one file that needs no network.

use fathom_model::PipeRecord;

use super::answer::answer;
use super::svg;
use super::tables::{self, Table as Stages};
use super::terminal;
use super::view::{drawn, holding_up};
use crate::line::Tone;
use crate::page::{Cell, Head, Kind, Origin, Table, figure, page, section};
use crate::text::{bounded, words};

/// The record as one page: the answer, the chart, with the chart of a late start beside it, the
/// tables, and what would mislead.
///
/// Texts from outside are escaped for terminals and for HTML.
pub fn pipe_html(record: &PipeRecord) -> String {
    let commands: Vec<String> = record
        .stages
        .iter()
        .map(|stage| bounded(&stage.command, 200))
        .collect();
    let pipeline = commands.join(" | ");
    let mut out = notes(record);
    charts(&mut out, record);
    for table in tables::all(record) {
        out.push_str(&section(table.title, &stages(record, &table)));
    }
    out.push_str(&section("How it was measured", &facts(record)));
    let head = Head {
        verb: "pipe",
        of: &pipeline,
        answer: bounded(&answer(record), 600),
        tone: Tone::Strong,
        basis: String::new(),
        commands: vec![&pipeline],
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    };
    page(&head, &out)
}

fn facts(record: &PipeRecord) -> String {
    let mut out = String::from("<dl class=\"facts\">\n");
    for (label, value) in terminal::facts(record) {
        out.push_str(&format!(
            "<dt>{}</dt><dd>{}</dd>\n",
            words(label),
            words(&crate::escape(&value.replace('\u{a0}', " ")))
        ));
    }
    out.push_str("</dl>\n");
    out
}

fn charts(out: &mut String, record: &PipeRecord) {
    if let Some(round) = drawn(&record.explained, &record.rounds) {
        let title = terminal::chart_title(record);
        out.push_str(&section(
            &title,
            &figure(&svg::chart(record, round), svg::MARKS),
        ));
    }
    if let Some(delayed) = &record.delayed
        && let Some(round) = drawn(&delayed.explained, &delayed.rounds)
    {
        let title = terminal::late(record, &delayed.delay_ns);
        out.push_str(&section(
            &title,
            &figure(&svg::chart(record, round), svg::MARKS),
        ));
    }
}

fn stages(record: &PipeRecord, stages: &Stages) -> String {
    let mut table = Table::new(stages.title).column("stage", Kind::Name);
    for header in &stages.headers {
        table = table.column(header.join(" ").trim(), Kind::Number);
    }
    for (stage, texts) in stages.rows.iter().enumerate() {
        let class = match holding_up(record).contains(&stage) {
            true => "neck",
            false => "",
        };
        let command = record.stages.get(stage).map_or("", |stage| &stage.command);
        let mut cells = vec![Cell::name(&format!("{} {command}", stage + 1))];
        cells.extend(texts.iter().map(|text| Cell::words(text)));
        table.row(class, cells);
    }
    let mut out = table.html();
    if let Some(note) = stages.note {
        out.push_str(&format!("<p class=\"small soft\">{}</p>\n", words(note)));
    }
    out
}

/// What must be known to read the numbers rightly.
fn notes(record: &PipeRecord) -> String {
    let mut out = String::new();
    for note in &record.notes {
        let class = match terminal::tone(note) {
            Tone::Bad => "strip bad",
            Tone::Notice => "strip warn",
            _ => "strip",
        };
        out.push_str(&format!(
            "<p class=\"{class}\">{}</p>\n",
            crate::text::html(&bounded(&note.message, 2000))
        ));
    }
    out
}
