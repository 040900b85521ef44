//! Formats a document as HTML.

use super::{Block, Cell, Document, Kind, Table};
use crate::format_count;
use crate::line::Tone;
use crate::text::{bounded, html as escaped, name, put, words};

/// The maximum lengths of a name in a cell and of a text, in columns.
const LONGEST_NAME: usize = 120;
const LONGEST: usize = 2000;
/// The maximum number of rows of a table; the JSON has all of them.
const MOST_ROWS: usize = 1000;
/// The maximum number of names listed; the JSON has all of them.
const MOST_NAMES: usize = 60;

/// Returns the class that gives a text the color of its tone.
pub(crate) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Notice => "warn",
        Tone::Quiet => "soft",
        _ => "",
    }
}

/// Formats all blocks as markup; notes come first.
pub(crate) fn html(document: &Document) -> String {
    html_below(document, 2)
}

/// Like [`html`], with headings from this level on.
pub(crate) fn html_below(document: &Document, level: usize) -> String {
    let (notes, others): (Vec<_>, Vec<_>) = document
        .blocks
        .iter()
        .partition(|block| matches!(block, Block::Note(..)));
    let mut out = String::new();
    let mut within = "";
    for block in notes.into_iter().chain(others) {
        let list = match block {
            Block::Fact(..) => "<dl class=\"facts\">\n",
            Block::Item(..) => "<dl>\n",
            _ => "",
        };
        if list != within {
            close(&mut out, within);
            out.push_str(list);
            within = list;
        }
        one(&mut out, block, level);
    }
    close(&mut out, within);
    out
}

/// Ends a list, if one is open.
fn close(out: &mut String, list: &str) {
    if !list.is_empty() {
        out.push_str("</dl>\n");
    }
}

