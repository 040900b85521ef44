//! A difference as a page: its parts, then flame graphs of both commands.

use fathom_model::{DifferenceRecord, DifferenceRow, OF_WALL, OnlyFinding};
use serde::Serialize;

use super::{Scale, account_table, answer, observed_in_words, what};
use crate::document::{Cell, Document, Kind, Table, html};
use crate::line::Tone;
use crate::page::{Head, Origin, drawn_by_script, inert};
use crate::text::bounded;
use crate::why::flames::{self, DifferenceFlame};
use crate::why::page_data::Limits;
use crate::why::quote::{share_text, time};

const SCRIPT: &str = concat!(
    include_str!("../../page/page.js"),
    include_str!("../page/text.js"),
    include_str!("../page/flame.js"),
    include_str!("../page/two_ways.js"),
);

/// Limits for the graphs: at their largest they take half a megabyte.
const LIMITS: Limits = Limits {
    stretches: 0,
    lanes: 0,
    details: 0,
    rows: 300,
    text: 120,
};

#[derive(Serialize)]
struct Data {
    flames: Vec<DifferenceFlame>,
    /// Whether there are enough observed runs to show how much is chance.
    spread: bool,
}

/// Formats the record as one page that needs no network: by how much B takes more, the parts of this
/// difference, both commands' routes through the code in one graph, the accounts, and findings that only one
/// of them has.
///
/// Untrusted texts are inserted as text.
pub fn difference_html(record: &DifferenceRecord) -> String {
    let scale = Scale::of(&record.difference);
    let (tone, answer) = answer(record, scale);
    let names = ["A", "B"].into_iter().zip(&record.commands);
    let commands: Vec<String> = names
        .map(|(name, command)| {
            let wall = time(command.timed.wall.value);
            format!("{name}: {} ({wall})", bounded(&command.command, 240))
        })
        .collect();
    let tier = record.commands.first();
    let tier = tier.map_or("", |command| &command.observation.tier);
    let head = Head {
        verb: "why",
        of: "A and B",
        answer,
        tone,
        basis: observed_in_words(record, &bounded(tier, 40)),
        commands: commands.iter().map(String::as_str).collect(),
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    };
    let runs = record.commands.iter().map(|command| command.observed_runs);
    let data = Data {
        flames: flames::of_difference(&record.paths, &LIMITS),
        spread: runs.min().unwrap_or(0) > 1,
    };
    let (above, below) = (html(&parts(record, scale)), html(&more(record)));
    let what = "Flame graphs of both commands";
    drawn_by_script(&head, (&above, &below), what, SCRIPT, &inert(&data))
}

/// Returns notes, and the rows of the wall time, each followed by the rows it is divided into.
fn parts(record: &DifferenceRecord, scale: Scale) -> Document<'static> {
    let difference = &record.difference;
    let mut table = Table::new("What B takes more")
        .column("part", Kind::Words)
        .column("B takes more", Kind::Number)
        .column("interval", Kind::Number);
    let cells = |row: &DifferenceRow, indent: &str| {
        let interval = format!("{} to {}", scale.number(row.low), scale.number(row.high));
        vec![
            Cell::words(&format!("{indent}{}", what(row))),
            Cell::number(&scale.signed(row.milliseconds), row.milliseconds),
            Cell::words(&interval),
        ]
    };
    for row in difference.parts() {
        table.row("", cells(row, ""));
        let inner = difference.rows.iter().filter(|inner| inner.of == row.part);
        let inner = inner.filter(|_| row.of == OF_WALL);
        inner.for_each(|inner| table.row("", cells(inner, "of it: ")));
    }
    let share = share_text(difference.not_explained_share);
    table.row(
        "",
        vec![
            Cell::words(&format!("not explained: {share} of the longer one")),
            Cell::number(
                &scale.signed(difference.not_explained),
                difference.not_explained,
            ),
            Cell::words(""),
        ],
    );
    let mut out = Document::default();
    for warning in &record.warnings {
        out.note("warning", Tone::Notice, warning);
    }
    out.section("What B takes more", |part| {
        part.table(table);
        part.prose(0, Tone::Quiet, &*difference.intervals);
    });
    out
}

/// Returns both accounts, and findings that only one of the commands has.
fn more(record: &DifferenceRecord) -> Document<'static> {
    let mut out = Document::default();
    out.section("Accounts", |part| {
        part.table(account_table(record));
    });
    out.section("Parts that only one of them has", |part| {
        for OnlyFinding { command, finding } in &record.findings {
            let who = ["only A", "only B"][usize::from(*command != 0)];
            let text = format!("{}: {}", finding.id, finding.statement);
            part.fact(who, Tone::Notice, text);
        }
    });
    out
}
