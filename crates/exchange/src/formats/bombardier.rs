//! bombardier's JSON: microseconds, summaries only. Without `--print result`, text precedes it.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{count, document, figures, holds, list, number, text, word};
use crate::lines::find;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    let words = [
        "\"numberOfConnections\"",
        "\"timeTakenSeconds\"",
        "\"req2xx\"",
    ];
    holds(head, &words)
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let start = find(bytes, b"{").unwrap_or(0);
    let document = document(&bytes[start..])?;
    let (spec, result) = (&document["spec"], &document["result"]);
    let mut report = Report {
        name: word(spec, "url").unwrap_or_default().to_owned(),
        response: statistics(&result["latency"]),
        rate: statistics(&result["rps"]),
        paced: !spec["rate"].is_null(),
        ..Report::default()
    };
    for (name, key) in [
        ("connections", "numberOfConnections"),
        ("method", "method"),
        ("rate", "rate"),
        ("client", "client"),
    ] {
        if !spec[key].is_null() {
            report.settings.push((name, text(&spec[key])));
        }
    }
    for class in ["1xx", "2xx", "3xx", "4xx", "5xx"] {
        report.answers(class, count(result, &format!("req{class}")).unwrap_or(0));
    }
    report.no_answer(count(result, "others").unwrap_or(0));
    for error in list(result, "errors") {
        let what = format!("error: {}", word(error, "description").unwrap_or_default());
        out.left_out_times(what, "no response", count(error, "count").unwrap_or(1));
    }
    out.left_out(
        "bytesRead, bytesWritten, timeTakenSeconds",
        "about the test as a whole",
    );
    report.write(out);
    Ok(())
}

fn statistics(value: &Value) -> Summary {
    Summary {
        mean: number(value, "mean"),
        standard_deviation: number(value, "stddev"),
        max: number(value, "max"),
        quantiles: figures(&value["percentiles"], |percent| Some(percent.to_owned())),
        ..Summary::default()
    }
}

/// The data that both the JSON and the text contain.
#[derive(Default)]
pub(super) struct Report {
    /// The URL.
    pub(super) name: String,
    pub(super) settings: Vec<(&'static str, String)>,
    /// Response times in microseconds.
    pub(super) response: Summary,
    /// Requests per second; the number of seconds is unknown.
    pub(super) rate: Summary,
    /// Whether requests were sent at a requested rate.
    pub(super) paced: bool,
    requests: u64,
    failed: Failed,
}

impl Report {
    /// Counts answers of a class, such as `2xx`.
    pub(super) fn answers(&mut self, class: &str, times: u64) {
        self.requests = self.requests.saturating_add(times);
        self.failed.status(&class.replace("xx", "00"), times);
    }

    pub(super) fn no_answer(&mut self, times: u64) {
        self.requests = self.requests.saturating_add(times);
        self.failed.no_answer(times);
    }

    pub(super) fn write(mut self, out: &mut Collector) {
        let name = match self.name.as_str() {
            "" => "bombardier",
            name => name,
        };
        let measure = |metric, unit| {
            let settings = self.settings.iter();
            settings.fold(
                Measure::new(name, metric, unit),
                |measure, (name, value)| measure.parameter(name, value),
            )
        };
        self.response.count = Some(self.requests);
        out.summary(measure("response", "us"), self.response);
        // At a requested rate, the throughput says little about the server.
        let metric = match self.paced {
            true => "throughput",
            false => "requests_per_second",
        };
        out.summary(measure(metric, "1/s"), self.rate);
        self.failed.write_as(measure("failed_responses", ""), out);
    }
}
