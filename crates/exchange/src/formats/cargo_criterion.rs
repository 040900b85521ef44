//! Messages of `cargo criterion --message-format=json`.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{holds, list, name, number, opens, whole, word};
use crate::lines;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{")
        && holds(
            head,
            &["\"reason\":\"benchmark-complete\"", "\"measured_values\""],
        )
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    lines::each(input, |line| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Ok(message) = serde_json::from_slice::<serde_json::Value>(line) else {
            out.left_out("lines", "no message");
            return Ok(());
        };
        if word(&message, "reason") != Some("benchmark-complete") {
            out.left_out(
                word(&message, "reason").unwrap_or("messages"),
                "holds no measurement",
            );
            return Ok(());
        }
        let id = name(&message, "id")?;
        let measure = Measure::new(id, "wall", word(&message, "unit").unwrap_or_default());
        let (times, iterations) = (
            list(&message, "measured_values"),
            list(&message, "iteration_count"),
        );
        per_iteration(out, measure, times, iterations);
        out.left_out(
            "typical, mean, median, median_abs_dev, slope",
            "computed from the samples, which are kept",
        );
        if !message["change"].is_null() {
            out.left_out(id, "change: a comparison, not a measurement");
        }
        for one in list(&message, "throughput") {
            let amount = number(one, "per_iteration").unwrap_or_default();
            let unit = word(one, "unit").unwrap_or_default();
            out.left_out(
                id,
                format!(
                    "throughput ({amount} {unit} for one iteration): a constant, not a measurement"
                ),
            );
        }
        Ok(())
    })
}

/// Adds samples, each of which is given as the total time of several iterations.
pub(crate) fn per_iteration(
    out: &mut Collector,
    measure: Measure,
    times: &[serde_json::Value],
    iterations: &[serde_json::Value],
) {
    let Some(at) = out.samples(measure, [], &[]) else {
        return;
    };
    for (time, count) in times.iter().zip(iterations) {
        match (time.as_f64(), whole(count).filter(|count| *count > 0)) {
            (Some(time), Some(count)) => out.sample_at(at, time / count as f64, Some(count)),
            _ => out.left_out("samples", "not a number, or without iterations"),
        }
    }
    let unequal = times.len().abs_diff(iterations.len());
    out.left_out_times(
        "samples",
        "the number of times doesn't match the number of iterations",
        unequal as u64,
    );
}
