//! JMH's JSON. The mode decides which direction is better. Iterations are samples, and so are the times of
//! mode `sample` if there are few of them.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{
    count, document, entries, figures, holds, list, name, number, opens, parameters, text, whole,
    word,
};
use fathom_model::imported::Summary;

/// The maximum number of samples of a histogram; one with more is imported as JMH's summary.
const MOST_OF_HISTOGRAM: u64 = 100_000;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"[") && holds(head, &["\"benchmark\"", "\"mode\"", "\"primaryMetric\""])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for entry in document.as_array().into_iter().flatten() {
        let called = name(entry, "benchmark")?;
        let mode = name(entry, "mode")?;
        // Releases before 1.21 don't write their version.
        if !entry["jmhVersion"].is_null() {
            let version = text(&entry["jmhVersion"]);
            if !version.starts_with("1.") {
                return Err(Error::Version {
                    tool: "JMH",
                    found: version,
                    known: "1.x",
                });
            }
            out.version(Some(&version));
        }
        for (key, value) in entry.as_object().into_iter().flatten() {
            match key.as_str() {
                "benchmark" | "mode" | "params" | "threads" | "primaryMetric"
                | "secondaryMetrics" | "jmhVersion" => {}
                "jvm" | "jdkVersion" | "vmName" | "vmVersion" | "jvmArgs" => {
                    out.environment(key, &text(value));
                }
                key => out.left_out(key, "a setting"),
            }
        }
        let mut parameters = parameters(&entry["params"]);
        parameters.insert("mode".to_owned(), mode.to_owned());
        let measure = |metric: &str, value: &Value| {
            let unit = word(value, "scoreUnit").unwrap_or_default();
            Measure::new(called, metric, unit)
                .with(&parameters)
                .threads(count(entry, "threads"))
        };
        let primary = &entry["primaryMetric"];
        score(
            directed(mode, |metric| measure(metric, primary)),
            primary,
            out,
        );
        for (key, value) in entries(entry, "secondaryMetrics") {
            score(measure(key, value), value, out);
        }
    }
    Ok(())
}

/// Returns the measure of a mode, with the better direction.
pub(super) fn directed(mode: &str, measure: impl Fn(&str) -> Measure) -> Measure {
    match mode {
        "thrpt" => measure("throughput").higher(),
        _ => measure("wall").lower(),
    }
}

fn score(measure: Measure, value: &Value, out: &mut Collector) {
    let raw = list(value, "rawData")
        .iter()
        .flat_map(|fork| fork.as_array().into_iter().flatten());
    let histogram = list(value, "rawDataHistogram")
        .iter()
        .flat_map(|fork| fork.as_array().into_iter().flatten());
    let pairs = histogram.flat_map(|iteration| iteration.as_array().into_iter().flatten());
    let total = pairs.clone().fold(0, |sum: u64, pair| {
        sum.saturating_add(whole(&pair[1]).unwrap_or(0))
    });
    if raw.clone().next().is_some() {
        out.separate(
            measure,
            raw.map(|sample| sample.as_f64().unwrap_or(f64::NAN)),
            &[],
        );
    } else if total > 0 && total <= MOST_OF_HISTOGRAM {
        let times = |pair: &Value| usize::try_from(whole(&pair[1]).unwrap_or(0)).unwrap_or(0);
        let samples = pairs.flat_map(|pair| {
            std::iter::repeat_n(pair[0].as_f64().unwrap_or(f64::NAN), times(pair))
        });
        out.separate(measure, samples, &[]);
    } else {
        let reason = "a histogram with too many samples to read one by one: the summary is kept";
        out.left_out_times("rawDataHistogram", reason, u64::from(total > 0));
        out.summary(measure, summary(value, total));
        return;
    }
    out.left_out(
        "score, scoreError, scoreConfidence, scorePercentiles",
        "computed from the samples, which are kept",
    );
}

fn summary(value: &Value, count: u64) -> Summary {
    let interval = list(value, "scoreConfidence");
    let end = |at: usize| interval.get(at).and_then(Value::as_f64);
    Summary {
        count: Some(count).filter(|count| *count > 0),
        mean: number(value, "score"),
        low: end(0),
        high: end(1),
        level: end(0).map(|_| 0.999),
        quantiles: figures(&value["scorePercentiles"], |percent| {
            Some(percent.to_owned())
        }),
        ..Summary::default()
    }
}
