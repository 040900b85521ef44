//! vegeta's reports as text: `Latencies [min, mean, 50, 90, 95, 99, max] 579.427µs, ...`.

use std::io::BufRead;

use super::vegeta::Report;
use crate::collector::Collector;
use crate::error::Error;
use crate::json::holds;
use crate::lines;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64 << 10)];
    holds(start, &["[total, rate", "Latencies ", "[code:count]"])
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut open: Option<Report> = None;
    lines::each(input, |line| {
        let text = lines::shown(line.trim_ascii());
        if text.starts_with("Requests ")
            && let Some(report) = open.replace(Report::default())
        {
            report.write(out);
        }
        let taken = open.as_mut().and_then(|report| row(&text, report, out));
        if taken.is_none() && !text.is_empty() {
            out.left_out("lines", "no results");
        }
        Ok(())
    })?;
    if let Some(report) = open {
        report.write(out);
    }
    Ok(())
}

fn row(line: &str, report: &mut Report, out: &mut Collector) -> Option<()> {
    let (key, rest) = line.split_once('[')?;
    let (names, values) = rest.split_once(']')?;
    let cells = || names.split(", ").zip(values.split(',').map(str::trim));
    let cell = |wanted: &str| {
        let (_, cell) = cells().find(|(name, _)| *name == wanted)?;
        lines::number(cell)
    };
    match key.trim() {
        "Requests" => {
            report.response.count = cell("total").map(|total| total as u64);
            report.throughput = cell("throughput");
        }
        "Duration" => {}
        "Latencies" => {
            for (name, cell) in cells() {
                let time = Some(duration(cell)?);
                match name {
                    "min" => report.response.min = time,
                    "mean" => report.response.mean = time,
                    "max" => report.response.max = time,
                    percent => {
                        let quantiles = &mut report.response.quantiles;
                        quantiles.extend(time.map(|time| (percent.to_owned(), time)));
                    }
                }
            }
        }
        "Bytes In" => report.received = cell("mean"),
        "Bytes Out" => report.sent = cell("mean"),
        "Success" => {
            let percent = lines::number(values.trim().strip_suffix('%')?)?;
            report.success = Some(percent / 100.0);
        }
        "Status Codes" => {
            for pair in values.split_whitespace() {
                let (status, times) = pair.split_once(':')?;
                report.status(status, times.parse().ok()?, out);
            }
        }
        _ => return None,
    }
    Some(())
}

/// Parses one of Go's durations, such as `1m59.5s`, to nanoseconds.
fn duration(text: &str) -> Option<f64> {
    let (mut total, mut rest) = (None, text);
    while !rest.is_empty() {
        let (number, tail) =
            rest.split_at(rest.find(|char: char| !(char.is_ascii_digit() || char == '.'))?);
        let (unit, more) = tail.split_at(
            tail.find(|char: char| char.is_ascii_digit())
                .unwrap_or(tail.len()),
        );
        let part = number.parse::<f64>().ok()? * lines::nanoseconds(unit)?;
        total = Some(total.unwrap_or(0.0) + part);
        rest = more;
    }
    total
}
