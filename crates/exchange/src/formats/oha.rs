//! oha's JSON: seconds, summaries only.

use std::collections::BTreeMap;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{document, entries, holds, number, opens, quantiles, whole};
use fathom_model::imported::Summary;

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
        mean: number(summary, "average"),
        min: number(summary, "fastest"),
        max: number(summary, "slowest"),
        quantiles: quantiles(&document["latencyPercentiles"]),
        ..Summary::default()
    };
    out.summary(Measure::new("oha", "response", "s"), response);
    for (metric, unit, key) in [
        ("success_rate", "", "successRate"),
        ("total", "s", "total"),
        ("total_data", "bytes", "totalData"),
        ("size_per_request", "bytes", "sizePerRequest"),
        ("size_per_second", "B/s", "sizePerSec"),
    ] {
        let measure = Measure::new("oha", metric, unit);
        let measure = if metric == "success_rate" {
            measure.higher()
        } else {
            measure
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
    let details = &document["details"];
    for (metric, key) in [
        ("dns_and_dial", "DNSDialup"),
        ("dns_lookup", "DNSLookup"),
        ("first_byte", "firstByte"),
    ] {
        let value = &details[key];
        let quantiles = if metric == "first_byte" {
            quantiles(&document["firstBytePercentiles"])
        } else {
            BTreeMap::new()
        };
        let (mean, min, max) = (
            number(value, "average"),
            number(value, "fastest"),
            number(value, "slowest"),
        );
        out.summary(
            Measure::new("oha", metric, "s"),
            Summary {
                mean,
                min,
                max,
                quantiles,
                ..Summary::default()
            },
        );
    }
    let mut failed = Failed::default();
    for (key, value) in entries(&document, "statusCodeDistribution") {
        failed.status(key, whole(value).unwrap_or(0));
        out.left_out_times(
            format!("status {key}"),
            "a count of responses",
            whole(value).unwrap_or(1),
        );
    }
    for (key, value) in entries(&document, "errorDistribution") {
        failed.no_answer(whole(value).unwrap_or(0));
        out.left_out_times(
            format!("error: {key}"),
            "no response",
            whole(value).unwrap_or(1),
        );
    }
    failed.write("oha", out);
    for key in ["responseTimeHistogram", "firstByteHistogram"] {
        out.left_out_times(
            key,
            "quantiles are kept",
            u64::from(document[key].is_object()),
        );
    }
    out.left_out_times(
        "metrics",
        "the same in milliseconds, rounded",
        u64::from(document["metrics"].is_object()),
    );
    Ok(())
}
