//! wrk's text.

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
    }

    fn failed(&self, kind: &str, value: Option<f64>, out: &mut Collector) {
        let summary = Summary {
            value,
            ..Summary::default()
        };
        out.summary(self.measure(kind, "").lower(), summary);
    }

    fn line(&mut self, line: &str, out: &mut Collector) -> Option<()> {
        let words = line.split_whitespace().collect::<Vec<_>>();
        match words[..] {
            ["Running", _, "test", "@", url] => {
                self.latency(out);
                url.clone_into(&mut self.name);
            }
            [threads, "threads", "and", connections, "connections"] => {
                self.threads = threads.parse().ok();
                connections.clone_into(&mut self.connections);
            }
            ["Thread", "Stats", ..] | ["Latency", "Distribution", ..] => {}
            ["Latency", mean, deviation, max, _] => {
                self.latency.mean = milliseconds(mean);
                self.latency.standard_deviation = milliseconds(deviation);
                self.latency.max = milliseconds(max);
                out.left_out("+/- Stdev", "share within one deviation");
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
                out.left_out("+/- Stdev", "share within one deviation");
            }
            [percent, time] if percent.ends_with('%') => {
                let percent = lines::number(percent.trim_end_matches('%'))?;
                self.latency
                    .quantiles
                    .insert(percent.to_string(), milliseconds(time)?);
            }
            [count, "requests", "in", _, _, "read"] => self.latency.count = count.parse().ok(),
            ["Requests/sec:", rate] => {
                let value = plain(rate);
                out.summary(
                    self.measure("requests_per_second", "1/s"),
                    Summary {
                        value,
                        ..Summary::default()
                    },
                );
            }
            ["Transfer/sec:", rate] => {
                let value = bytes(rate);
                out.summary(
                    self.measure("transfer_per_second", "B/s"),
                    Summary {
                        value,
                        ..Summary::default()
                    },
                );
            }
            ["Non-2xx", "or", "3xx", "responses:", count] => {
                self.failed("failed_responses", lines::number(count), out);
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
                    self.failed(kind, lines::number(count.trim_end_matches(',')), out);
                }
            }
            _ => return None,
        }
        Some(())
    }
}

fn milliseconds(text: &str) -> Option<f64> {
    let (value, unit) = lines::quantity(text)?;
    let factor = match unit {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 6e4,
        "h" => 3.6e6,
        _ => return None,
    };
    Some(value * factor)
}

/// `1.35k`
fn plain(text: &str) -> Option<f64> {
    let (value, unit) = lines::quantity(text)?;
    let power = ["", "k", "M", "G", "T"]
        .iter()
        .position(|name| *name == unit)?;
    Some(value * [1.0, 1e3, 1e6, 1e9, 1e12][power])
}

/// `0.93MB`; wrk's are of 1024.
fn bytes(text: &str) -> Option<f64> {
    let (value, unit) = lines::quantity(text)?;
    let power = ["B", "KB", "MB", "GB", "TB"]
        .iter()
        .position(|name| *name == unit)?;
    Some(
        value
            * [
                1.0,
                1024.0,
                1_048_576.0,
                1_073_741_824.0,
                1_099_511_627_776.0,
            ][power],
    )
}
