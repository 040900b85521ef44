//! hey's text: seconds.

use std::io::BufRead;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::holds;
use crate::lines;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let start = &head[..head.len().min(64 << 10)];
    holds(
        start,
        &["Summary:", "Requests/sec:", "Response time histogram:"],
    )
}

pub(crate) fn read(input: &mut dyn BufRead, out: &mut Collector) -> Result<(), Error> {
    let mut response = Summary::default();
    let mut failed = Failed::default();
    let mut section = String::new();
    lines::each(input, |line| {
        let text = lines::shown(line.trim_ascii());
        if text.is_empty() {
            return Ok(());
        }
        if text.ends_with(':') {
            section = text;
        } else if row(&section, &text, (&mut response, &mut failed), out).is_none() {
            out.left_out("lines", "no results");
        }
        Ok(())
    })?;
    out.summary(Measure::new("hey", "response", "s"), response);
    failed.write("hey", out);
    Ok(())
}

fn row(
    section: &str,
    line: &str,
    (response, failed): (&mut Summary, &mut Failed),
    out: &mut Collector,
) -> Option<()> {
    if section == "Response time histogram:" {
        out.left_out("histogram", "quantiles are kept");
        return Some(());
    }
    if section == "Latency distribution:" {
        let (percent, rest) = line.split_once('%')?;
        let time = rest.trim_start_matches('%').trim().strip_prefix("in ")?;
        response
            .quantiles
            .insert(percent.to_owned(), lines::quantity(time)?.0);
        return Some(());
    }
    if section == "Status code distribution:" {
        let (code, count) = line.split_once(']')?;
        let count: u64 = count.split_whitespace().next()?.parse().ok()?;
        let code = code.trim_start_matches('[');
        failed.status(code, count);
        response.count = Some(response.count.unwrap_or(0).saturating_add(count));
        out.left_out_times(format!("status {code}"), "a count of responses", count);
        return Some(());
    }
    if section == "Error distribution:" {
        let (count, error) = line.trim_start_matches('[').split_once(']')?;
        let count = count.parse().ok()?;
        failed.no_answer(count);
        out.left_out_times(format!("error: {}", error.trim()), "no response", count);
        return Some(());
    }
    let (key, value) = line.split_once(':')?;
    if section.starts_with("Details") {
        let figures = value
            .split(',')
            .map(|cell| lines::quantity(cell).map(|(value, _)| value))
            .collect::<Vec<_>>();
        let at = |index: usize| figures.get(index).copied().flatten();
        let summary = Summary {
            mean: at(0),
            min: at(1),
            max: at(2),
            ..Summary::default()
        };
        out.summary(Measure::new("hey", key, "s"), summary);
        return Some(());
    }
    let (value, _) = lines::quantity(value)?;
    let mut one = |metric, unit| out.value(Measure::new("hey", metric, unit), Some(value));
    match key {
        "Slowest" => response.max = Some(value),
        "Fastest" => response.min = Some(value),
        "Average" => response.mean = Some(value),
        "Total" => one("total", "s"),
        "Requests/sec" => one("requests_per_second", "1/s"),
        "Total data" => one("total_data", "bytes"),
        "Size/request" => one("size_per_request", "bytes"),
        _ => return None,
    }
    Some(())
}
