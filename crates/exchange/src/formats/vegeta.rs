//! vegeta's reports, JSON: nanoseconds, summaries only.

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{count, document, entries, figures, holds, list, number, opens, text, whole};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let words = ["\"latencies\"", "\"bytes_in\"", "\"status_codes\""];
    opens(head, b"{") && holds(head, &words)
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    out.environment_of("date", &document["earliest"]);
    let latencies = &document["latencies"];
    let percent = |key: &str| key.strip_suffix("th").map(ToOwned::to_owned);
    let mut report = Report {
        response: Summary {
            count: count(&document, "requests"),
            mean: number(latencies, "mean"),
            min: number(latencies, "min"),
            max: number(latencies, "max"),
            quantiles: figures(latencies, percent),
            ..Summary::default()
        },
        throughput: number(&document, "throughput"),
        success: number(&document, "success"),
        received: number(&document["bytes_in"], "mean"),
        sent: number(&document["bytes_out"], "mean"),
        failed: Failed::default(),
    };
    for (status, times) in entries(&document, "status_codes") {
        report.status(status, whole(times).unwrap_or(0), out);
    }
    for error in list(&document, "errors") {
        out.left_out(format!("error: {}", text(error)), "no response");
    }
    let buckets = u64::from(!document["buckets"].is_null());
    out.left_out_times("buckets", "quantiles are kept", buckets);
    report.write(out);
    Ok(())
}

/// The data that both the JSON and the text contain.
#[derive(Default)]
pub(super) struct Report {
    /// Response times in nanoseconds.
    pub(super) response: Summary,
    pub(super) throughput: Option<f64>,
    /// The share of requests with a good answer.
    pub(super) success: Option<f64>,
    /// Bytes per request.
    pub(super) received: Option<f64>,
    pub(super) sent: Option<f64>,
    pub(super) failed: Failed,
}

impl Report {
    pub(super) fn status(&mut self, status: &str, times: u64, out: &mut Collector) {
        self.failed.status(status, times);
        out.left_out_times(format!("status {status}"), "a count of responses", times);
    }

    pub(super) fn write(self, out: &mut Collector) {
        if matches!(self.response.count, None | Some(0)) && self.throughput.unwrap_or(0.0) == 0.0 {
            return out.left_out("vegeta", "no request was sent");
        }
        let measure = |metric, unit| Measure::new("vegeta", metric, unit);
        out.summary(measure("response", "ns"), self.response);
        let others = [
            (measure("throughput", "1/s"), self.throughput),
            (measure("success_rate", "").higher(), self.success),
            (measure("size_per_request", "bytes"), self.received),
            (measure("sent_per_request", "bytes"), self.sent),
        ];
        for (measure, value) in others.into_iter().filter(|(_, value)| value.is_some()) {
            out.value(measure, value);
        }
        // Requests are sent at the requested pace, so the rate says nothing about the server.
        out.left_out("rate", "the requested pace");
        out.left_out("duration, wait, totals", "derived from the pace");
        self.failed.write("vegeta", out);
    }
}
