//! The verdict as a test report (JUnit XML).

use fathom_model::{GateBenchmark, GateRecord, GateVerdict};

use super::{gate_answer, levels, ratio};
use crate::text::escape;

/// Formats a test suite: a worse benchmark fails, an undecided one is skipped.
pub fn gate_junit(record: &GateRecord) -> String {
    let count = |verdict| {
        let rows = record.benchmarks.iter();
        rows.filter(|row| row.verdict == verdict && row.waived.is_none())
            .count()
    };
    let failed = if record.null_arm.failed {
        0
    } else {
        count(GateVerdict::Worse)
    };
    let skipped = record
        .benchmarks
        .iter()
        .filter(|row| skips(record, row))
        .count();
    let errors = usize::from(record.null_arm.failed);
    let all = record.benchmarks.len() + errors;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!(
        "<testsuites>\n  <testsuite name=\"fathom gate\" tests=\"{all}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{:.1}\" timestamp=\"{}\">\n",
        record.seconds,
        xml(&record.started_at),
    ));
    for row in &record.benchmarks {
        out.push_str(&format!(
            "    <testcase classname=\"fathom.gate\" name=\"{}\"",
            xml(&format!("{} {}", row.name, row.metric)),
        ));
        let said = xml(&said(row));
        if skips(record, row) {
            out.push_str(&format!(
                ">\n      <skipped message=\"{said}\"/>\n    </testcase>\n"
            ));
        } else if row.verdict == GateVerdict::Worse {
            out.push_str(&format!(
                ">\n      <failure message=\"{said}\"/>\n    </testcase>\n"
            ));
        } else {
            out.push_str("/>\n");
        }
    }
    if record.null_arm.failed {
        out.push_str(&format!(
            "    <testcase classname=\"fathom.gate\" name=\"null arm\">\n      <error message=\"{}\"/>\n    </testcase>\n",
            xml(&gate_answer(record))
        ));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn skips(record: &GateRecord, row: &GateBenchmark) -> bool {
    row.verdict == GateVerdict::CannotTell || row.waived.is_some() || record.null_arm.failed
}

fn said(row: &GateBenchmark) -> String {
    let mut parts = vec![row.verdict.word().to_owned(), ratio(row), levels(row)];
    parts.extend(row.budget.iter().map(|budget| format!("budget {budget}")));
    parts.extend(row.why.iter().cloned());
    parts.extend(
        row.waived
            .iter()
            .map(|waiver| format!("waived until {}: {}", waiver.until, waiver.reason)),
    );
    parts.extend(row.difference.iter().cloned());
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Escapes untrusted text for an attribute. Control characters, which XML 1.0 can't represent, are made
/// visible.
fn xml(from_outside: &str) -> String {
    let mut out = String::new();
    for character in escape(from_outside).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}
