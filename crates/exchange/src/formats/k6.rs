//! k6's summary: the output of `--summary-export`, and the older format of `handleSummary` with `values`.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{chosen, document, entries, figures, holds, number, opens, word};
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"{")
        && holds(
            head,
            &["\"metrics\"", "\"iterations\"", "\"data_received\""],
        )
        && !holds(head, &["\"Point\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for (written, metric) in entries(&document, "metrics") {
        let values = if metric["values"].is_object() {
            &metric["values"]
        } else {
            metric
        };
        let measure = measure(written, unit(written, word(metric, "contains")));
        let value = |key, unit: &str| {
            let measure = self::measure(written, unit);
            (
                measure,
                Summary {
                    value: number(values, key),
                    ..Summary::default()
                },
            )
        };
        if !values["avg"].is_null() {
            out.summary(
                if time(written, metric) {
                    measure.lower()
                } else {
                    measure
                },
                trend(values),
            );
        } else if !values["passes"].is_null() || word(metric, "type") == Some("rate") {
            let (measure, mut summary) = match values["value"].is_null() {
                true => value("rate", ""),
                false => value("value", ""),
            };
            summary.other = chosen(values, &["passes", "fails"].map(|key| (key, key)));
            out.summary(measure, summary);
        } else if !values["count"].is_null() {
            let mut summary = value("count", unit(written, word(metric, "contains"))).1;
            summary.other = number(values, "rate")
                .map(|rate| ("per second".to_owned(), rate))
                .into_iter()
                .collect();
            out.summary(measure, summary);
        } else {
            let (min, max) = (number(values, "min"), number(values, "max"));
            out.summary(
                measure,
                Summary {
                    min,
                    max,
                    ..value("value", "").1
                },
            );
        }
        let thresholds = entries(metric, "thresholds").count() as u64;
        out.left_out_times("thresholds", "verdicts, not measurements", thresholds);
    }
    out.left_out_times(
        "checks of root_group",
        "verdicts, not measurements",
        entries(&document["root_group"], "checks").count() as u64,
    );
    Ok(())
}

fn time(name: &str, metric: &Value) -> bool {
    word(metric, "contains") == Some("time") || unit(name, None) == "ms"
}

/// Returns a metric's unit. `--summary-export` contains no units, but the units of k6's own metrics are
/// known.
pub(super) fn unit(name: &str, contains: Option<&str>) -> &'static str {
    let base = name.split('{').next().unwrap_or(name);
    match (contains, base) {
        (Some("time"), _) => "ms",
        (Some("data"), _) | (_, "data_received" | "data_sent") => "bytes",
        (
            None,
            "iteration_duration"
            | "group_duration"
            | "grpc_req_duration"
            | "ws_connecting"
            | "ws_session_duration",
        ) => "ms",
        (None, base) if base.starts_with("http_req_") && base != "http_req_failed" => "ms",
        _ => "",
    }
}

/// Returns the measure of a name that may contain a parameter, such as
/// `http_req_duration{expected_response:true}`.
fn measure(written: &str, unit: &str) -> Measure {
    let (metric, tags) = written.split_once('{').unwrap_or((written, ""));
    let tags = tags
        .trim_end_matches('}')
        .split(',')
        .filter_map(|tag| tag.split_once(':'));
    tags.fold(Measure::new("k6", metric, unit), |measure, (key, value)| {
        measure.parameter(key.trim(), value.trim())
    })
}

fn trend(values: &Value) -> Summary {
    Summary {
        mean: number(values, "avg"),
        median: number(values, "med"),
        min: number(values, "min"),
        max: number(values, "max"),
        count: crate::json::count(values, "count"),
        quantiles: figures(values, |key| {
            let percent = key.strip_prefix("p(")?.strip_suffix(')')?;
            Some(percent.to_owned())
        }),
        ..Summary::default()
    }
}
