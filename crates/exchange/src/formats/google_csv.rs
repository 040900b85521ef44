//! Google Benchmark's CSV. The names of aggregates end in their kind.

use super::aggregates::{Aggregates, Names};
use super::google::counter_unit;
use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::rows::{self, Row};

const OWN: &[&str] = &[
    "name",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
    "error_occurred",
    "error_message",
];

pub(crate) fn can_read(head: &[u8]) -> bool {
    rows::names(
        head,
        b',',
        &["name", "iterations", "real_time", "cpu_time", "time_unit"],
    )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let mut all = Vec::new();
    rows::each(bytes, b',', |row| {
        all.push(row.get("name").unwrap_or_default().into_owned());
        Ok(())
    })?;
    let names = Names::of(all.iter().map(String::as_str));
    let mut aggregates = Aggregates::default();
    rows::each(bytes, b',', |row| {
        let name = row.get("name").unwrap_or_default().into_owned();
        if row.get("error_occurred").as_deref() == Some("true") {
            out.left_out(
                name,
                format!("failed: {}", row.get("error_message").unwrap_or_default()),
            );
            return Ok(());
        }
        if (name.ends_with("_BigO") || name.ends_with("_RMS")) && row.get("iterations").is_none() {
            out.left_out(name, "a complexity fit, not a measurement");
            return Ok(());
        }
        match names.split(&name) {
            None => {
                for (measure, value) in measures(row, &name) {
                    let iterations = row.count("iterations");
                    if let Some(at) = out.samples(measure, [], &[]) {
                        out.sample_at(at, value, iterations);
                    }
                }
            }
            Some((base, _)) if names.contains(base) => {
                out.left_out("aggregates", "computed from the samples, which are kept");
            }
            Some((base, kind)) => {
                let count = row.count("iterations");
                aggregates.add(base, kind, count, measures(row, base), out);
            }
        }
        Ok(())
    })?;
    aggregates.write(out);
    Ok(())
}

fn measures<'a>(row: &'a Row<'_>, name: &'a str) -> impl Iterator<Item = (Measure, f64)> + 'a {
    let unit = row.get("time_unit").unwrap_or_default().into_owned();
    let label = row.get("label").unwrap_or_default();
    let threads = name
        .split('/')
        .find_map(|part| part.strip_prefix("threads:")?.parse().ok())
        .or(Some(1));
    let times = [("wall", "real_time"), ("cpu", "cpu_time")]
        .map(|(metric, key)| (metric, unit.clone(), row.number(key)));
    let counters = row.cells().filter(|(name, _)| !OWN.contains(name));
    let counters = counters.map(|(name, cell)| {
        (
            name,
            counter_unit(name).to_owned(),
            crate::lines::number(&cell),
        )
    });
    times
        .into_iter()
        .chain(counters)
        .filter_map(move |(metric, unit, value)| {
            Some((
                Measure::new(name, metric, unit)
                    .parameter("label", &label)
                    .threads(threads),
                value?,
            ))
        })
}
