//! Reads CSV with a header, and finds cells by column name.

use std::borrow::Cow;

use crate::error::{Error, malformed};
use crate::export::cell::unmarked;

/// The maximum number of columns; a header with more is not that of a results file.
const MOST_COLUMNS: usize = 1000;

pub(crate) struct Row<'a> {
    pub(crate) header: &'a [String],
    cells: &'a csv::ByteRecord,
    delimiter: u8,
}

impl Row<'_> {
    pub(crate) fn at(&self, column: usize) -> Cow<'_, str> {
        match self.cells.get(column).map(String::from_utf8_lossy) {
            None => Cow::Borrowed(""),
            Some(Cow::Borrowed(cell)) => Cow::Borrowed(unmarked(cell)),
            Some(Cow::Owned(cell)) => Cow::Owned(unmarked(&cell).to_owned()),
        }
    }

    /// Returns the cell of the named column, or `None` if it is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        let column = self.header.iter().position(|column| column == name)?;
        Some(self.at(column)).filter(|cell| !cell.is_empty())
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.as_number(&self.get(name)?)
    }

    /// Parses a cell as a number.
    pub(crate) fn as_number(&self, cell: &str) -> Option<f64> {
        crate::lines::number(&with_point(cell.trim(), self.delimiter))
    }

    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.number(name)
            .filter(|value| *value >= 0.0 && *value < 9e15)
            .map(|value| value as u64)
    }

    /// Returns the names and values of all cells that aren't empty.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let all = self
            .header
            .iter()
            .enumerate()
            .map(|(column, name)| (name.as_str(), self.at(column)));
        all.filter(|(_, cell)| !cell.is_empty())
    }
}

/// Calls a function for each row below the header. Rows may be shorter than the header.
pub(crate) fn each(
    bytes: &[u8],
    delimiter: u8,
    mut row: impl FnMut(&Row) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = plain(bytes, delimiter);
    let mut record = csv::ByteRecord::new();
    let broken = |error: csv::Error| malformed(format!("not CSV: {error}"));
    reader.read_byte_record(&mut record).map_err(broken)?;
    if record.len() > MOST_COLUMNS {
        return Err(malformed(format!("more than {MOST_COLUMNS} columns")));
    }
    let header = record
        .iter()
        .map(|cell| unmarked(String::from_utf8_lossy(cell).trim()).to_owned())
        .collect::<Vec<_>>();
    while reader.read_byte_record(&mut record).map_err(broken)? {
        row(&Row {
            header: &header,
            cells: &record,
            delimiter,
        })?;
    }
    Ok(())
}

/// Returns the cell separator of a file with this head: a comma, or a semicolon or tab if the first line has
/// more of them, as written by spreadsheets.
pub fn separator(head: &[u8]) -> u8 {
    let mut lines = crate::lines::of(head);
    let line = lines.find(|line| !line.trim_ascii().is_empty());
    let mut quoted = false;
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    for byte in line.unwrap_or_default() {
        quoted ^= *byte == b'"';
        let counted = counts.iter_mut().find(|(known, _)| known == byte);
        if let Some((_, count)) = counted.filter(|_| !quoted) {
            *count += 1;
        }
    }
    // On ties, the first separator is kept.
    counts.reverse();
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(b',', |(separator, _)| separator)
}

/// Replaces a decimal comma by a point, unless commas separate cells.
pub fn with_point(cell: &str, separator: u8) -> Cow<'_, str> {
    let has_comma = separator != b',' && cell.matches(',').count() == 1 && !cell.contains('.');
    match has_comma {
        true => Cow::Owned(cell.replace(',', ".")),
        false => Cow::Borrowed(cell),
    }
}

/// Returns a reader for ragged rows without a header.
pub(crate) fn plain(bytes: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(bytes)
}

/// Returns the names in the first line.
pub(crate) fn header(head: &[u8], delimiter: u8) -> Vec<String> {
    let line = crate::lines::of(head).next().unwrap_or_default();
    let mut record = csv::ByteRecord::new();
    match plain(line, delimiter).read_byte_record(&mut record) {
        Ok(true) => record
            .iter()
            .take(MOST_COLUMNS)
            .map(|cell| crate::lines::shown(cell.trim_ascii()))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns whether the first line names all these columns.
pub(crate) fn names(head: &[u8], delimiter: u8, columns: &[&str]) -> bool {
    let header = header(head, delimiter);
    columns
        .iter()
        .all(|column| header.iter().any(|name| name == column))
}
