//! k6's `--out json`: a line for each point of each metric.

use std::collections::HashMap;
use std::io::BufRead;

use super::k6::unit;
use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{entries, holds, number, opens, word};
use crate::lines;

/// The maximum number of metrics; k6 declares each metric once.
const MOST_METRICS: usize = 10_000;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"metric\"", "\"type\":\"Metric\""])
        || holds(head, &["\"metric\"", "\"type\":\"Point\""])
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut units: HashMap<String, &'static str> = HashMap::new();
    lines::each(input, |line| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let event = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
        let Some(metric) = word(&event, "metric") else {
            out.left_out("lines", "no point");
            return Ok(());
        };
        let data = &event["data"];
        if word(&event, "type") == Some("Metric") {
            if units.len() < MOST_METRICS {
                units.insert(metric.to_owned(), unit(metric, word(data, "contains")));
            }
            out.left_out("declarations of metrics", "not measurements");
            return Ok(());
        }
        // As in k6's own summary, without a declaration the name shows what a metric contains.
        let unit = units
            .get(metric)
            .copied()
            .unwrap_or_else(|| unit(metric, None));
        let mut measure = Measure::new("k6", metric, unit);
        for (key, value) in entries(data, "tags") {
            let same = key == "url" && *value == data["tags"]["name"];
            if let Some(value) = value.as_str().filter(|_| !same) {
                measure = measure.parameter(key, value);
            }
        }
        out.samples(measure, [number(data, "value").unwrap_or(f64::NAN)], &[]);
        Ok(())
    })
}
