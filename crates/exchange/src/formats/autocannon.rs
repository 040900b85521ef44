//! autocannon's JSON: milliseconds, summaries only.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{count, document, holds, number, opens, quantiles, text, word};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let words = [
        "\"requests\"",
        "\"latency\"",
        "\"throughput\"",
        "\"pipelining\"",
    ];
    opens(head, b"{") && holds(head, &words)
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    out.environment_of("date", &document["start"]);
    let name = word(&document, "title").filter(|title| !title.is_empty());
    let name = name.or_else(|| word(&document, "url"));
    let measure = |metric, unit| {
        let settings = ["connections", "pipelining", "workers"].into_iter();
        let given = settings.filter(|key| !document[*key].is_null());
        let measure = Measure::new(name.unwrap_or("autocannon"), metric, unit);
        given.fold(measure, |measure, key| {
            measure.parameter(key, &text(&document[key]))
        })
    };
    let requests = &document["requests"];
    let latency = &document["latency"];
    let answers = count(latency, "totalCount").or_else(|| count(requests, "total"));
    out.summary(measure("response", "ms"), statistics(latency, answers));
    // Both metrics have one sample per second.
    let seconds = count(&document, "samples");
    for (metric, unit, value) in [
        ("requests_per_second", "1/s", requests),
        ("transfer_per_second", "B/s", &document["throughput"]),
    ] {
        out.summary(measure(metric, unit), statistics(value, seconds));
    }
    let mut failed = Failed::default();
    for (key, status) in [("1xx", "100"), ("4xx", "400"), ("5xx", "500")] {
        failed.status(status, count(&document, key).unwrap_or(0));
    }
    // Timeouts are included in the errors.
    for key in ["errors", "mismatches"] {
        failed.no_answer(count(&document, key).unwrap_or(0));
    }
    failed.write_as(measure("failed_responses", ""), out);
    out.left_out(
        "duration, samples, sampleInt, finish, totals",
        "about the test as a whole",
    );
    Ok(())
}

fn statistics(value: &Value, count: Option<u64>) -> Summary {
    Summary {
        count,
        mean: number(value, "mean").or_else(|| number(value, "average")),
        standard_deviation: number(value, "stddev"),
        min: number(value, "min"),
        max: number(value, "max"),
        quantiles: quantiles(value),
        ..Summary::default()
    }
}
