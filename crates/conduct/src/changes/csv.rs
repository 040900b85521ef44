//! Reads series from a CSV file: either with the columns `series`, `index` and `value`, or with a column for
//! each series and a line for each measurement. Each branch named in a column `branch` is a separate series.

mod wide;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use ::csv::StringRecord;
use fathom_model::with_parameters;

use super::Asked;
use crate::ConductError;

/// The names of the columns that are read, as in the first line.
const COLUMNS: [&str; 3] = ["series", "index", "value"];
/// A longer first line can't be a header.
const LONGEST_HEADER: u64 = 1 << 20;

/// Reads all series, or those of `branch`, in order of first appearance. A series is sorted by its index if
/// that is a number on every line; otherwise it keeps the order of its lines.
///
/// # Errors
/// [`ConductError::Refused`], with a message that says what to change in the file.
pub(super) fn read(path: &Path, branch: Option<&str>) -> Result<Vec<Asked>, ConductError> {
    let name = path.display();
    let refuse = |text: String| ConductError::Refused(format!("{name}: {text}"));
    let unread =
        |error: std::io::Error| ConductError::Refused(format!("can't read {name}: {error}"));
    let file = BufReader::new(File::open(path).map_err(unread)?);
    let mut file = fathom_exchange::utf8(file).map_err(unread)?;
    let mut head = Vec::new();
    while head.trim_ascii().is_empty() {
        let mut line = file.by_ref().take(LONGEST_HEADER);
        if line.read_until(b'\n', &mut head).map_err(unread)? == 0 {
            break;
        }
    }
    let separator = fathom_exchange::separator(&head);
    let mut reader = ::csv::ReaderBuilder::new()
        .flexible(true)
        .delimiter(separator)
        .trim(::csv::Trim::All)
        .from_reader(Cursor::new(head).chain(file));
    let header = reader
        .headers()
        .map_err(|error| refuse(error.to_string()))?
        .clone();
    if header.is_empty() {
        return Err(refuse(format!(
            "the file is empty; its first line must name the columns {}",
            COLUMNS.join(", ")
        )));
    }
    let names: Vec<&str> = header.iter().collect();
    let rows = reader.records().collect::<Result<Vec<_>, _>>();
    let rows = rows.map_err(|error| refuse(error.to_string()))?;
    let table = Table {
        names: &names,
        separator,
    };
    let mut found = Vec::new();
    for (suffix, rows) in table.branches(rows, branch).map_err(refuse)? {
        let series = table.series(&rows).map_err(refuse)?;
        found.extend(series.into_iter().map(|asked| Asked {
            name: with_parameters(&asked.name, suffix.iter().map(|name| ("branch", name))),
            ..asked
        }));
    }
    Ok(found)
}

/// The lines of a branch, and its name if there are several branches.
type OfBranch = (Option<String>, Vec<StringRecord>);

/// The header of a file.
struct Table<'a> {
    names: &'a [&'a str],
    separator: u8,
}

impl Table<'_> {
    fn column(&self, wanted: &str) -> Option<usize> {
        self.names.iter().position(|name| *name == wanted)
    }

    fn number(&self, cell: &str) -> Option<f64> {
        let text = fathom_exchange::with_point(cell, self.separator);
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Returns the lines of each branch, with its name if there are several; or only those of the requested
    /// branch.
    fn branches(
        &self,
        rows: Vec<StringRecord>,
        wanted: Option<&str>,
    ) -> Result<Vec<OfBranch>, String> {
        let is_branch = |name: &&str| name.eq_ignore_ascii_case("branch");
        let column = self.names.iter().position(is_branch);
        let Some(column) = column.filter(|_| !rows.is_empty()) else {
            return match wanted {
                None => Ok(vec![(None, rows)]),
                Some(_) => Err(format!(
                    "--branch needs a column named \"branch\" with rows below it; the columns are {}",
                    self.names.join(", ")
                )),
            };
        };
        let mut found: Vec<OfBranch> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for row in rows {
            let name = row.get(column).unwrap_or_default().to_owned();
            let at = *places.entry(name.clone()).or_insert(found.len());
            match found.get_mut(at) {
                Some((_, of_branch)) => of_branch.push(row),
                // Lines with an empty branch get no name.
                None => found.push((Some(name).filter(|name| !name.is_empty()), vec![row])),
            }
        }
        let Some(wanted) = wanted else {
            if let [(name, _)] = &mut found[..] {
                *name = None;
            }
            return Ok(found);
        };
        match places.get(wanted) {
            Some(at) => Ok(vec![(None, found.swap_remove(*at).1)]),
            None => {
                let names: Vec<&str> = found
                    .iter()
                    .filter_map(|(name, _)| name.as_deref())
                    .collect();
                let names = names.join(", ");
                Err(format!(
                    "no line has the branch {wanted:?}; the branches are {names}"
                ))
            }
        }
    }

    fn series(&self, rows: &[StringRecord]) -> Result<Vec<Asked>, String> {
        match COLUMNS.map(|wanted| self.column(wanted)) {
            [Some(series), Some(index), Some(value)] => self.long(rows, [series, index, value]),
            [None, _, None] => wide::read(self, rows),
            [series, index, _] => {
                let missing = [series, index].iter().position(Option::is_none);
                Err(format!(
                    "no column is named {:?}. The first line must name the columns {}; it names: {}",
                    COLUMNS[missing.unwrap_or(2)],
                    COLUMNS.join(", "),
                    self.names.join(", ")
                ))
            }
        }
    }

    /// Reads a table with one line for each point.
    fn long(
        &self,
        rows: &[StringRecord],
        [series, index, value]: [usize; 3],
    ) -> Result<Vec<Asked>, String> {
        let mut found: Vec<(Asked, Vec<Option<f64>>)> = Vec::new();
        let mut positions = HashMap::new();
        for row in rows {
            let line = row.position().map_or(0, ::csv::Position::line);
            let field = |column: usize| {
                let (fields, wanted) = (row.len(), self.names.len());
                let wrong =
                    || format!("line {line} has {fields} fields, but the first line has {wanted}");
                row.get(column).ok_or_else(wrong)
            };
            let text = field(value)?;
            let number = self.number(text).ok_or_else(|| {
                format!(
                    "line {line}: the value {text:?} is not a number; omit the line if nothing was measured"
                )
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
            return Err("no row below the column names has a value".to_owned());
        }
        let each = found.into_iter();
        Ok(each.map(|(asked, places)| sorted(asked, places)).collect())
    }
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
