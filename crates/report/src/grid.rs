//! A table of names and figures: a name gives way where there is no room, a figure never does.

use crate::document::{begin, fitted};
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
    for (row, name) in fitted(page, names, name_width).into_iter().enumerate() {
        let start = begin(page, 0, name, name_width, tone(row, usize::MAX));
        page.push(line(start, &|index| {
            (tone(row, index), behind[index].cells[row].clone())
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use crate::Screen;

    #[test]
    fn names_that_would_be_cut_alike_stand_whole_above_their_figures() {
        let name = |n: &str| format!("BenchmarkSorting[n={n} threads=2 keys=text]");
        let names = [name("100"), name("10k"), "other".to_owned()];
        let figures = Column::figures("median", vec!["1.00 ms".to_owned(); 3]);
        let mut page = Page::new(&Screen {
            width: 40,
            ..Screen::default()
        });
        rows_of(&mut page, "benchmark", &names, &[figures], &|_, _| {
            Tone::Plain
        });
        let text = page.finish();
        for whole in &names[..2] {
            assert!(text.lines().any(|line| line == whole), "{text}");
        }
        assert_eq!(text.matches("1.00 ms").count(), 3, "{text}");
    }

    proptest::proptest! {
        #[test]
        fn distinct_names_stay_distinct(
            names in proptest::collection::vec("[ab]{3,40}[xy]{1,3}[ab]{3,40}", 2..12),
            width in 12usize..120,
        ) {
            let page = Page::new(&Screen { width: width.max(40), ..Screen::default() });
            let distinct: HashSet<&String> = names.iter().collect();
            let shown: HashSet<String> = fitted(&page, &names, width).into_iter().collect();
            assert_eq!(shown.len(), distinct.len());
        }

        #[test]
        fn names_that_differ_in_their_middle_stay_distinct(middle in 0u32..9, width in 12usize..60) {
            let name = |n: u32| format!("a_benchmark_of_a_group_with_a_long_name[{n}]_by_instructions_of_it");
            let page = Page::new(&Screen { width: width.max(40), ..Screen::default() });
            let shown = fitted(&page, &[name(middle), name(middle + 1)], width);
            assert_ne!(shown[0], shown[1]);
        }
    }
}
