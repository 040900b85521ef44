//! Google Benchmark's CSV. The names of aggregates end in what they are.

use std::collections::{BTreeMap, HashSet};

use super::google::counter_unit;
use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::rows::{self, Row};
use fathom_model::imported::Summary;

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
    // Names with all three aggregates, and names of rows: what ends in `_mean` may be a benchmark's own name.
    let mut names = HashSet::new();
    rows::each(bytes, b',', |row| {
        names.insert(row.get("name").unwrap_or_default().into_owned());
        Ok(())
    })?;
    let aggregated = |base: &str| {
        ["mean", "median", "stddev"]
            .iter()
            .all(|kind| names.contains(&format!("{base}_{kind}")))
    };
    let mut aggregates: BTreeMap<(String, String), (Measure, Summary)> = BTreeMap::new();
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
            out.left_out(name, "a fit of the complexity, no measurement");
            return Ok(());
        }
        let Some((base, kind)) = name.rsplit_once('_').filter(|(base, _)| aggregated(base)) else {
            for (measure, value) in measures(row, &name) {
                let iterations = row.count("iterations");
                if let Some(at) = out.samples(measure, [], &[]) {
                    out.sample_at(at, value, iterations);
                }
            }
            return Ok(());
        };
        if names.contains(base) {
            out.left_out("aggregates", "computed from the samples, which are kept");
            return Ok(());
        }
        if !matches!(kind, "mean" | "median" | "stddev") {
            out.left_out(name.as_str(), "not in the unit of its row");
            return Ok(());
        }
        for (number, (measure, value)) in measures(row, base).enumerate() {
            let new = || {
                (
                    measure,
                    Summary {
                        count: row.count("iterations"),
                        ..Summary::default()
                    },
                )
            };
            let entry = aggregates
                .entry((base.to_owned(), format!("{number:04}")))
                .or_insert_with(new);
            let place = match kind {
                "mean" => &mut entry.1.mean,
                "median" => &mut entry.1.median,
                _ => &mut entry.1.standard_deviation,
            };
            *place = Some(value);
        }
        Ok(())
    })?;
    for (_, (measure, summary)) in aggregates {
        out.summary(measure, summary);
    }
    Ok(())
}

fn measures<'a>(row: &'a Row<'_>, name: &'a str) -> impl Iterator<Item = (Measure, f64)> + 'a {
    let unit = row.get("time_unit").unwrap_or_default().into_owned();
    let label: BTreeMap<_, _> = row
        .get("label")
        .map(|label| ("label".to_owned(), label.into_owned()))
        .into_iter()
        .collect();
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
                    .with(&label)
                    .threads(threads),
                value?,
            ))
        })
}
