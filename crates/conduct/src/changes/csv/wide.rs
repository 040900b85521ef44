//! Reads files with a column for each series and a line for each measurement, in the format that Otava uses:
//! `time,commit,metric1,metric2`.

use ::csv::StringRecord;

use super::{Asked, Table, sorted};

/// Columns that describe a line (its time or its commit), and are not series even if they hold numbers.
const ABOUT: [&str; 12] = [
    "commit",
    "revision",
    "sha",
    "version",
    "tag",
    "branch",
    "build",
    "run",
    "index",
    "time",
    "date",
    "timestamp",
];

/// Reads each column of numbers as a series. Its lines are labelled by their commit, or else by the first
/// column of `ABOUT` present, and sorted by time if all times can be parsed.
pub(super) fn read(table: &Table<'_>, rows: &[StringRecord]) -> Result<Vec<Asked>, String> {
    let names = table.names;
    let about = |wanted: &str| {
        names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(wanted))
    };
    let cell = |row: &StringRecord, column: usize| row.get(column).unwrap_or_default().to_owned();
    let label = ABOUT.into_iter().find_map(about);
    let time = ["index", "time", "date", "timestamp"]
        .into_iter()
        .find_map(about);
    let place = |row: &StringRecord| moment(table, row.get(time?)?);
    let all_numbers = |column: usize| {
        let cells = || {
            rows.iter()
                .filter_map(|row| row.get(column))
                .filter(|cell| !cell.is_empty())
        };
        cells().next().is_some() && cells().all(|cell| table.number(cell).is_some())
    };
    let measured = |column: &usize| {
        let name = names[*column];
        !name.is_empty()
            && !ABOUT.iter().any(|known| name.eq_ignore_ascii_case(known))
            && all_numbers(*column)
    };
    let found: Vec<Asked> = (0..names.len())
        .filter(measured)
        .map(|column| {
            let kept = rows.iter().enumerate();
            let kept =
                kept.filter_map(|(line, row)| Some((line, row, table.number(row.get(column)?)?)));
            let kept: Vec<(usize, &StringRecord, f64)> = kept.collect();
            let labelled = |(line, row, _): &(usize, &StringRecord, f64)| match label {
                Some(column) => cell(row, column),
                None => (line + 1).to_string(),
            };
            let asked = Asked {
                name: names[column].to_owned(),
                unit: None,
                higher_is_better: None,
                labels: kept.iter().map(labelled).collect(),
                values: kept.iter().map(|(.., value)| *value).collect(),
            };
            sorted(asked, kept.iter().map(|(_, row, _)| place(row)).collect())
        })
        .collect();
    match found.is_empty() {
        true => Err(format!(
            "no column contains numbers: a file needs the columns series, index and value, or one column for each \
             series; this one has: {}",
            names.join(", ")
        )),
        false => Ok(found),
    }
}

/// Converts a number, or a date such as `2024.01.01 3:00:00 +0100`, to a sort key.
fn moment(table: &Table<'_>, text: &str) -> Option<f64> {
    if let Some(number) = table.number(text) {
        return Some(number);
    }
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let [year, month, day] = date.split(['.', '-', '/']).collect::<Vec<_>>()[..] else {
        return None;
    };
    let date = format!("{year:0>4}-{month:0>2}-{day:0>2}");
    let time = time.replace(' ', "");
    let text = match time.find(':') {
        None => date,
        Some(hour) => format!("{date}T{}{time}", "0".repeat(2usize.saturating_sub(hour))),
    };
    fathom_store::date::parse(&text).map(|milliseconds| milliseconds as f64)
}