fn one(out: &mut String, block: &Block, level: usize) {
    let text = |text: &str| with_breaks(&words(&bounded_words(text)));
    match block {
        Block::Gap | Block::Drawn(_) => {}
        Block::Prose(_, Tone::Strong, said) => {
            put!(*out, "<p><strong>{}</strong></p>\n", text(said));
        }
        Block::Prose(_, tone, said) => match class(*tone) {
            "" => put!(*out, "<p>{}</p>\n", text(said)),
            "soft" => put!(*out, "<p class=\"small soft\">{}</p>\n", text(said)),
            class => put!(*out, "<p class=\"{class}\">{}</p>\n", text(said)),
        },
        Block::Fact(label, tone, said) => {
            let class = match class(*tone) {
                "" | "soft" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            put!(
                *out,
                "<dt>{}</dt><dd{class}>{}</dd>\n",
                text(label),
                text(said)
            );
        }
        Block::Note(label, tone, said) => {
            let label = match *label {
                "note" => String::new(),
                label => format!("<strong>{label}</strong> "),
            };
            let class = format!("strip {}", class(*tone));
            put!(
                *out,
                "<p class=\"{}\">{label}{}</p>\n",
                class.trim_end(),
                text(said)
            );
        }
        Block::Item(head, answer, said) => {
            let (head, answer, said) = (text(head), text(answer), text(said));
            put!(
                *out,
                "<dt>{head}</dt><dd><strong>{answer}</strong>{said}</dd>\n"
            );
        }
        Block::Table(table) => out.push_str(&table.html()),
        Block::List(title, names) => list(out, title, names),
        Block::Folded(title, table) => {
            let table = table.html();
            put!(
                *out,
                "<details><summary>{title}</summary>\n{table}</details>\n"
            );
        }
        Block::Picture(markup) => out.push_str(markup),
        Block::Section(heading, part) => {
            let (heading, below) = (text(heading), html_below(part, level + 1));
            put!(
                *out,
                "<section>\n<h{level}>{heading}</h{level}>\n{below}</section>\n"
            );
        }
    }
}

/// Allows line breaks after each slash of a long word, which is probably a path.
fn with_breaks(markup: &str) -> String {
    const LONG: usize = 24;
    let word = |word: &str| match word.len() > LONG {
        true => word.replace('/', "/<wbr>"),
        false => word.to_owned(),
    };
    let words: Vec<String> = markup.split(' ').map(word).collect();
    words.join(" ")
}

/// Limits the length of a text. Fathom's own words have a normal length, but untrusted text among them may be
/// arbitrarily long.
fn bounded_words(text: &str) -> String {
    match text.len() > LONGEST {
        true => bounded(text, LONGEST),
        false => text.to_owned(),
    }
}

fn list(out: &mut String, title: &str, names: &[String]) {
    put!(
        *out,
        "<details><summary>{title} ({})</summary><ul>\n",
        names.len()
    );
    for one in names.iter().take(MOST_NAMES) {
        put!(*out, "<li><code>{}</code></li>\n", name(one));
    }
    if names.len() > MOST_NAMES {
        put!(*out, "<li>and {} more</li>\n", names.len() - MOST_NAMES);
    }
    out.push_str("</ul></details>\n");
}

impl Table {
    /// Formats the table as markup. It can be sorted by each of its columns; without scripts, it is a plain
    /// table.
    pub(crate) fn html(&self) -> String {
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"sortable\"><caption class=\"hidden\">{0}</caption>\n<thead><tr>",
            escaped(self.caption)
        );
        let shown = || self.columns.iter().filter(|column| column.on_page);
        for column in shown() {
            let head = words(&column.head.replace('\n', " "));
            put_cell(&mut out, "th scope=\"col\"", column.kind, &head, "");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (class, cells) in self.rows.iter().take(MOST_ROWS) {
            match *class {
                "" => out.push_str("<tr>"),
                class => put!(out, "<tr class=\"{class}\">"),
            }
            for (cell, column) in cells.iter().zip(&self.columns) {
                if column.on_page {
                    put_cell(&mut out, "td", column.kind, &cell.html(), &cell.more());
                }
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        if let Some(more @ 1..) = self.rows.len().checked_sub(MOST_ROWS) {
            let more = format_count(more as f64);
            put!(
                out,
                "<p class=\"small soft\">{more} more rows: see the record.</p>\n"
            );
        }
        out
    }
}

impl Cell {
    fn html(&self) -> String {
        let text = match (&self.markup, self.is_name) {
            (Some(markup), _) => markup.clone(),
            (None, true) => name(&bounded(&self.text, LONGEST_NAME)),
            (None, false) => words(&self.text),
        };
        let mut out = match (self.is_strong, self.tone.map_or("", class)) {
            (true, class) => format!("<strong class=\"{class}\">{text}</strong>"),
            (false, "") => text,
            (false, class) => format!("<span class=\"{class}\">{text}</span>"),
        };
        if !self.code.is_empty() {
            put!(out, "<code>{}</code>", name(&self.code));
        }
        for line in &self.lines {
            put!(out, "<br>{}", words(line));
        }
        for remark in self.small.iter().chain(&self.hidden) {
            put!(out, "<small>{}</small>", words(&bounded_words(remark)));
        }
        out
    }

    /// Returns the attributes of the cell.
    fn more(&self) -> String {
        let mut more = String::new();
        if let Some(value) = self.sort {
            put!(more, " data-sort=\"{value}\"");
        }
        if !self.title.is_empty() {
            put!(more, " title=\"{}\"", escaped(&bounded(&self.title, 400)));
        }
        more
    }
}

fn put_cell(out: &mut String, tag: &str, kind: Kind, markup: &str, more: &str) {
    let class = match kind {
        Kind::Name => " class=\"name\"",
        Kind::Words => " class=\"words\"",
        Kind::Number => "",
    };
    let end = tag.split(' ').next().unwrap_or(tag);
    put!(*out, "<{tag}{class}{more}>{markup}</{end}>");
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
