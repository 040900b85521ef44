//! oha's JSON: seconds, summaries only.

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{document, entries, holds, number, opens, quantiles, whole};
use fathom_model::imported::Summary;
use serde_json::Value;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"latencyPercentiles\"", "\"requestsPerSec\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    let summary = &document["summary"];
    let codes = entries(&document, "statusCodeDistribution").filter_map(|(_, count)| whole(count));
    let count = codes.reduce(u64::saturating_add);
    let response = Summary {
        count,
        quantiles: quantiles(&document["latencyPercentiles"]),
        ..extent(summary)
    };
    out.summary(Measure::new("oha", "response", "s"), response);
    for (metric, unit, key) in [
        ("success_rate", "", "successRate"),
        ("total", "s", "total"),
        ("total_data", "bytes", "totalData"),
        ("size_per_request", "bytes", "sizePerRequest"),
        ("size_per_second", "B/s", "sizePerSec"),
    ] {
        let measure = match (metric, Measure::new("oha", metric, unit)) {
            ("success_rate", measure) => measure.higher(),
            (_, measure) => measure,
        };
        out.value(measure, number(summary, key));
    }
    let rps = &document["rps"];
    let rate = Summary {
        value: number(summary, "requestsPerSec"),
        mean: number(rps, "mean"),
        standard_deviation: number(rps, "stddev"),
        min: number(rps, "min"),
        max: number(rps, "max"),
        quantiles: quantiles(&rps["percentiles"]),
        ..Summary::default()
    };
    out.summary(Measure::new("oha", "requests_per_second", "1/s"), rate);
    for (metric, key, percentiles) in [
        ("dns_and_dial", "DNSDialup", ""),
        ("dns_lookup", "DNSLookup", ""),
        ("first_byte", "firstByte", "firstBytePercentiles"),
    ] {
        let detail = Summary {
            quantiles: quantiles(&document[percentiles]),
            ..extent(&document["details"][key])
        };
        out.summary(Measure::new("oha", metric, "s"), detail);
    }
    failures(&document, out);
    for key in ["responseTimeHistogram", "firstByteHistogram"] {
        let count = u64::from(document[key].is_object());
        out.left_out_times(key, "quantiles are kept", count);
    }
    let count = u64::from(document["metrics"].is_object());
    out.left_out_times(
        "metrics",
        "the same figures in milliseconds, rounded",
        count,
    );
    Ok(())
}

/// Mean, minimum and maximum of a time.
fn extent(value: &Value) -> Summary {
    Summary {
        mean: number(value, "average"),
        min: number(value, "fastest"),
        max: number(value, "slowest"),
        ..Summary::default()
    }
}

fn failures(document: &Value, out: &mut Collector) {
    let mut failed = Failed::default();
    for (key, value) in entries(document, "statusCodeDistribution") {
        failed.status(key, whole(value).unwrap_or(0));
        let (what, count) = (format!("status {key}"), whole(value).unwrap_or(1));
        out.left_out_times(what, "a count of responses", count);
    }
    for (key, value) in entries(document, "errorDistribution") {
        failed.no_answer(whole(value).unwrap_or(0));
        let (what, count) = (format!("error: {key}"), whole(value).unwrap_or(1));
        out.left_out_times(what, "no response", count);
    }
    failed.write("oha", out);
}
