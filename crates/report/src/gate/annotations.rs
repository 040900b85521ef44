//! The verdict in formats that a forge shows next to the change.

use fathom_model::{GateBenchmark, GateRecord, GateVerdict};
use serde_json::json;

use super::{gate_answer, notable, ratio};
use crate::text::escape;

/// The file to which annotations refer.
const FILE: &str = "fathom.toml";

/// Formats workflow commands for GitHub: an error for each worse benchmark, a warning for each undecided one,
/// and a notice with the answer.
pub fn gate_github(record: &GateRecord) -> String {
    let mut out = String::new();
    let mut command = |kind: &str, title: &str, message: &str| {
        out.push_str(&format!(
            "::{kind} file={FILE},title={}::{}\n",
            property(title),
            data(message)
        ));
    };
    for row in notable(record) {
        let title = format!("{} {}", row.name, row.verdict.word());
        command(kind(row), &title, &message(row));
    }
    for what in &record.settings_changed {
        command(
            "notice",
            "gate settings",
            &format!("head changes {what}; base's version applies"),
        );
    }
    for note in &record.notes {
        command("warning", "fathom gate", note);
    }
    command("notice", "fathom gate", &gate_answer(record));
    out
}

fn kind(row: &GateBenchmark) -> &'static str {
    match (row.verdict, &row.waived) {
        (GateVerdict::Worse, None) => "error",
        (GateVerdict::NotWorse, _) => "notice",
        _ => "warning",
    }
}

fn message(row: &GateBenchmark) -> String {
    let mut text = format!("{} {}", row.metric, row.verdict.word());
    match &row.budget {
        Some(budget) => text.push_str(&format!(" (budget {budget})")),
        None => text.push_str(&format!(" {}", ratio(row))),
    }
    for why in row.why.iter().chain(&row.difference) {
        text.push_str(&format!("; {why}"));
    }
    if let Some(waiver) = &row.waived {
        text.push_str(&format!(
            "; waived until {}: {}",
            waiver.until, waiver.reason
        ));
    }
    text
}

/// Escapes the text of a workflow command. Encodes everything that could end the command or begin another
/// one, and makes control characters visible.
fn data(text: &str) -> String {
    escape(text).replace('%', "%25").replace("::", "%3A%3A")
}

/// Escapes a property of a workflow command, including the characters that separate properties.
fn property(text: &str) -> String {
    escape(text)
        .replace('%', "%25")
        .replace(':', "%3A")
        .replace(',', "%2C")
}

/// Formats GitLab's Code Quality report: one entry for each row with a problem.
pub fn gate_gitlab(record: &GateRecord) -> String {
    let entries: Vec<serde_json::Value> = notable(record)
        .into_iter()
        .map(|row| {
            let severity = match kind(row) {
                "error" => "major",
                _ => "minor",
            };
            json!({
                "description": escape(&format!("{}: {}", row.name, message(row))),
                "check_name": "fathom gate",
                "fingerprint": fingerprint(&row.name, &row.metric),
                "severity": severity,
                "location": {"path": FILE, "lines": {"begin": 1}},
            })
        })
        .collect();
    format!("{:#}\n", serde_json::Value::Array(entries))
}

/// Returns a fingerprint that is the same for the same row each time (FNV-1a, 64 bits), so that GitLab can
/// distinguish old findings from new ones.
fn fingerprint(name: &str, metric: &str) -> String {
    let bytes = name.bytes().chain([0]).chain(metric.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn no_name_begins_a_command_of_its_own() {
        let hostile = "x\n::error::y,z%0A";
        for text in [data(hostile), property(hostile)] {
            assert!(!text.contains('\n') && !text.contains("::"), "{text}");
            assert!(text.ends_with("%250A"), "{text}");
        }
        assert!(!property(hostile).contains(','));
    }
}
