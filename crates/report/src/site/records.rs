//! Records of verbs that answer by themselves: gate, serve, versions.

use fathom_model::{GateBenchmark, GateRecord, GateVerdict, Report};

use super::versions;
use crate::gate::gate_answer;
use crate::page::{Cell, Kind, Table, section};
use crate::quantity::{format_count, format_share, signed_interval};
use crate::serve::parts as serve_parts;
use crate::text::{JOIN, bounded, html, words};

/// Rows of a table: more make a page of a site too large.
const MOST_ROWS: usize = 100;

/// A section for each record.
pub(super) fn all(report: &Report) -> Vec<String> {
    let gates = report.gates.iter().map(|one| section("Gate", &gate(one)));
    let serves = report.serves.iter();
    let serves = serves.map(|one| section("Servers", &serve_parts(one)));
    let versions = report.versions.iter();
    let versions = versions.map(|one| section("Versions of a program", &versions::of_record(one)));
    gates.chain(serves).chain(versions).collect()
}

fn gate(record: &GateRecord) -> String {
    let class = match record.verdict {
        GateVerdict::Worse => "bad",
        GateVerdict::NotWorse => "good",
        GateVerdict::CannotTell => "warn",
    };
    let mut out = format!(
        "<p class=\"strip {class}\"><strong>{}</strong> {} against {}</p>\n",
        words(&gate_answer(record)),
        html(&bounded(&record.head.name, 60)),
        html(&bounded(&record.base.name, 60))
    );
    let mut table = Table::new("Gate")
        .column("benchmark", Kind::Name)
        .column("metric", Kind::Name)
        .column("verdict", Kind::Words)
        .column("change", Kind::Number)
        .column("interval", Kind::Number)
        .column("margin", Kind::Number)
        .column("rounds", Kind::Number)
        .column("why", Kind::Words);
    let mut rows: Vec<&GateBenchmark> = record.benchmarks.iter().collect();
    // Where not all have room, what is not worse goes first.
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    if left_out > 0 {
        rows.sort_by_key(|row| match row.verdict {
            GateVerdict::Worse => 0,
            GateVerdict::CannotTell => 1,
            GateVerdict::NotWorse => 2,
        });
        rows.truncate(MOST_ROWS);
    }
    for row in rows {
        let (verdict, class) = match (row.verdict, &row.waived) {
            (GateVerdict::Worse, Some(_)) => ("waived", "warn"),
            (GateVerdict::Worse, None) => ("worse", "bad"),
            (GateVerdict::NotWorse, _) => ("not worse", ""),
            (GateVerdict::CannotTell, _) => ("cannot tell", "warn"),
        };
        let (change, interval) = match &row.ratio {
            Some(ratio) => {
                let (value, interval) = signed_interval(ratio);
                (
                    Cell::number(&value, ratio.value),
                    match interval {
                        Some(interval) => Cell::number(&interval, ratio.low),
                        None => Cell::none("counted exactly"),
                    },
                )
            }
            None => (
                Cell::none("judged without a ratio"),
                Cell::none("judged without a ratio"),
            ),
        };
        let why: Vec<String> = row
            .why
            .iter()
            .chain(&row.difference)
            .take(4)
            .map(|why| html(&bounded(why, 200)))
            .collect();
        table.row(
            "",
            vec![
                Cell::name(&row.name),
                Cell::name(&row.metric),
                Cell::markup(format!("<span class=\"{class}\">{verdict}</span>")),
                change,
                interval,
                Cell::number(&format_share(row.margin).replace(JOIN, " "), row.margin),
                Cell::number(&format_count(row.rounds as f64), row.rounds as f64),
                Cell::markup(why.join(". ")),
            ],
        );
    }
    if !table.is_empty() {
        out.push_str(&table.html());
    }
    if left_out > 0 {
        out.push_str(&format!(
            "<p class=\"small soft\">{left_out} more are left out here; the record has them.</p>\n"
        ));
    }
    for note in record.notes.iter().take(20) {
        out.push_str(&format!(
            "<p class=\"small soft\">{}</p>\n",
            html(&bounded(note, 400))
        ));
    }
    out
}
