//! The findings for code scanning and editors, as SARIF 2.1.0.

use fathom_model::{CodePlace, Confidence, Explanation, Finding, FindingId};
use serde_json::{Value, json};

use crate::{escape, shorten};

/// The URL of the format's schema.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The maximum length of a text, in characters: viewers show a line or two.
const LONGEST: usize = 1000;

/// Returns a SARIF result for each finding, at the line with most of its time, with the calls that lead
/// there. If no source is known, the result is at the program's file, because code scanning rejects a log
/// that has a result without a location. Paths below `root` are relative to it, because readers of the log
/// have the same sources in another folder.
pub fn explain_sarif(explanation: &Explanation, root: &str) -> String {
    let mut ids: Vec<FindingId> = Vec::new();
    for finding in &explanation.findings {
        if !ids.contains(&finding.id) {
            ids.push(finding.id);
        }
    }
    let rules: Vec<Value> = ids.iter().map(|id| rule(*id)).collect();
    let results: Vec<Value> = explanation
        .findings
        .iter()
        .map(|finding| result(finding, explanation, root))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Fathom",
                "semanticVersion": explanation.fathom_version,
                "rules": rules,
            }},
            "results": results,
            "columnKind": "unicodeCodePoints",
        }],
    });
    format!("{log:#}\n")
}

fn rule(id: FindingId) -> Value {
    json!({
        "id": id.as_str(),
        "shortDescription": { "text": id.sentence() },
        "help": { "text": format!("fathom explain {}", id.as_str()) },
    })
}

fn text(of: &str) -> Value {
    json!({ "text": shorten(&escape(of), LONGEST) })
}

fn result(finding: &Finding, explanation: &Explanation, root: &str) -> Value {
    let command = explanation.command.as_str();
    let program = explanation
        .arguments
        .first()
        .map_or(command, String::as_str);
    let place = located(finding);
    let shown = match place {
        Some(place) => location(place, root),
        None => in_file(finding.code.binary.as_deref().unwrap_or(program), root),
    };
    let mut result = json!({
        "ruleId": finding.id.as_str(),
        // A finding that is only likely isn't a warning yet.
        "level": match finding.confidence {
            Confidence::Certain => "warning",
            Confidence::Likely => "note",
        },
        "message": text(&format!("{} {}", finding.statement, finding.advice)),
        "locations": [shown],
        // The same cause at the same place is the same result, even if its time varies.
        "partialFingerprints": { "fathomCause/v1": fingerprint(finding, place, command) },
        "properties": {
            "share": finding.share,
            "savingNanoseconds": finding.could_win_ns,
            "command": escape(command),
        },
    });
    let steps: Vec<Value> = ways(finding)
        .map(|place| json!({ "location": location(place, root) }))
        .collect();
    if steps.len() > 1 {
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

/// Returns the function of a finding and its callers, outermost first, if their source is known.
fn ways(finding: &Finding) -> impl Iterator<Item = &CodePlace> {
    let all = finding.callers.iter().rev().chain([&finding.code]);
    all.filter(|place| has_source(place))
}

/// Returns whether the source is a file, rather than a name made up by a runtime, such as Python's
/// `<string>`.
fn has_source(place: &CodePlace) -> bool {
    let file = place.source_file.as_deref();
    file.is_some_and(|file| !file.is_empty() && !file.starts_with('<'))
}

/// Returns where to show a finding: the function itself, or the nearest caller with a source.
fn located(finding: &Finding) -> Option<&CodePlace> {
    let all = [&finding.code].into_iter().chain(&finding.callers);
    all.into_iter().find(|place| has_source(place))
}

fn location(place: &CodePlace, root: &str) -> Value {
    let file = place.source_file.as_deref().unwrap_or_default();
    let mut location = in_file(file, root);
    if let Some(line) = place.line.filter(|line| *line > 0) {
        location["physicalLocation"]["region"] = json!({ "startLine": line });
    }
    if let Some(function) = &place.function {
        let name = shorten(&escape(function), LONGEST);
        location["logicalLocations"] = json!([{ "fullyQualifiedName": name, "kind": "function" }]);
    }
    location
}

fn in_file(path: &str, root: &str) -> Value {
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(path, root) } } })
}

fn fingerprint(finding: &Finding, place: Option<&CodePlace>, command: &str) -> String {
    let function = place.and_then(|place| place.function.as_deref());
    let object = finding.object.as_deref();
    let parts = [Some(command), function, object];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    escape(&format!("{}:{}", finding.id.as_str(), parts.join(":")))
}

/// Returns a path below `root` as a relative path, and any other absolute path as a `file:` URI.
fn uri(path: &str, root: &str) -> String {
    let below = path.strip_prefix(root.trim_end_matches('/'));
    let below = below.and_then(|rest| rest.strip_prefix('/'));
    match below {
        Some(rest) if !root.is_empty() => encoded(rest),
        _ if path.starts_with('/') => format!("file://{}", encoded(path)),
        _ => encoded(path),
    }
}

/// Percent-encodes the characters that RFC 3986 doesn't allow in a path.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b'@' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_root_are_written_from_there() {
        let cases = [
            ("/home/me/app/src/a b.c", "/home/me/app", "src/a%20b.c"),
            ("/home/me/app/src/a.c", "/home/me/app/", "src/a.c"),
            (
                "/home/me/application/a.c",
                "/home/me/app",
                "file:///home/me/application/a.c",
            ),
            ("parse.py", "/home/me/app", "parse.py"),
            ("/usr/lib/ü.c", "", "file:///usr/lib/%C3%BC.c"),
            ("javascript:alert(1)", "/x", "javascript%3Aalert%281%29"),
        ];
        for (path, root, expected) in cases {
            assert_eq!(uri(path, root), expected, "{path} {root}");
        }
    }
}
