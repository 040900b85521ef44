//! libtest's JSON lines (`--format json`, unstable): nanoseconds.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{holds, name, number, opens, word};
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"type\"", "\"event\""]) && holds(head, &["\"suite\""])
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    lines::each(input, |line| {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Ok(event) = serde_json::from_slice::<serde_json::Value>(line) else {
            out.left_out("lines", "no event");
            return Ok(());
        };
        if word(&event, "type") == Some("bench") {
            let name = name(&event, "name")?;
            let other = number(&event, "deviation").map(|value| ("max - min".to_owned(), value));
            let median = number(&event, "median");
            let summary = Summary {
                median,
                other: other.into_iter().collect(),
                ..Summary::default()
            };
            out.summary(Measure::new(name, "wall", "ns"), summary);
            // libtest computes 10^6 bytes per second and calls that MiB.
            if let Some(value) = number(&event, "mib_per_second") {
                let summary = Summary {
                    value: Some(value),
                    ..Summary::default()
                };
                out.summary(Measure::new(name, "throughput", "MB/s"), summary);
            }
            return Ok(());
        }
        match (word(&event, "event"), word(&event, "name")) {
            (Some(event @ ("ignored" | "failed" | "ok" | "timeout")), Some(name)) => {
                out.left_out(name, format!("not a benchmark's result: {event}"));
            }
            _ => out.left_out("events", "starts and totals"),
        }
        Ok(())
    })
}
