//! Text of wrk and wrk2.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::holds;
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64 << 10)];
    holds(start, &["Running ", " test @ ", "Thread Stats"])
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut run = Run {
        name: "wrk".to_owned(),
        ..Run::default()
    };
    lines::each(input, |line| {
        let text = lines::shown(line.trim_ascii());
        if run.line(&text, out).is_none() && !text.is_empty() {
            out.left_out("lines", "no results");
        }
        Ok(())
    })?;
    run.latency(out);
    Ok(())
}

#[derive(Default)]
struct Run {
    name: String,
    connections: String,
    threads: Option<u64>,
    latency: Summary,
    /// wrk2's latency, excluding the time that requests waited to be sent.
    uncorrected: Option<BTreeMap<String, f64>>,
    /// Whether this is wrk2, which sends requests at a given rate.
    paced: bool,
}

impl Run {
    fn measure(&self, metric: &str, unit: &str) -> Measure {
        Measure::new(self.name.as_str(), metric, unit)
            .parameter("connections", &self.connections)
            .threads(self.threads)
    }

    fn latency(&mut self, out: &mut Collector) {
        let latency = std::mem::take(&mut self.latency);
        if latency != Summary::default() {
            out.summary(self.measure("response", "ms"), latency);
        }
        if let Some(quantiles) = self.uncorrected.take() {
            let summary = Summary {
                quantiles,
                ..Summary::default()
            };
            out.summary(self.measure("response_uncorrected", "ms"), summary);
        }
    }

    fn line(&mut self, line: &str, out: &mut Collector) -> Option<()> {
        let words = line.split_whitespace().collect::<Vec<_>>();
        match words[..] {
            ["Running", _, "test", "@", url] => {
                self.latency(out);
                self.paced = false;
                url.clone_into(&mut self.name);
            }
            [threads, "threads", "and", connections, "connections"] => {
                self.threads = threads.parse().ok();
                connections.clone_into(&mut self.connections);
            }
            ["Thread", "Stats", ..] => {}
            ["Latency", "Distribution", ..] => {
                self.uncorrected = line.contains("Uncorrected").then(BTreeMap::new);
            }
            ["Latency", mean, deviation, max, _] => {
                self.latency.mean = milliseconds(mean);
                self.latency.standard_deviation = milliseconds(deviation);
                self.latency.max = milliseconds(max);
                out.left_out("+/- Stdev", "share of values within one standard deviation");
            }
            ["Req/Sec", mean, deviation, max, _] => {
                let [mean, standard_deviation, max] = [mean, deviation, max].map(plain);
                let summary = Summary {
                    mean,
                    standard_deviation,
                    max,
                    ..Summary::default()
                };
                out.summary(
                    self.measure("requests_per_second_of_a_thread", "1/s"),
                    summary,
                );
                out.left_out("+/- Stdev", "share of values within one standard deviation");
            }
            [count, "requests", "in", _, _, "read"] => self.latency.count = count.parse().ok(),
            ["Requests/sec:", rate] => {
                let metric = match self.paced {
                    true => "throughput",
                    false => "requests_per_second",
                };
                out.value(self.measure(metric, "1/s"), plain(rate));
            }
            ["Transfer/sec:", rate] => {
                out.value(self.measure("transfer_per_second", "B/s"), bytes(rate));
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                let failed = self.measure("failed_responses", "").lower();
                out.value(failed, lines::number(count));
            }
            [
                "Socket",
                "errors:",
                "connect",
                connect,
                "read",
                read,
                "write",
                write,
                "timeout",
                timeout,
            ] => {
                let kinds = [
                    ("connect_errors", connect),
                    ("read_errors", read),
                    ("write_errors", write),
                    ("timeouts", timeout),
                ];
                for (kind, count) in kinds {
                    let count = lines::number(count.trim_end_matches(','));
                    out.value(self.measure(kind, "").lower(), count);
                }
            }
            _ => return self.detail(&words, out),
        }
        Some(())
    }

    /// Handles a line of the distribution, or of wrk2's calibration.
    fn detail(&mut self, words: &[&str], out: &mut Collector) -> Option<()> {
        match *words {
            [percent, time] if percent.ends_with('%') => {
                let percent = lines::number(percent.trim_end_matches('%'))?;
                let quantiles = match &mut self.uncorrected {
                    Some(uncorrected) => uncorrected,
                    None => &mut self.latency.quantiles,
                };
                quantiles.insert(percent.to_string(), milliseconds(time)?);
            }
            ["Thread", "calibration:", ..] => {
                self.paced = true;
                out.left_out("Thread calibration", "before the test");
            }
            [_, percentile, _, rest]
                if lines::number(percentile).is_some()
                    && (rest == "inf" || lines::number(rest).is_some()) =>
            {
                out.left_out("percentile spectrum", "quantiles are kept");
            }
            _ => return None,
        }
        Some(())
    }
}

fn milliseconds(text: &str) -> Option<f64> {
    lines::time(text, 1e6)
}

/// Parses `1.35k`.
fn plain(text: &str) -> Option<f64> {
    scaled(text, &["", "k", "M", "G", "T"], 1000.0)
}

/// Parses `0.93MB`; wrk's units are multiples of 1024.
fn bytes(text: &str) -> Option<f64> {
    scaled(text, &["B", "KB", "MB", "GB", "TB"], 1024.0)
}

fn scaled(text: &str, units: &[&str], step: f64) -> Option<f64> {
    let (value, unit) = lines::quantity(text)?;
    let power = units.iter().position(|name| *name == unit)?;
    Some(value * step.powi(i32::try_from(power).ok()?))
}
