//! A table of names and figures: a name gives way where there is no room, a figure never does.

use crate::line::{Line, Page, Tone};
use crate::text::columns;

/// Columns that a name keeps at least.
const SHORTEST_NAME: usize = 12;
/// Blanks between two columns.
const GAP: usize = 2;

/// A column behind the names.
pub(crate) struct Column {
    head: String,
    cells: Vec<String>,
    /// Figures stand at the right, words at the left.
    right: bool,
}

impl Column {
    pub(crate) fn figures(head: &str, cells: Vec<String>) -> Column {
        Column {
            head: head.to_owned(),
            cells,
            right: true,
        }
    }

    pub(crate) fn words(head: &str, cells: Vec<String>) -> Column {
        Column {
            right: false,
            ..Column::figures(head, cells)
        }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns(cell));
        cells.max().unwrap_or(0).max(columns(&self.head))
    }
}

/// Writes the heads and a line for each name; `tone` of a row and a column. A line that is wider than
/// the page goes on in the next one.
pub(crate) fn rows_of(
    page: &mut Page,
    head: &str,
    names: &[String],
    behind: &[Column],
    tone: &dyn Fn(usize, usize) -> Tone,
) {
    let widths: Vec<usize> = behind.iter().map(Column::width).collect();
    let taken: usize = widths.iter().map(|width| width + GAP).sum();
    let room = page.width().saturating_sub(taken).max(SHORTEST_NAME);
    let cleaned = names.iter().map(|name| columns(&page.clean(name)));
    let name_width = cleaned.max().unwrap_or(0).clamp(columns(head), room);
    let line = |start: Line, cell: &dyn Fn(usize) -> (Tone, String)| {
        let mut at = name_width;
        let mut line = start;
        for (index, column) in behind.iter().enumerate() {
            let (tone, text) = cell(index);
            let before = match column.right {
                true => GAP + widths[index] - columns(&text),
                false => GAP,
            };
            line = line.pad_to(at + before).add(tone, text);
            at += GAP + widths[index];
        }
        line
    };
    page.push(line(Line::new().add(Tone::Quiet, head), &|index| {
        (Tone::Quiet, behind[index].head.clone())
    }));
    for (row, name) in names.iter().enumerate() {
        let name = page.fit(name, name_width);
        page.push(line(
            Line::new().add(tone(row, usize::MAX), name),
            &|index| (tone(row, index), behind[index].cells[row].clone()),
        ));
    }
}
