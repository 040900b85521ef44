//! Records of verbs with their own answers: gate, serve, versions.

use fathom_model::{GateBenchmark, GateRecord, GateVerdict, Report};

use super::versions;
use crate::gate::{gate_answer, gate_table};
use crate::page::section;
use crate::serve::parts as serve_parts;
use crate::text::{bounded, html, words};

/// The maximum number of rows of a table: more would make a page of a site too large.
const MOST_ROWS: usize = 100;

/// Returns a section for each record.
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
    let mut rows: Vec<&GateBenchmark> = record.benchmarks.iter().collect();
    // If not all rows fit, rows that are not worse are omitted first.
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    if left_out > 0 {
        rows.sort_by_key(|row| match row.verdict {
            GateVerdict::Worse => 0,
            GateVerdict::CannotTell => 1,
            GateVerdict::NotWorse => 2,
        });
        rows.truncate(MOST_ROWS);
    }
    let table = gate_table(rows);
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
