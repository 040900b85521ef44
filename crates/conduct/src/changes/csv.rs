//! Series from a file of comma-separated values: with the columns `series`, `index` and `value`, or with a
//! column for each series and a line for each measurement.

mod wide;

use std::cmp::Ordering;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::Asked;
use crate::ConductError;

/// The columns that are read, by their names in the first line.
const COLUMNS: [&str; 3] = ["series", "index", "value"];

/// Reads all series, in the order in which they first appear; each is sorted by its index if that is
/// a number on every line, else it keeps the order of its lines.
///
/// # Errors
/// [`ConductError::Refused`] that says what to change in the file.
pub(super) fn read(path: &Path) -> Result<Vec<Asked>, ConductError> {
    let name = path.display();
    let refuse = |text: String| ConductError::Refused(format!("{name}: {text}"));
    let unread =
        |error: std::io::Error| ConductError::Refused(format!("can't read {name}: {error}"));
    let file = BufReader::new(File::open(path).map_err(unread)?);
    let mut reader = ::csv::ReaderBuilder::new()
        .flexible(true)
        .trim(::csv::Trim::All)
        .from_reader(fathom_exchange::utf8(file).map_err(unread)?);
    let header = reader
        .headers()
        .map_err(|error| refuse(error.to_string()))?
        .clone();
    if header.is_empty() {
        return Err(refuse(format!(
            "there is nothing in it; the first line names the columns {}",
            COLUMNS.join(", ")
        )));
    }
    let names: Vec<&str> = header.iter().collect();
    let column = |wanted: &str| names.iter().position(|name| *name == wanted);
    let (series, index, value) = match COLUMNS.map(column) {
        [Some(series), Some(index), Some(value)] => (series, index, value),
        [None, _, None] => {
            let rows = reader.records().collect::<Result<Vec<_>, _>>();
            let rows = rows.map_err(|error| refuse(error.to_string()))?;
            return wide::read(&names, &rows).map_err(refuse);
        }
        [series, index, _] => {
            let missing = [series, index].iter().position(Option::is_none);
            return Err(refuse(format!(
                "there is no column {:?}. The first line must name the columns {}; it has: {}",
                COLUMNS[missing.unwrap_or(2)],
                COLUMNS.join(", "),
                names.join(", ")
            )));
        }
    };
    let mut found: Vec<(Asked, Vec<Option<f64>>)> = Vec::new();
    let mut positions = std::collections::HashMap::new();
    for row in reader.records() {
        let row = row.map_err(|error| refuse(error.to_string()))?;
        let line = row.position().map_or(0, ::csv::Position::line);
        let field = |column: usize| {
            let (fields, wanted) = (row.len(), header.len());
            let wrong = || format!("line {line} has {fields} fields and the first line {wanted}");
            row.get(column).ok_or_else(|| refuse(wrong()))
        };
        let text = field(value)?;
        let number = wide::number(text).ok_or_else(|| {
            refuse(format!(
                "line {line}: the value {text:?} is not a number; leave the line out if nothing was measured"
            ))
        })?;
        let name = field(series)?;
        let position = *positions.entry(name.to_owned()).or_insert_with(|| {
            let asked = Asked {
                name: name.to_owned(),
                unit: None,
                higher_is_better: None,
                labels: Vec::new(),
                values: Vec::new(),
            };
            found.push((asked, Vec::new()));
            found.len() - 1
        });
        let (asked, places) = &mut found[position];
        let label = field(index)?;
        places.push(label.parse().ok().filter(|place: &f64| !place.is_nan()));
        asked.labels.push(label.to_owned());
        asked.values.push(number);
    }
    if found.is_empty() {
        return Err(refuse(
            "there is no line with a value below the names of the columns".to_owned(),
        ));
    }
    Ok(found
        .into_iter()
        .map(|(asked, places)| sorted(asked, places))
        .collect())
}

fn sorted(asked: Asked, places: Vec<Option<f64>>) -> Asked {
    let Some(places) = places.into_iter().collect::<Option<Vec<f64>>>() else {
        return asked;
    };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| {
        places[*a]
            .partial_cmp(&places[*b])
            .unwrap_or(Ordering::Equal)
    });
    Asked {
        labels: order.iter().map(|at| asked.labels[*at].clone()).collect(),
        values: order.iter().map(|at| asked.values[*at]).collect(),
        ..asked
    }
}
