//! The CSV of hyperfine.

use std::collections::BTreeSet;

use fathom_model::{BenchRecord, Metric};

use crate::distribution::sorted;
use crate::session::Subject;
use fathom_exchange::export::{Moments, mean, quoted_cell};

const COLUMNS: [&str; 8] = [
    "command", "mean", "stddev", "median", "user", "system", "min", "max",
];

/// Formats `record` with hyperfine's columns, one line for each benchmark that has runs; times are in
/// seconds. Fields are quoted according to RFC 4180, but lines end with a plain line feed, as in hyperfine. A
/// command that a spreadsheet would treat as a formula is marked as text.
pub fn csv(record: &BenchRecord) -> String {
    let subjects = Subject::all(record);
    let parameters: BTreeSet<&str> = subjects
        .iter()
        .flat_map(|subject| &subject.benchmark.parameters)
        .map(|(name, _)| name.as_str())
        .collect();
    let mut header: Vec<String> = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    header.extend(parameters.iter().map(|name| format!("parameter_{name}")));
    let mut out = line(&header);
    for subject in &subjects {
        let Some(moments) = Moments::of(&sorted(subject.values(Metric::Wall))) else {
            continue;
        };
        let number = |value: f64| value.to_string();
        let mut fields = vec![
            subject.benchmark.name.clone(),
            number(moments.mean),
            moments.standard_deviation.map(number).unwrap_or_default(),
            number(moments.median),
            number(mean(&subject.values(Metric::User))),
            number(mean(&subject.values(Metric::System))),
            number(moments.min),
            number(moments.max),
        ];
        for wanted in &parameters {
            let found = subject
                .benchmark
                .parameters
                .iter()
                .find(|(name, _)| name == wanted);
            fields.push(found.map(|(_, value)| value.clone()).unwrap_or_default());
        }
        out.push_str(&line(&fields));
    }
    out
}

fn line(fields: &[String]) -> String {
    let quoted: Vec<String> = fields.iter().map(|field| quoted_cell(field)).collect();
    quoted.join(",") + "\n"
}
