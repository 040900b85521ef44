//! A document on a terminal.

use std::collections::{HashMap, HashSet};

use super::{Block, Cell, Document, Kind, Table};
use crate::line::{Line, Page, Tone};
use crate::text::columns;

/// Columns that a name keeps at least: before that, columns that can go do so.
const NAME_KEPT: usize = 16;
/// Columns that a name keeps where none can go.
const SHORTEST_NAME: usize = 12;
/// Blanks between two columns.
const GAP: usize = 2;
/// Columns before a table in a document.
const INDENT: usize = 2;

/// Writes all blocks; notes come last.
pub(crate) fn write(page: &mut Page, document: &Document) {
    for block in &document.blocks {
        match block {
            Block::Gap => page.gap(),
            Block::Prose(indent, tone, text) => page.prose(*indent, *tone, text),
            Block::Fact(label, tone, text) => page.field(label, *tone, text),
            Block::Note(label, tone, text) => page.field(label, *tone, text),
            Block::Table(one) if one.stacked => stacked(page, one),
            Block::Table(one) => table(page, one, INDENT),
            Block::Drawn(draw) => draw(page),
            Block::List(..) | Block::Folded(..) | Block::Picture(_) => {}
            Block::Section(heading, part) => {
                page.gap();
                page.prose(0, Tone::Strong, heading);
                write(page, part);
            }
        }
    }
}

/// A sentence for each row, in the tone of its last cell.
fn stacked(page: &mut Page, table: &Table) {
    let on_terminal: Vec<bool> = table.columns.iter().map(|one| one.on_terminal).collect();
    for (_, cells) in &table.rows {
        let shown = cells.iter().zip(&on_terminal);
        let shown = shown.filter(|(cell, shown)| **shown && !cell.text.is_empty());
        let texts: Vec<&str> = shown.map(|(cell, _)| cell.text.as_str()).collect();
        let tone = cells.last().and_then(|cell| cell.tone);
        page.prose(INDENT, tone.unwrap_or(Tone::Plain), &texts.join(": "));
    }
}

/// A column as it stands here.
struct Column<'a> {
    head: String,
    cells: Vec<(String, &'a Cell)>,
    right: bool,
    expendable: u8,
}

impl Column<'_> {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|(text, _)| columns(text));
        cells.max().unwrap_or(0).max(columns(&self.head))
    }

    /// Whether it may go, and all its cells say nothing.
    fn is_idle(&self) -> bool {
        let idle = |(text, _): &(String, &Cell)| matches!(text.as_str(), "" | "0" | "-");
        self.expendable > 0 && self.cells.iter().all(idle)
    }
}

/// Writes the heads and a line for each row: the first column gives way where there is no room, a
/// figure never does. A line that is wider than the page goes on in the next one.
pub(crate) fn table(page: &mut Page, table: &Table, indent: usize) {
    let mut shown = shown(page, table);
    if shown.is_empty() {
        return;
    }
    let names = shown.remove(0);
    shown.retain(|column| !column.is_idle());
    let widest = names.width();
    let room = loop {
        let taken: usize = shown.iter().map(|column| column.width() + GAP).sum();
        let room = page.width().saturating_sub(indent + taken);
        let most = (0..shown.len()).max_by_key(|at| shown[*at].expendable);
        match most.filter(|at| shown[*at].expendable > 0) {
            Some(most) if room < widest.min(NAME_KEPT) => drop(shown.remove(most)),
            _ => break room,
        }
    };
    let name_width = widest.min(room.max(SHORTEST_NAME));
    let line = |start: Line, cell: &dyn Fn(&Column) -> (Tone, String)| {
        let mut at = indent + name_width;
        let mut line = start;
        for column in &shown {
            let width = column.width();
            let (tone, text) = cell(column);
            let before = match column.right {
                true => GAP + width - columns(&text),
                false => GAP,
            };
            line = line.pad_to(at + before).add(tone, text);
            at += GAP + width;
        }
        line
    };
    let head = page.fit(&names.head, name_width);
    let head = Line::new().pad_to(indent).add(Tone::Quiet, head);
    page.push(line(head, &|column| (Tone::Quiet, column.head.clone())));
    let texts: Vec<String> = names.cells.iter().map(|(text, _)| text.clone()).collect();
    for (row, name) in fitted(page, &texts, name_width).into_iter().enumerate() {
        let tone = names.cells[row].1.tone.unwrap_or(Tone::Plain);
        let start = begin(page, indent, name, name_width, tone);
        page.push(line(start, &|column| {
            let (text, cell) = &column.cells[row];
            (cell.tone.unwrap_or(Tone::Plain), text.clone())
        }));
    }
}

fn shown<'a>(page: &Page, table: &'a Table) -> Vec<Column<'a>> {
    let columns = table.columns.iter().enumerate();
    let columns = columns.filter(|(_, column)| column.on_terminal);
    let text = |cell: &Cell| match (cell.is_name, cell.text.as_str()) {
        (true, name) => page.clean(name),
        (false, "–") => "n/a".to_owned(),
        (false, words) => page.own(words).replace(crate::text::JOIN, " "),
    };
    let columns = columns.map(|(at, column)| Column {
        head: page.own(&column.head).replace(crate::text::JOIN, " "),
        cells: table
            .rows
            .iter()
            .map(|(_, cells)| (text(&cells[at]), &cells[at]))
            .collect(),
        right: column.kind == Kind::Number,
        expendable: column.expendable,
    });
    columns.collect()
}

/// The line of a row after its name. A name wider than its column has a line of its own.
pub(crate) fn begin(
    page: &mut Page,
    indent: usize,
    name: String,
    width: usize,
    tone: Tone,
) -> Line {
    let line = Line::new().pad_to(indent);
    match columns(&name) {
        wide if wide <= width => return line.add(tone, name),
        wide if indent + wide <= page.width() => page.push(line.add(tone, name)),
        _ => page.verbatim(&name),
    }
    Line::new()
}

/// The names in at most `width` columns. Where two that differ would be cut to the same text, both stay
/// whole: they stand above their figures.
pub(crate) fn fitted(page: &Page, names: &[String], width: usize) -> Vec<String> {
    let mut meant: HashMap<String, HashSet<&str>> = HashMap::new();
    for name in names {
        meant.entry(page.fit(name, width)).or_default().insert(name);
    }
    let fit = |name: &String| {
        let cut = page.fit(name, width);
        match meant[&cut].len() {
            1 => cut,
            _ => page.clean(name),
        }
    };
    names.iter().map(fit).collect()
}
