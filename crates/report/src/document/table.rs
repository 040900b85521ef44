//! A table: names, words and figures in columns.

use crate::line::Tone;

/// What a column holds: it decides how its cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names of things, broken only where they have parts.
    Name,
    /// Sentences.
    Words,
    /// Numbers, at the right.
    Number,
}

/// Where a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Everywhere,
    /// Not on a terminal.
    Page,
    /// Only on a terminal: of the columns with a place there the highest goes first where the terminal
    /// is narrow or nothing stands in it; 0 stays.
    Terminal(u8),
}

pub(crate) struct Column {
    pub(super) head: String,
    pub(super) kind: Kind,
    pub(super) on_page: bool,
    pub(super) on_terminal: bool,
    /// The highest goes first where a terminal is narrow; 0 stays.
    pub(super) expendable: u8,
}

/// One cell. A name may be from outside, and words may hold such names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(super) text: String,
    pub(super) is_name: bool,
    /// Signs of a picture, which the terminal has.
    pub(super) is_drawn: bool,
    /// On a terminal there is nothing.
    pub(super) is_absent: bool,
    /// Markup of Fathom's own in place of the text, in which everything else was escaped.
    pub(super) markup: Option<String>,
    pub(super) sort: Option<f64>,
    pub(super) title: String,
    pub(super) is_strong: bool,
    /// Further lines.
    pub(super) lines: Vec<String>,
    /// Below a text, in small letters: what it is as code on a page.
    pub(super) code: String,
    /// Below all: remarks.
    pub(super) small: Vec<String>,
    /// Further remarks, for which only a page has room.
    pub(super) hidden: Vec<String>,
    pub(super) tone: Option<Tone>,
}

impl Cell {
    /// A name from outside.
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

    /// A small picture of signs that the terminal has.
    pub(crate) fn drawn(signs: String) -> Cell {
        Cell {
            text: signs,
            is_drawn: true,
            ..Cell::default()
        }
    }

    /// A number as it is written, and as it is sorted.
    pub(crate) fn number(written: &str, value: f64) -> Cell {
        Cell {
            sort: Some(value),
            ..Cell::words(written)
        }
    }

    /// What was not measured, with the reason.
    pub(crate) fn none(why: &str) -> Cell {
        Cell::words("–").with_title(why)
    }

    /// The same, of which a terminal shows nothing.
    pub(crate) fn absent(why: &str) -> Cell {
        Cell {
            is_absent: true,
            ..Cell::none(why)
        }
    }

    /// Markup of Fathom's own, in which everything else was escaped: only on a page.
    pub(crate) fn markup(markup: String) -> Cell {
        Cell {
            markup: Some(markup),
            ..Cell::default()
        }
    }

    /// Words in several lines.
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

    /// One more line.
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

    /// Says more to who asks; from outside.
    pub(crate) fn with_title(mut self, title: &str) -> Cell {
        title.clone_into(&mut self.title);
        self
    }

    /// In this tone.
    pub(crate) fn toned(mut self, tone: Tone) -> Cell {
        self.tone = Some(tone);
        self
    }
}

/// How a table looks on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// A line for each row.
    Aligned,
    /// A sentence for each row.
    Stacked,
    /// Lines for each row.
    Wrapped,
}

/// A table.
pub(crate) struct Table {
    /// What it holds, for who can't see where it stands.
    pub(super) caption: &'static str,
    pub(super) columns: Vec<Column>,
    pub(crate) rows: Vec<(&'static str, Vec<Cell>)>,
    pub(super) look: Look,
    /// Blanks between two columns of a terminal.
    pub(super) gap: usize,
    /// Columns that a name keeps at least on a terminal: before that, columns that can go do so.
    pub(super) kept: usize,
}

impl Table {
    /// What it holds, for who can't see where it stands.
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

    /// Adds a column that is shown in some places. The first on a terminal holds names.
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

    /// The last column goes from a narrow terminal, the highest of such columns first.
    pub(crate) fn expendable(mut self, order: u8) -> Table {
        if let Some(last) = self.columns.last_mut() {
            last.expendable = order;
        }
        self
    }

    /// On a terminal each row is a sentence: its cells, between colons.
    pub(crate) fn stacked(mut self) -> Table {
        self.look = Look::Stacked;
        self
    }

    /// On a terminal long cells take several lines, and remarks stand below their row.
    pub(crate) fn wrapped(mut self) -> Table {
        self.look = Look::Wrapped;
        self
    }

    /// With so many blanks between the columns of a terminal, of which a name keeps so many.
    pub(crate) fn spaced(mut self, gap: usize, kept: usize) -> Table {
        (self.gap, self.kept) = (gap, kept);
        self
    }

    /// Adds a row with as many cells as there are columns; `class` may be empty.
    pub(crate) fn row(&mut self, class: &'static str, cells: Vec<Cell>) {
        self.rows.push((class, cells));
    }

    /// Leaves out the columns in which nothing stands.
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
