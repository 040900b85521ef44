//! pytest-codspeed's wall time JSON: nanoseconds for one iteration, summaries only.

use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::json::{chosen, count, document, holds, list, name, number, opens, word};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{")
        && holds(
            head,
            &["\"creator\"", "\"pytest-codspeed\"", "\"instrument\""],
        )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    let instrument = word(&document["instrument"], "type").unwrap_or_default();
    if instrument != "walltime" {
        return Err(malformed(format!(
            "pytest-codspeed: unknown instrument '{instrument}' (only walltime is supported)"
        )));
    }
    out.version(word(&document["creator"], "version"));
    out.environment_of("clock", &document["instrument"]["clock_info"]);
    out.left_out("python", "build settings and installed packages");
    for benchmark in list(&document, "benchmarks") {
        let called = word(benchmark, "uri").map_or_else(|| name(benchmark, "name"), Ok)?;
        let called = called.rsplit_once('/').map_or(called, |(_, file)| file);
        let stats = &benchmark["stats"];
        let quantiles = [("25", "q1_ns"), ("75", "q3_ns")];
        let other = [
            "total_time",
            "iqr_outlier_rounds",
            "stdev_outlier_rounds",
            "warmup_iters",
        ];
        let summary = Summary {
            count: count(stats, "rounds"),
            mean: number(stats, "mean_ns"),
            median: number(stats, "median_ns"),
            standard_deviation: number(stats, "stdev_ns"),
            min: number(stats, "min_ns"),
            max: number(stats, "max_ns"),
            quantiles: chosen(stats, &quantiles),
            other: chosen(stats, &other.map(|key| (key, key))),
            ..Summary::default()
        };
        out.summary_of(
            Measure::new(called, "wall", "ns"),
            summary,
            &count(stats, "iter_per_round")
                .into_iter()
                .collect::<Vec<_>>(),
        );
        out.left_out("config", "settings");
    }
    Ok(())
}
