//! OpenMetrics 1.0 text, with the time of each measurement, to be loaded into Prometheus.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fathom_model::imported::base_unit;
use fathom_stats::{IntervalFrom, imported_middle};

use super::{Export, Written};

/// For each label set, its values by time.
type Points = BTreeMap<String, BTreeMap<i64, f64>>;

#[derive(Default)]
struct Family {
    unit: &'static str,
    points: Points,
}

/// Writes gauges named `fathom_METRIC_UNIT`, with `_low` and `_high` before the unit for the ends of the
/// interval. Labels are the benchmark and its parameters. The revision isn't a label, because each new
/// revision would end a series.
pub(super) fn openmetrics(exports: &[Export]) -> Written {
    let mut written = Written::default();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for export in exports {
        for figure in &export.figures {
            let one = &figure.benchmark;
            let Some(middle) = imported_middle(&one.values) else {
                written.left_out(&one.metric, "neither a median nor a mean");
                continue;
            };
            let (factor, base) = base_unit(&one.unit);
            let labels = labels(&one.name, &one.parameters, one.threads);
            let mut add = |part: &str, value: f64| {
                let (name, unit) = family(&one.metric, base, part);
                let family = families.entry(name).or_default();
                family.unit = unit;
                let points = family.points.entry(labels.clone()).or_default();
                points.insert(export.milliseconds, value * factor).is_none()
            };
            if !add("", middle.value) {
                let reason = "several values have this name and time; the last one is exported";
                written.left_out(&one.metric, reason);
            }
            if middle.from != IntervalFrom::Nothing {
                add("_low", middle.low);
                add("_high", middle.high);
            }
        }
    }
    for (name, family) in &families {
        let _ = writeln!(written.text, "# TYPE {name} gauge");
        if !family.unit.is_empty() {
            let _ = writeln!(written.text, "# UNIT {name} {}", family.unit);
        }
        for (labels, points) in &family.points {
            for (time, value) in points {
                let (second, thousandth) = (time.div_euclid(1000), time.rem_euclid(1000));
                let _ = writeln!(
                    written.text,
                    "{name}{{{labels}}} {value} {second}.{thousandth:03}"
                );
            }
        }
    }
    if !families.is_empty() {
        written.text.push_str("# EOF\n");
    }
    written
}

/// Returns the name of a family, which ends with its unit, and the unit if OpenMetrics defines it.
fn family(metric: &str, base: &str, part: &str) -> (String, &'static str) {
    let metric = plain(metric);
    let unit = match base {
        "seconds" => "seconds",
        "bytes" => "bytes",
        _ => "",
    };
    let end = match (unit, plain(base)) {
        ("", other) if other.is_empty() || other == metric => String::new(),
        ("", other) => format!("_{other}"),
        (unit, _) => format!("_{unit}"),
    };
    let metric = metric
        .strip_suffix(&end)
        .filter(|_| !end.is_empty())
        .unwrap_or(&metric);
    (format!("fathom_{metric}{part}{end}"), unit)
}

/// Keeps only letters, digits and `_`.
fn plain(text: &str) -> String {
    let text = text.replace('/', "_per_").replace('%', "percent");
    let letter = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter,
        false => '_',
    };
    text.chars().map(letter).collect()
}

fn labels(name: &str, parameters: &BTreeMap<String, String>, threads: Option<u64>) -> String {
    let mut text = format!("benchmark=\"{}\"", escaped(name));
    let mut taken = BTreeSet::from(["benchmark".to_owned(), "threads".to_owned()]);
    for (key, value) in parameters {
        let mut key = plain(key);
        if key.starts_with(|first: char| first.is_ascii_digit() || first == '_') {
            key.insert_str(0, "parameter_");
        }
        while !taken.insert(key.clone()) {
            key.push('_');
        }
        let _ = write!(text, ",{key}=\"{}\"", escaped(value));
    }
    if let Some(threads) = threads {
        let _ = write!(text, ",threads=\"{threads}\"");
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
