//! Tables in Markdown that are also readable as plain text.

/// The table of a figure, with its requirement and its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    title: String,
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Table {
    /// Creates an empty table.
    pub(crate) fn new(title: &str, headers: &[&str]) -> Table {
        Table {
            title: title.to_string(),
            headers: headers
                .iter()
                .map(std::string::ToString::to_string)
                .collect(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a row. If it is too short, it is padded with empty cells.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().collect();
        row.resize(self.headers.len(), String::new());
        self.rows.push(row);
    }

    /// Adds a sentence below the table.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Returns the table as text that ends with a newline.
    pub(crate) fn render(&self) -> String {
        let width = |column: usize| {
            let cells = self
                .rows
                .iter()
                .chain([&self.headers])
                .map(|row| &row[column]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.headers.len()).map(width).collect();
        let line = |row: &[String]| {
            let mut text = String::from("|");
            for (cell, width) in row.iter().zip(&widths) {
                text.push_str(&format!(" {cell:<width$} |"));
            }
            text + "\n"
        };
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let mut text = format!(
            "## {}\n\n{}{}",
            self.title,
            line(&self.headers),
            line(&rule)
        );
        self.rows.iter().for_each(|row| text.push_str(&line(row)));
        if !self.notes.is_empty() {
            text.push('\n');
        }
        self.notes
            .iter()
            .for_each(|note| text.push_str(&format!("- {note}\n")));
        text
    }
}

/// Returns the word for the last column: whether the requirement was met.
pub(crate) fn result(reached: bool) -> String {
    if reached { "reached" } else { "not reached" }.to_string()
}

/// Formats seconds as microseconds.
pub(crate) fn us(seconds: f64) -> String {
    format!("{:.1} µs", seconds * 1e6)
}

/// Formats a ratio with three decimals.
pub(crate) fn ratio(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.3}")
    } else {
        "–".to_string()
    }
}

/// Formats a fraction as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// Formats bytes as MiB.
pub(crate) fn mib(bytes: f64) -> String {
    format!("{:.2} MiB", bytes / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_short_rows_are_filled() {
        let mut table = Table::new("Floor", &["tool", "µs"]);
        table.row(["a loop".to_string(), "1".to_string()]);
        table.row(["b".to_string()]);
        table.note("a note");
        let expected = "## Floor\n\n| tool   | µs |\n| ------ | -- |\n| a loop | 1  |\n| b      |    |\n\n- a note\n";
        assert_eq!(table.render(), expected);
    }
}
