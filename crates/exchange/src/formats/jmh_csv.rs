//! JMH's CSV, and its SCSV with semicolons: a row for each metric. The names of all metrics except the
//! primary one follow a colon.

use fathom_model::imported::Summary;

use super::jmh::directed;
use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::rows;

const COLUMNS: &[&str] = &["Benchmark", "Mode", "Threads", "Samples", "Score", "Unit"];

pub(crate) fn can_read(head: &[u8]) -> bool {
    delimiter(head).is_some()
}

fn delimiter(head: &[u8]) -> Option<u8> {
    let mut delimiters = [b',', b';'].into_iter();
    delimiters.find(|delimiter| rows::names(head, *delimiter, COLUMNS))
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let Some(delimiter) = delimiter(bytes) else {
        let columns = COLUMNS.join(", ");
        return Err(malformed(format!("no header with the columns {columns}")));
    };
    rows::each(bytes, delimiter, |row| {
        let text = |column| row.get(column).unwrap_or_default();
        let (called, mode, unit) = (text("Benchmark"), text("Mode"), text("Unit"));
        if delimiter == b',' && crate::lines::number(unit.trim()).is_some() {
            return Err(malformed(
                "numbers with a decimal comma occupy two cells each: let JMH write SCSV (-rf scsv)",
            ));
        }
        let (name, metric) = match called.split_once(':') {
            Some((name, metric)) => (name, Some(metric)),
            None => (&*called, None),
        };
        let measure = |metric: &str| {
            let measure = Measure::new(name, metric, &*unit).parameter("mode", &mode);
            let parameters = row
                .cells()
                .filter_map(|(column, cell)| Some((column.strip_prefix("Param: ")?, cell)));
            parameters
                .fold(measure, |measure, (key, cell)| {
                    measure.parameter(key, &cell)
                })
                .threads(row.count("Threads"))
        };
        let measure = match metric {
            Some(metric) => measure(metric),
            None => directed(&mode, measure),
        };
        let score = row.number("Score");
        let error = row
            .header
            .iter()
            .find(|column| column.starts_with("Score Error ("));
        let half = error.and_then(|column| row.number(column));
        let level = error.and_then(|column| {
            let percent = column.split_once('(')?.1.strip_suffix("%)")?;
            Some((crate::lines::number(percent)? * 1000.0).round() / 100_000.0)
        });
        let ends = score.zip(half);
        let summary = Summary {
            count: row.count("Samples"),
            mean: score,
            low: ends.map(|(score, half)| score - half),
            high: ends.map(|(score, half)| score + half),
            level: ends.and(level),
            ..Summary::default()
        };
        out.summary(measure, summary);
        Ok(())
    })
}
