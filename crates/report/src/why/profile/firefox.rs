//! The Firefox Profiler's processed format: tables of columns, in which all names are indices.
//!
//! Format: `docs-developer/processed-profile-format.md` and `CHANGELOG-formats.md` of the profiler.

use std::collections::HashMap;

use fathom_model::{CodePaths, Explanation};
use serde_json::{Value, json};

use super::{name, title, ways};
use crate::why::words;

/// The version of the format; newer viewers convert it.
const FORMAT: u32 = 44;
/// Categories of the samples, by index.
const CATEGORIES: [(&str, &str); 3] = [
    ("Own code", "blue"),
    ("Kernel", "orange"),
    ("Waiting", "grey"),
];

pub(super) fn write(explanation: &Explanation) -> String {
    let threads: Vec<Value> = explanation
        .paths
        .iter()
        .enumerate()
        .map(|(number, tree)| thread(explanation, number, tree))
        .collect();
    let categories: Vec<Value> = CATEGORIES
        .iter()
        .map(|(name, color)| json!({"name": name, "color": color, "subcategories": ["Other"]}))
        .collect();
    let profile = json!({
        "meta": {
            "version": 24,
            "preprocessedProfileVersion": FORMAT,
            "product": explanation.command,
            "interval": 1.0,
            "startTime": 0.0,
            "stackwalk": 1,
            "processType": 0,
            "debug": false,
            "symbolicated": true,
            "categories": categories,
            "extensions": {"baseURL": [], "id": [], "length": 0, "name": []},
            "markerSchema": [{
                "name": "Text",
                "tooltipLabel": "{marker.name}",
                "tableLabel": "{marker.name} {marker.data.name}",
                "display": ["marker-chart", "marker-table"],
                "data": [{"key": "name", "label": "Details", "format": "string", "searchable": true}],
            }],
        },
        "libs": [],
        "pages": [],
        "counters": [],
        "profilerOverhead": [],
        "threads": threads,
    });
    profile.to_string()
}

/// Texts by index, each stored once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        let next = self.all.len();
        *self.numbers.entry(text.to_owned()).or_insert_with(|| {
            self.all.push(text.to_owned());
            next
        })
    }
}

fn thread(explanation: &Explanation, number: usize, tree: &CodePaths) -> Value {
    let mut texts = Texts::default();
    let steps = &tree.steps;
    let names: Vec<usize> = steps.iter().map(|step| texts.number(&name(step))).collect();
    let files: Vec<Option<usize>> = steps
        .iter()
        .map(|step| {
            step.place
                .source_file
                .as_ref()
                .map(|file| texts.number(file))
        })
        .collect();
    let lines: Vec<Option<u32>> = steps.iter().map(|step| step.place.line).collect();
    let categories: Vec<usize> = steps
        .iter()
        .map(|step| match step.kind.map(words::kind) {
            None | Some(words::Kind::Own) => 0,
            Some(words::Kind::Kernel) => 1,
            Some(_) => 2,
        })
        .collect();
    let count = steps.len();
    let all = |value: Value| vec![value; count];
    let milliseconds = |ns: u64| ns as f64 / 1e6;
    let mut at = 0;
    let (mut stacks, mut times, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (step, ns) in ways(tree) {
        stacks.push(step);
        times.push(milliseconds(at));
        weights.push(milliseconds(ns));
        at += ns;
    }
    json!({
        "name": title(tree.of),
        "processName": explanation.command,
        "processType": "default",
        "isMainThread": number == 0,
        "pid": "1",
        "tid": number + 1,
        "registerTime": 0.0,
        "unregisterTime": null,
        "processStartupTime": 0.0,
        "processShutdownTime": null,
        "pausedRanges": [],
        "markers": markers(explanation, &mut texts, number),
        "samples": {
            "length": stacks.len(),
            "stack": stacks,
            "time": times,
            "weight": weights,
            "weightType": "tracing-ms",
        },
        "stackTable": {
            "length": count,
            "frame": (0..count).collect::<Vec<_>>(),
            "prefix": steps.iter().map(|step| step.parent).collect::<Vec<_>>(),
            "category": categories,
            "subcategory": all(json!(0)),
        },
        "frameTable": {
            "length": count,
            "address": all(json!(-1)),
            "inlineDepth": all(json!(0)),
            "category": categories,
            "subcategory": all(json!(0)),
            "func": (0..count).collect::<Vec<_>>(),
            "nativeSymbol": all(Value::Null),
            "innerWindowID": all(Value::Null),
            "implementation": all(Value::Null),
            "line": lines,
            "column": all(Value::Null),
        },
        "funcTable": {
            "length": count,
            "name": names,
            "isJS": all(json!(false)),
            "relevantForJS": all(json!(false)),
            "resource": all(json!(-1)),
            "fileName": files,
            "lineNumber": all(Value::Null),
            "columnNumber": all(Value::Null),
        },
        "resourceTable": {"length": 0, "lib": [], "name": [], "host": [], "type": []},
        "nativeSymbols": {"length": 0, "address": [], "functionSize": [], "libIndex": [], "name": []},
        "stringArray": texts.all,
    })
}

/// Returns markers for the phases of the start, at their times, and for the findings, over the whole
/// duration.
fn markers(explanation: &Explanation, texts: &mut Texts, thread: usize) -> Value {
    let whole = explanation.account.wall_ns as f64 / 1e6;
    let mut found: Vec<(String, f64, Option<f64>, String)> = Vec::new();
    // The markers are added to the first thread only.
    if thread == 0 {
        for phase in &explanation.phases {
            let at = phase.at_ns as f64 / 1e6;
            found.push((phase.name.clone(), at, None, String::new()));
        }
        for finding in &explanation.findings {
            let what = finding.statement.clone();
            found.push((finding.id.to_string(), 0.0, Some(whole), what));
        }
    }
    let names: Vec<usize> = found.iter().map(|(name, ..)| texts.number(name)).collect();
    let data: Vec<Value> = found
        .iter()
        .map(|(_, _, _, what)| json!({"type": "Text", "name": what}))
        .collect();
    json!({
        "length": found.len(),
        "name": names,
        "data": data,
        "category": vec![0; found.len()],
        "startTime": found.iter().map(|(_, from, ..)| *from).collect::<Vec<_>>(),
        "endTime": found.iter().map(|(_, _, to, _)| *to).collect::<Vec<_>>(),
        // 0 means a moment, 1 an interval.
        "phase": found.iter().map(|(_, _, to, _)| u8::from(to.is_some())).collect::<Vec<_>>(),
    })
}
