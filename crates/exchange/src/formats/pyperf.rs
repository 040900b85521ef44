//! pyperf's JSON, which nanobench also writes.

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{count, document, holds, list, numbers, opens, text, word};

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{")
        && holds(head, &["\"benchmarks\"", "\"runs\"", "\"metadata\""])
        && !holds(head, &["\"stats\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    let version = text(&document["version"]);
    if version != "1.0" {
        return Err(Error::Version {
            tool: "pyperf",
            found: version,
            known: "1.0",
        });
    }
    let common = &document["metadata"];
    out.version(word(common, "perf_version"));
    for (key, value) in common.as_object().into_iter().flatten() {
        if !matches!(
            key.as_str(),
            "name" | "unit" | "loops" | "inner_loops" | "perf_version"
        ) {
            out.environment(key, &text(value));
        }
    }
    for benchmark in list(&document, "benchmarks") {
        let own = &benchmark["metadata"];
        let find = |key| word(own, key).or_else(|| word(common, key));
        let name = find("name").unwrap_or("benchmark");
        let measure = match find("unit").unwrap_or("second") {
            "second" => Measure::new(name, "wall", "s"),
            "byte" => Measure::new(name, "memory", "B"),
            other => Measure::new(name, "value", other),
        };
        let keys = own
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !matches!(key.as_str(), "name" | "unit"));
        out.left_out_times("metadata of a benchmark", "settings", keys.count() as u64);
        out.separate(measure.clone(), [], &[]);
        for run in list(benchmark, "runs") {
            let values = list(run, "values");
            let count = |key| {
                count(&run["metadata"], key)
                    .or_else(|| count(own, key))
                    .or_else(|| count(common, key))
            };
            let loops = count("loops")
                .unwrap_or(1)
                .saturating_mul(count("inner_loops").unwrap_or(1));
            if values.is_empty() {
                out.left_out("runs", "calibrate: no values");
            }
            out.samples(measure.clone(), numbers(values), &vec![loops; values.len()]);
            out.left_out_times(
                "warmups",
                "not a measurement",
                list(run, "warmups").len() as u64,
            );
            out.left_out_times(
                "metadata of a run",
                "date, load and memory",
                u64::from(!run["metadata"].is_null()),
            );
        }
    }
    Ok(())
}
