//! A table of the terminal: one column takes what the others leave.

use crate::document::{Cell, Kind, Table};
use crate::line::Page;

/// One column of numbers, aligned right.
pub(crate) struct Column {
    title: &'static str,
    cells: Vec<String>,
    /// The highest goes first when the page is narrow; 0 stays.
    expendable: u8,
}

impl Column {
    pub(crate) fn new(title: &'static str, expendable: u8, cells: Vec<String>) -> Column {
        Column {
            title,
            cells,
            expendable,
        }
    }
}

/// Writes the table: names at the left, made safe and shortened, then `numbers`. Columns in
/// which nothing stands are left out, and where the page is too narrow, those that can go.
pub(crate) fn write(page: &mut Page, title: &str, names: &[String], numbers: Vec<Column>) {
    let mut table = Table::new("").column(title, Kind::Name);
    for column in &numbers {
        table = table
            .column(column.title, Kind::Number)
            .expendable(column.expendable);
    }
    for (row, name) in names.iter().enumerate() {
        let mut cells = vec![Cell::name(name)];
        cells.extend(numbers.iter().map(|column| Cell::words(&column.cells[row])));
        table.row("", cells);
    }
    table.terminal(page, 2);
}
