//! CSV with named columns: `name` or `benchmark`, and either `value` (with `metric`, `unit`, `direction`) or
//! columns such as `wall (s)`. Each row is a sample or, if `runs` gives the number of samples, a summary. All
//! other columns are parameters.

use std::collections::BTreeMap;

use fathom_model::imported::Summary;

use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::rows;

const MEANT: &[&str] = &[
    "name",
    "benchmark",
    "value",
    "metric",
    "unit",
    "direction",
    "iterations",
    "threads",
    "low",
    "high",
    "runs",
];

pub(crate) fn can_read(head: &[u8]) -> bool {
    let header = rows::header(head, rows::separator(head));
    let has = |name: &str| header.iter().any(|column| column == name);
    (has("name") || has("benchmark"))
        && (has("value") || header.iter().any(|column| with_unit(column).is_some()))
}

/// Splits `wall (s)` into the name and the unit.
fn with_unit(column: &str) -> Option<(&str, &str)> {
    column
        .strip_suffix(')')?
        .split_once(" (")
        .filter(|(metric, unit)| !metric.is_empty() && !unit.is_empty())
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    rows::each(bytes, rows::separator(bytes), |row| {
        let name = row.get("name").or_else(|| row.get("benchmark"));
        let name = name.ok_or_else(|| malformed("a row has neither 'name' nor 'benchmark'"))?;
        let others = row
            .cells()
            .filter(|(column, _)| !MEANT.contains(column) && with_unit(column).is_none());
        let parameters = others
            .map(|(column, cell)| (column.to_owned(), cell.into_owned()))
            .collect::<BTreeMap<_, _>>();
        let measure = |metric: &str, unit: &str| {
            let measure = Measure::new(name.as_ref(), metric, unit)
                .with(&parameters)
                .threads(row.count("threads"));
            match row.get("direction").as_deref() {
                Some("lower_is_better") => measure.lower(),
                Some("higher_is_better") => measure.higher(),
                _ => measure,
            }
        };
        let sample = |out: &mut Collector, measure: Measure, cell: &str| match row.as_number(cell) {
            Some(value) => {
                if let Some(at) = out.samples(measure, [], &[]) {
                    out.sample_at(at, value, row.count("iterations"));
                }
            }
            None => out.left_out(name.as_ref(), format!("no number: {cell}")),
        };
        if let Some(value) = row.get("value") {
            let metric = row.get("metric").unwrap_or("value".into());
            let measure = measure(&metric, &row.get("unit").unwrap_or_default());
            match row.count("runs") {
                None => sample(out, measure, &value),
                Some(runs) => {
                    let summary = Summary {
                        count: Some(runs),
                        value: row.number("value"),
                        low: row.number("low"),
                        high: row.number("high"),
                        ..Summary::default()
                    };
                    let iterations = Vec::from_iter(row.count("iterations"));
                    out.summary_of(measure, summary, &iterations);
                }
            }
        }
        for (column, cell) in row.cells() {
            if let Some((metric, unit)) = with_unit(column) {
                sample(out, measure(metric, unit), &cell);
            }
        }
        Ok(())
    })
}
