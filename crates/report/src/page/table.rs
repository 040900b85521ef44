//! A table that can be sorted by each of its columns; without a script it is a table.

use std::fmt::Write;

use crate::text::{bounded, html, name, words};

/// Longest name in a cell, in columns.
const LONGEST_NAME: usize = 120;

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

/// One cell.
pub(crate) struct Cell {
    markup: String,
    sort: Option<f64>,
    title: Option<String>,
}

impl Cell {
    /// A name from outside.
    pub(crate) fn name(from_outside: &str) -> Cell {
        Cell::markup(name(&bounded(from_outside, LONGEST_NAME)))
    }

    /// Words of Fathom's own, in which what is from outside was escaped.
    pub(crate) fn words(own: &str) -> Cell {
        Cell::markup(words(own))
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

    /// Markup of Fathom's own, in which everything else was escaped.
    pub(crate) fn markup(markup: String) -> Cell {
        Cell {
            markup,
            sort: None,
            title: None,
        }
    }

    /// The same, sorted as it is, with other markup.
    pub(crate) fn marked(self, markup: String) -> Cell {
        Cell { markup, ..self }
    }

    /// Says more to who asks; from outside.
    pub(crate) fn with_title(self, title: &str) -> Cell {
        Cell {
            title: (!title.is_empty()).then(|| bounded(title, 400)),
            ..self
        }
    }
}

/// A table.
pub(crate) struct Table {
    caption: &'static str,
    columns: Vec<(String, Kind)>,
    rows: Vec<(&'static str, Vec<Cell>)>,
}

impl Table {
    /// What it holds, for who can't see where it stands.
    pub(crate) fn new(caption: &'static str) -> Table {
        Table {
            caption,
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a column; its head is Fathom's own, or escaped.
    pub(crate) fn column(mut self, head: &str, kind: Kind) -> Table {
        self.columns.push((head.to_owned(), kind));
        self
    }

    /// Adds a row with as many cells as there are columns; `class` may be empty.
    pub(crate) fn row(&mut self, class: &'static str, cells: Vec<Cell>) {
        self.rows.push((class, cells));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as markup.
    pub(crate) fn html(&self) -> String {
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"sortable\"><caption class=\"hidden\">{0}</caption>\n<thead><tr>",
            html(self.caption)
        );
        for (head, kind) in &self.columns {
            put(&mut out, "th scope=\"col\"", *kind, &words(head), "");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (class, cells) in &self.rows {
            match *class {
                "" => out.push_str("<tr>"),
                class => out.push_str(&format!("<tr class=\"{class}\">")),
            }
            for (cell, (_, kind)) in cells.iter().zip(&self.columns) {
                let mut more = String::new();
                // Writing to a String can't fail.
                if let Some(value) = cell.sort {
                    let _ = write!(more, " data-sort=\"{value}\"");
                }
                if let Some(title) = &cell.title {
                    let _ = write!(more, " title=\"{}\"", html(title));
                }
                put(&mut out, "td", *kind, &cell.markup, &more);
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }
}

fn put(out: &mut String, tag: &str, kind: Kind, markup: &str, more: &str) {
    let class = match kind {
        Kind::Name => " class=\"name\"",
        Kind::Words => " class=\"words\"",
        Kind::Number => "",
    };
    let end = tag.split(' ').next().unwrap_or(tag);
    let _ = write!(out, "<{tag}{class}{more}>{markup}</{end}>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_from_outside_is_text_and_numbers_sort_by_their_value() {
        let mut table = Table::new("t")
            .column("n", Kind::Name)
            .column("v", Kind::Number);
        let cells = vec![
            Cell::name("<a/b>").with_title("\"x\""),
            Cell::number("1.2\u{a0}ms", 0.0012),
        ];
        table.row("neck", cells);
        let html = table.html();
        assert!(html.contains(
            "<tr class=\"neck\"><td class=\"name\" title=\"&quot;x&quot;\">&lt;a/<wbr>b&gt;</td>"
        ), "{html}");
        assert!(
            html.contains("<td data-sort=\"0.0012\">1.2&nbsp;ms</td>"),
            "{html}"
        );
    }
}
