//! A table: names, words and figures in columns.

use crate::line::Tone;

/// What a column contains, which determines the alignment of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names, broken only between their parts.
    Name,
    /// Sentences.
    Words,
    /// Numbers, aligned right.
    Number,
}

/// Where a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Everywhere,
    /// The column is shown everywhere except on a terminal.
    Page,
    /// The column is shown only on a terminal. If the terminal is narrow or the column is empty, the column
    /// with the highest number is removed first; 0 is never removed.
    Terminal(u8),
}

pub(crate) struct Column {
    pub(super) head: String,
    pub(super) kind: Kind,
    pub(super) on_page: bool,
    pub(super) on_terminal: bool,
    /// The column with the highest value is removed first on a narrow terminal; 0 is never removed.
    pub(super) expendable: u8,
}

/// One cell. A name may be untrusted, and words may contain such names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(super) text: String,
    pub(super) is_name: bool,
    /// Whether the cell is a chart made of characters that the terminal has.
    pub(super) is_drawn: bool,
    /// Whether the cell is empty on a terminal.
    pub(super) is_absent: bool,
    /// Fathom's own markup in place of the text, with everything else escaped.
    pub(super) markup: Option<String>,
    pub(super) sort: Option<f64>,
    pub(super) title: String,
    pub(super) is_strong: bool,
    /// Additional lines.
    pub(super) lines: Vec<String>,
    /// Small text below, shown as code on a page.
    pub(super) code: String,
    /// Remarks below everything else.
    pub(super) small: Vec<String>,
    /// Additional remarks for which only a page has space.
    pub(super) hidden: Vec<String>,
    pub(super) tone: Option<Tone>,
}

impl Cell {
    /// Creates a cell with an untrusted name.
    pub(crate) fn name(from_outside: &str) -> Cell {
        Cell {
            is_name: true,
            ..Cell::words(from_outside)
        }
    }

    pub(crate) fn words(text: &str) -> Cell {
        Cell {
            text: text.to_owned(),
            ..Cell::default()
        }
    }

    /// Creates a cell with a small chart of characters that the terminal has.
    pub(crate) fn drawn(signs: String) -> Cell {
        Cell {
            text: signs,
            is_drawn: true,
            ..Cell::default()
        }
    }

    /// Creates a cell with a number: its text, and its value for sorting.
    pub(crate) fn number(written: &str, value: f64) -> Cell {
        Cell {
            sort: Some(value),
            ..Cell::words(written)
        }
    }

    /// Creates a cell for something that was not measured, with the reason.
    pub(crate) fn none(why: &str) -> Cell {
        Cell::words("–").with_title(why)
    }

    /// Like [`Cell::none`], but the cell is empty on a terminal.
    pub(crate) fn absent(why: &str) -> Cell {
        Cell {
            is_absent: true,
            ..Cell::none(why)
        }
    }

    /// Creates a cell with Fathom's own markup, with everything else escaped. It is only shown on a page.
    pub(crate) fn markup(markup: String) -> Cell {
        Cell {
            markup: Some(markup),
            ..Cell::default()
        }
    }

    /// Creates a cell with several lines of words.
    pub(crate) fn lines(mut lines: Vec<String>) -> Cell {
        let first = match lines.is_empty() {
            true => String::new(),
            false => lines.remove(0),
        };
        Cell {
            lines,
            ..Cell::words(&first)
        }
    }

    /// Adds a line.
    pub(crate) fn then(mut self, line: &str) -> Cell {
        self.lines.push(line.to_owned());
        self
    }

    pub(crate) fn strong(mut self) -> Cell {
        self.is_strong = true;
        self
    }

    pub(crate) fn with_code(mut self, code: &str) -> Cell {
        code.clone_into(&mut self.code);
        self
    }

    pub(crate) fn with_small(mut self, remarks: Vec<String>) -> Cell {
        self.small = remarks;
        self
    }

    pub(crate) fn with_hidden(mut self, remarks: Vec<String>) -> Cell {
        self.hidden = remarks;
        self
    }

    /// Sets the tooltip; not trustworthy.
    pub(crate) fn with_title(mut self, title: &str) -> Cell {
        title.clone_into(&mut self.title);
        self
    }

    /// Sets the tone.
    pub(crate) fn toned(mut self, tone: Tone) -> Cell {
        self.tone = Some(tone);
        self
    }
}

/// The layout of a table on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// One line for each row.
    Aligned,
    /// One sentence for each row.
    Stacked,
    /// Several lines for each row.
    Wrapped,
}

/// A table.
pub(crate) struct Table {
    /// The caption says what the table contains, for readers who can't see its context.
    pub(super) caption: &'static str,
    pub(super) columns: Vec<Column>,
    pub(crate) rows: Vec<(&'static str, Vec<Cell>)>,
    pub(super) look: Look,
    /// The number of spaces between two columns on a terminal.
    pub(super) gap: usize,
    /// The minimum width of a name on a terminal: removable columns are removed before it becomes narrower.
    pub(super) kept: usize,
}

impl Table {
    /// The caption says what the table contains, for readers who can't see its context.
    pub(crate) fn new(caption: &'static str) -> Table {
        Table {
            caption,
            columns: Vec::new(),
            rows: Vec::new(),
            look: Look::Aligned,
            gap: 2,
            kept: 16,
        }
    }

    /// Adds a column.
    pub(crate) fn column(self, head: &str, kind: Kind) -> Table {
        self.placed(head, kind, Place::Everywhere)
    }

    /// Adds a column that is shown only in some places. The first column on a terminal contains names.
    pub(crate) fn placed(mut self, head: &str, kind: Kind, place: Place) -> Table {
        self.columns.push(Column {
            head: head.to_owned(),
            kind,
            on_page: !matches!(place, Place::Terminal(_)),
            on_terminal: place != Place::Page,
            expendable: match place {
                Place::Terminal(expendable) => expendable,
                _ => 0,
            },
        });
        self
    }

    /// Makes the last column removable on a narrow terminal; the highest order is removed first.
    pub(crate) fn expendable(mut self, order: u8) -> Table {
        if let Some(last) = self.columns.last_mut() {
            last.expendable = order;
        }
        self
    }

    /// On a terminal, formats each row as a sentence: its cells, separated by colons.
    pub(crate) fn stacked(mut self) -> Table {
        self.look = Look::Stacked;
        self
    }

    /// On a terminal, wraps long cells over several lines, and puts remarks below their row.
    pub(crate) fn wrapped(mut self) -> Table {
        self.look = Look::Wrapped;
        self
    }

    /// Sets the number of spaces between the columns on a terminal, and the minimum width of a name.
    pub(crate) fn spaced(mut self, gap: usize, kept: usize) -> Table {
        (self.gap, self.kept) = (gap, kept);
        self
    }

    /// Adds a row with as many cells as there are columns; `class` may be empty.
    pub(crate) fn row(&mut self, class: &'static str, cells: Vec<Cell>) {
        self.rows.push((class, cells));
    }

    /// Removes empty columns.
    pub(crate) fn without_empty(mut self) -> Table {
        for at in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|(_, cells)| cells[at].text.is_empty()) {
                self.columns.remove(at);
                self.rows
                    .iter_mut()
                    .for_each(|(_, cells)| drop(cells.remove(at)));
            }
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
