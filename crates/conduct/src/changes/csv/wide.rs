//! A column for each series and a line for each measurement, as Otava has it: `time,commit,metric1,metric2`.

use ::csv::StringRecord;

use super::{Asked, sorted};

/// Columns that say when or of what a line is, and no measurement, though they may be numbers.
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

/// Each column of numbers is a series; its lines are labelled by their commit, else by the first column of `ABOUT`
/// that is there, and are in the order of their times, where those can be read.
pub(super) fn read(names: &[&str], rows: &[StringRecord]) -> Result<Vec<Asked>, String> {
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
    let place = |row: &StringRecord| moment(row.get(time?)?);
    let all_numbers = |column: usize| {
        let cells = || {
            rows.iter()
                .filter_map(|row| row.get(column))
                .filter(|cell| !cell.is_empty())
        };
        cells().next().is_some() && cells().all(|cell| number(cell).is_some())
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
            let kept = kept.filter_map(|(line, row)| Some((line, row, number(row.get(column)?)?)));
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
            "there is no column of numbers: a file has the columns series, index and value, or a column for each \
            series; this one has: {}",
            names.join(", ")
        )),
        false => Ok(found),
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A number, or a date such as `2024.01.01 3:00:00 +0100`, as something to sort by.
fn moment(text: &str) -> Option<f64> {
    if let Some(number) = number(text) {
        return Some(number);
    }
    let mut parts: Vec<f64> = Vec::new();
    let mut zone = 0.0;
    let mut rest = text;
    while let Some(start) = rest.find(|char: char| char.is_ascii_digit()) {
        let sign = rest[..start].chars().next_back();
        let digits = &rest[start..];
        let end = digits.find(|char: char| !char.is_ascii_digit());
        let (digits, after) = digits.split_at(end.unwrap_or(digits.len()));
        rest = after;
        if parts.len() >= 5 && matches!(sign, Some('+' | '-')) {
            // Hours and minutes, also as one number, east of Greenwich.
            let hours: f64 = digits.get(..2)?.parse().ok()?;
            let minutes = digits.get(2..).filter(|digits| !digits.is_empty());
            let minutes = minutes.unwrap_or_else(|| after.trim_start_matches(':'));
            let minutes: f64 = minutes.parse().unwrap_or(0.0);
            zone = (hours * 60.0 + minutes) * if sign == Some('-') { -1.0 } else { 1.0 };
            break;
        }
        match (parts.len(), sign) {
            (6, Some('.')) => parts[5] += format!("0.{digits}").parse::<f64>().ok()?,
            (0..6, _) => parts.push(digits.parse().ok()?),
            _ => return None,
        }
    }
    let [year, month, day, ..] = parts[..] else {
        return None;
    };
    let at = |part: usize| parts.get(part).copied().unwrap_or(0.0);
    let days = (year * 12.0 + month) * 31.0 + day;
    Some(((days * 24.0 + at(3)) * 60.0 + at(4) - zone) * 60.0 + at(5))
}
