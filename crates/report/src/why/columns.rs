//! A table of the terminal: one column takes what the others leave.

use crate::line::{Line, Page, Tone};
use crate::text::columns;

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

    fn width(&self) -> usize {
        let widest = self.cells.iter().map(|cell| columns(cell)).max();
        widest.unwrap_or(0).max(columns(self.title)) + 2
    }

    /// Whether all cells say nothing.
    fn is_idle(&self) -> bool {
        self.cells
            .iter()
            .all(|cell| matches!(cell.as_str(), "" | "0" | "-"))
    }
}

/// The name column is never narrower than this: numbers go first.
const NARROWEST_NAME: usize = 16;

/// Writes the table: names at the left, made safe and shortened, then `numbers`. Columns in
/// which nothing stands are left out, and where the page is too narrow, those that can go.
pub(crate) fn write(page: &mut Page, title: &str, names: &[String], mut numbers: Vec<Column>) {
    let names: Vec<String> = names.iter().map(|name| page.clean(name)).collect();
    numbers.retain(|column| column.expendable == 0 || !column.is_idle());
    let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let widest = widest.max(columns(title));
    let name_width = loop {
        let taken: usize = numbers.iter().map(Column::width).sum();
        let room = page.width().saturating_sub(2 + taken);
        if room >= widest.min(NARROWEST_NAME) {
            break room.min(widest);
        }
        let Some(first) = (0..numbers.len()).max_by_key(|&at| numbers[at].expendable) else {
            break room;
        };
        if numbers[first].expendable == 0 {
            break room;
        }
        numbers.remove(first);
    };
    let mut header = Line::new()
        .add(Tone::Plain, "  ")
        .add(Tone::Quiet, page.fit(title, name_width))
        .pad_to(2 + name_width);
    for column in &numbers {
        header = header.add(Tone::Quiet, format!("{:>1$}", column.title, column.width()));
    }
    page.push(header);
    for (row, name) in names.iter().enumerate() {
        let mut line = Line::new()
            .add(Tone::Plain, "  ")
            .add(Tone::Plain, page.fit(name, name_width))
            .pad_to(2 + name_width);
        for column in &numbers {
            let cell = &column.cells[row];
            let missing = column.width().saturating_sub(columns(cell));
            line = line.add(Tone::Plain, format!("{}{cell}", " ".repeat(missing)));
        }
        page.push(line);
    }
}
