//! nanobench's JSON: each epoch is a sample, with the time of one iteration.

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{count, document, holds, list, name, number, opens, word};

const COUNTERS: &[&str] = &[
    "instructions",
    "cpucycles",
    "branchinstructions",
    "branchmisses",
    "pagefaults",
    "contextswitches",
];

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"results\"", "\"median(elapsed)\"", "\"epochs\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for result in list(&document, "results") {
        let called = name(result, "name")?;
        let measure = |metric: &str, unit: &str| {
            let batch = number(result, "batch").unwrap_or(1.0);
            let unit_of = word(result, "unit").unwrap_or("op");
            let measure = Measure::new(called, metric, unit);
            measure
                .parameter("title", word(result, "title").unwrap_or_default())
                .parameter("batch", &format!("{batch} {unit_of}"))
        };
        let epochs = list(result, "measurements");
        let iterations = epochs
            .iter()
            .map(|epoch| count(epoch, "iterations").unwrap_or(0))
            .collect::<Vec<_>>();
        let samples = |key: &'static str| {
            epochs
                .iter()
                .map(move |epoch| number(epoch, key).unwrap_or(f64::NAN))
        };
        out.separate(measure("wall", "s"), samples("elapsed"), &iterations);
        for counter in COUNTERS {
            if samples(counter).all(|value| value == 0.0) {
                out.left_out_times(
                    *counter,
                    "always 0: the counter was not available",
                    epochs.len() as u64,
                );
            } else {
                out.separate(measure(counter, "").lower(), samples(counter), &iterations);
            }
        }
        out.left_out(
            "medians and their errors",
            "computed from the samples, which are kept",
        );
        out.left_out("settings", "epochs, warm-up and clock: not a measurement");
    }
    Ok(())
}
