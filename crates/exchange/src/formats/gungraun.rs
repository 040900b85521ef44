//! gungraun's JSON (the successor of iai-callgrind): counts of valgrind's tools, either as one document or as
//! lines between other output.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::json::{document, entries, holds, list, text, word};
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    holds(
        head,
        &["\"module_path\"", "\"function_name\"", "\"profiles\""],
    )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    if let Ok(document) = document(bytes) {
        return one(&document, out);
    }
    for line in lines::of(bytes) {
        let line = line.trim_ascii();
        if line.starts_with(b"{") {
            let summary =
                document(line).map_err(|error| malformed(format!("gungraun: {error}")))?;
            one(&summary, out)?;
        } else if !line.is_empty() {
            out.left_out("lines", "no results");
        }
    }
    Ok(())
}

fn one(benchmark: &Value, out: &mut Collector) -> Result<(), Error> {
    let version = text(&benchmark["version"]);
    if version != "6" {
        return Err(Error::Version {
            tool: "gungraun",
            found: version,
            known: "6",
        });
    }
    out.version(Some(&version));
    let name = word(benchmark, "module_path").unwrap_or("benchmark");
    for profile in list(benchmark, "profiles") {
        let tool = word(profile, "tool").unwrap_or_default();
        let summaries = &profile["summaries"];
        for (_, metrics) in entries(&summaries["total"], "summary") {
            for (metric, value) in metrics.as_object().into_iter().flatten() {
                let metrics = &value["metrics"];
                // `Left` is this run, and `Right` is the previous one.
                let (new, old) = match (&metrics["Both"], &metrics["Left"]) {
                    (Value::Array(both), _) => (both.first().unwrap_or(&Value::Null), true),
                    (_, left) => (left, !metrics["Right"].is_null()),
                };
                let count = new["Int"]
                    .as_f64()
                    .or_else(|| new["Float"].as_f64())
                    .or_else(|| new.as_f64());
                let measure = Measure::new(name, metric.as_str(), "").lower().exact();
                let measure = measure
                    .parameter("id", word(benchmark, "id").unwrap_or_default())
                    .parameter("tool", tool);
                match count {
                    Some(_) => out.summary(
                        measure,
                        Summary {
                            value: count,
                            ..Summary::default()
                        },
                    ),
                    None => out.left_out(metric, "not measured in this run"),
                }
                out.left_out_times(
                    "earlier values and differences",
                    "values of another run",
                    u64::from(old),
                );
            }
        }
        out.left_out_times(
            "parts",
            "the total is kept",
            list(summaries, "parts").len() as u64,
        );
    }
    Ok(())
}
