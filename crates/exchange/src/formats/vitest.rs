//! JSON of `vitest bench`: milliseconds.

use super::tinybench::statistics;
use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{document, holds, list, name, number, opens, word};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"files\"", "\"groups\"", "\"filepath\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for file in list(&document, "files") {
        for group in list(file, "groups") {
            let full = word(group, "fullName").unwrap_or_default();
            for benchmark in list(group, "benchmarks") {
                let called = format!("{full} > {}", name(benchmark, "name")?);
                statistics(Measure::new(called.as_str(), "wall", "ms"), benchmark, out);
                let rate = Summary {
                    mean: number(benchmark, "hz"),
                    ..Summary::default()
                };
                out.summary(Measure::new(called, "throughput", "ops/s"), rate);
                out.left_out("id, rank, period, totalTime", "derived from the statistics");
            }
        }
    }
    Ok(())
}
