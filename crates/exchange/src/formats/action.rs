//! github-action-benchmark: the list that its custom tools take, `[{name, unit, value}]`.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::json::{document, name, number, opens, text, word};
use crate::lines;
use fathom_model::imported::{Direction, Summary};

pub(crate) fn can_read(head: &[u8]) -> bool {
    // The first entry decides, because the list may be longer than the head.
    let first = lines::find(head, b"{").map(|start| &head[start..]);
    let mut parsed = serde_json::Deserializer::from_slice(first.unwrap_or_default()).into_iter();
    let shaped = |entry: &Value| {
        word(entry, "name").is_some() && word(entry, "unit").is_some() && value(entry).is_some()
    };
    opens(head, b"[") && matches!(parsed.next(), Some(Ok(entry)) if shaped(&entry))
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let document = document(bytes)?;
    for entry in document.as_array().into_iter().flatten() {
        benchmark(entry, None, "", out)?;
    }
    Ok(())
}

/// Returns a number, even if it is written as text.
fn value(entry: &Value) -> Option<f64> {
    let written = || lines::number(word(entry, "value")?.trim());
    number(entry, "value").or_else(written)
}

/// Reads one entry of github-action-benchmark; `suite` distinguishes the entries of several charts.
pub(super) fn benchmark(
    entry: &Value,
    direction: Option<Direction>,
    suite: &str,
    out: &mut Collector,
) -> Result<(), Error> {
    let called = name(entry, "name")?;
    let unit = word(entry, "unit").unwrap_or_default();
    let unit = unit.split('\t').next().unwrap_or_default().trim();
    let (called, metric) = match called
        .strip_suffix(unit)
        .and_then(|name| name.strip_suffix(" - "))
    {
        Some(name) => (name, if unit == "ns/op" { "wall" } else { unit }),
        None => (called, metric(unit)),
    };
    let measure = Measure::new(called, metric, unit).parameter("suite", suite);
    let measure = match direction {
        Some(Direction::LowerIsBetter) => measure.lower(),
        Some(Direction::HigherIsBetter) => measure.higher(),
        None => measure,
    };
    let range = match &entry["range"] {
        Value::Null => None,
        range => {
            let digits = text(range);
            let digits = digits
                .trim_start_matches("stddev:")
                .trim_start_matches(['±', ' ']);
            lines::number(digits.trim())
        }
    };
    let summary = Summary {
        value: value(entry),
        // The meaning of the range differs between tools.
        other: range
            .map(|range| ("range".to_owned(), range))
            .into_iter()
            .collect(),
        ..Summary::default()
    };
    out.summary(measure, summary);
    let taken = u64::from(range.is_none() && !entry["range"].is_null());
    out.left_out_times(
        "range",
        "it is not a number in the unit of the value",
        taken,
    );
    let extra = u64::from(!entry["extra"].is_null());
    out.left_out_times("extra", "text for people who read the chart", extra);
    Ok(())
}

fn metric(unit: &str) -> &'static str {
    use fathom_model::imported::base_unit;
    match base_unit(unit).1 {
        "seconds" => "wall",
        "ops/s" | "ops/sec" | "iter/sec" => "throughput",
        _ => "value",
    }
}
