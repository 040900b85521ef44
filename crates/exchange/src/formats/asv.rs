//! An asv result file; units and parameter names come from `benchmarks.json` next to it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{document, entries, holds, list, opens, text, whole};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{")
        && holds(
            head,
            &["\"commit_hash\"", "\"requirements\"", "\"results\""],
        )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    with(bytes, &Value::Null, out)
}

pub(crate) fn with(bytes: &[u8], benchmarks: &Value, out: &mut Collector) -> Result<(), Error> {
    let mut document = document(bytes)?;
    for form in [&document["version"], &benchmarks["version"]] {
        if !form.is_null() && !matches!(form.as_u64(), Some(1 | 2)) {
            return Err(Error::Version {
                tool: "asv",
                found: text(form),
                known: "1 and 2",
            });
        }
    }
    let first = document["version"].as_u64() == Some(1);
    out.version(Some(if first { "1" } else { "2" }));
    for key in [
        "commit_hash",
        "env_name",
        "date",
        "params",
        "python",
        "requirements",
    ] {
        out.environment_of(key, &document[key]);
    }
    out.left_out_times(
        "durations",
        "times of build and setup",
        entries(&document, "durations").count() as u64,
    );
    let columns = document["result_columns"].take();
    let columns = columns
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(at, name)| Some((name.as_str()?, at)))
        .collect::<BTreeMap<_, _>>();
    let built_with = built_with(&document);
    let Value::Object(results) = document["results"].take() else {
        return Ok(());
    };
    for (name, mut row) in results {
        if first {
            row = row_of_version_1(row);
        }
        let cell = |column: &str| match first {
            true => &row[column],
            false => columns.get(column).map_or(&Value::Null, |at| &row[*at]),
        };
        let known = &benchmarks[name.as_str()];
        benchmark(&name, &cell, known, &built_with, out);
    }
    Ok(())
}

/// Converts a row to the columns of version 2. In version 1, a row is a value, or an object with lists of
/// values and statistics.
fn row_of_version_1(row: Value) -> Value {
    let listed = |value: Value| match value {
        Value::Array(list) => Value::Array(list),
        value => Value::Array(vec![value]),
    };
    let Value::Object(mut row) = row else {
        return serde_json::json!({"result": listed(row)});
    };
    let mut taken = |key: &str| row.remove(key).unwrap_or_default();
    let mut columns = serde_json::Map::new();
    columns.insert("result".to_owned(), listed(taken("result")));
    columns.insert("params".to_owned(), taken("params"));
    columns.insert("samples".to_owned(), taken("samples"));
    let stats = listed(taken("stats"));
    let mut column = |name: &str, of: &dyn Fn(&Value) -> &Value| {
        let all = stats.as_array().into_iter().flatten();
        let all = all.map(|one| of(one).clone()).collect();
        columns.insert(format!("stats_{name}"), all);
    };
    column("ci_99_a", &|one| &one["ci_99"][0]);
    column("ci_99_b", &|one| &one["ci_99"][1]);
    for key in ["q_25", "q_75", "number", "repeat"] {
        column(key, &|one| &one[key]);
    }
    Value::Object(columns)
}

/// Returns the environment that asv created: Python, the packages installed there, and variables.
fn built_with(document: &Value) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = ["requirements", "env_vars"]
        .iter()
        .flat_map(|list| entries(document, list))
        .map(|(name, value)| (name.clone(), text(value)))
        .collect();
    if let Some(python) = document["python"].as_str() {
        all.insert("python".to_owned(), python.to_owned());
    }
    all
}

fn benchmark<'a>(
    name: &str,
    cell: &dyn Fn(&str) -> &'a Value,
    known: &Value,
    built_with: &BTreeMap<String, String>,
    out: &mut Collector,
) {
    let Some(results) = cell("result").as_array() else {
        out.left_out(name, "failed");
        return;
    };
    let lists = cell("params")
        .as_array()
        .into_iter()
        .flatten()
        .map(|list| list.as_array().map_or(&[][..], Vec::as_slice))
        .collect::<Vec<_>>();
    let (metric, unit) = metric(name, known);
    for (number, result) in results.iter().enumerate() {
        let mut measure = Measure::new(name, metric, unit);
        for (key, value) in built_with {
            let taken = list(known, "param_names").iter().any(|name| name == key);
            let key = match taken {
                true => format!("{key} of the environment"),
                false => key.clone(),
            };
            measure = measure.parameter(&key, value);
        }
        // Results are in the order of the product of all parameters; the last parameter varies fastest.
        let mut rest = number;
        for (at, list) in lists.iter().enumerate().rev() {
            let value = list
                .get(rest % list.len().max(1))
                .map(text)
                .unwrap_or_default();
            let key = known["param_names"][at]
                .as_str()
                .map_or_else(|| (at + 1).to_string(), ToOwned::to_owned);
            measure = measure.parameter(&key, &value);
            rest /= list.len().max(1);
        }
        let figure = |column: &str| cell(column)[number].as_f64();
        let samples = cell("samples")[number]
            .as_array()
            .filter(|samples| !samples.is_empty());
        let iterations = whole(&cell("stats_number")[number])
            .into_iter()
            .collect::<Vec<_>>();
        if let Some(samples) = samples {
            out.separate(measure, crate::json::numbers(samples), &iterations);
            out.left_out(
                "result and stats of a benchmark with samples",
                "computed from the samples, which are kept",
            );
        } else if let Some(value) = result.as_f64() {
            let interval = figure("stats_ci_99_a").zip(figure("stats_ci_99_b"));
            let quartiles = [("25", "stats_q_25"), ("75", "stats_q_75")];
            let summary = Summary {
                count: whole(&cell("stats_repeat")[number]),
                value: Some(value),
                low: interval.map(|(low, _)| low),
                high: interval.map(|(_, high)| high),
                level: interval.map(|_| 0.99),
                quantiles: quartiles
                    .iter()
                    .filter_map(|(percent, column)| Some(((*percent).to_owned(), figure(column)?)))
                    .collect(),
                ..Summary::default()
            };
            out.summary_of(measure, summary, &iterations);
        } else {
            out.left_out(name, "failed or skipped for these parameters");
        }
    }
    out.left_out(
        "version, started_at, duration, profile",
        "of the benchmark's code and of asv",
    );
}

/// Returns the metric and its unit. If `benchmarks.json` is missing, asv's own rule for names is used.
fn metric<'a>(name: &str, known: &'a Value) -> (&'static str, &'a str) {
    let last = name.rsplit('.').next().unwrap_or(name);
    let (metric, unit) = match last.split('_').next() {
        Some("time" | "timeraw") => ("wall", "s"),
        Some("mem") => ("memory", "B"),
        Some("peakmem") => ("peak_memory", "B"),
        _ => ("value", ""),
    };
    match known["unit"].as_str() {
        None => (metric, unit),
        Some("seconds") => (metric, "s"),
        Some("bytes") => (metric, "B"),
        Some(other) => (metric, other),
    }
}
