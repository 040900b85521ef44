//! vegeta's JSON report: nanoseconds, summaries only.

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{count, document, entries, figures, holds, list, number, opens, text, whole};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{") && holds(head, &["\"latencies\"", "\"bytes_in\"", "\"status_codes\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    out.environment_of("date", &document["earliest"]);
    let latencies = &document["latencies"];
    let response = Summary {
        count: count(&document, "requests"),
        mean: number(latencies, "mean"),
        min: number(latencies, "min"),
        max: number(latencies, "max"),
        quantiles: figures(latencies, |key| {
            key.strip_suffix("th").map(ToOwned::to_owned)
        }),
        ..Summary::default()
    };
    out.summary(Measure::new("vegeta", "response", "ns"), response);
    // Requests are sent at the pace that was asked for: it says nothing of the server.
    out.left_out("rate", "the pace that was asked for");
    for (metric, unit, key) in [
        ("throughput", "1/s", "throughput"),
        ("success_rate", "", "success"),
    ] {
        if !document[key].is_null() {
            out.value(
                Measure::new("vegeta", metric, unit).higher(),
                number(&document, key),
            );
        }
    }
    for (metric, key) in [
        ("size_per_request", "bytes_in"),
        ("sent_per_request", "bytes_out"),
    ] {
        let measure = Measure::new("vegeta", metric, "bytes");
        out.value(measure, number(&document[key], "mean"));
    }
    out.left_out(
        "latest, end, duration, wait, totals",
        "follow from the pace",
    );
    out.left_out_times(
        "buckets",
        "quantiles are kept",
        u64::from(!document["buckets"].is_null()),
    );
    let mut failed = Failed::default();
    for (status, times) in entries(&document, "status_codes") {
        let times = whole(times).unwrap_or(0);
        failed.status(status, times);
        out.left_out_times(format!("status {status}"), "a count of responses", times);
    }
    failed.write("vegeta", out);
    for error in list(&document, "errors") {
        out.left_out(format!("error: {}", text(error)), "no response");
    }
    Ok(())
}
