//! Writes a document to a terminal.

use std::collections::{HashMap, HashSet};

use super::table::Look;
use super::{Block, Cell, Document, Kind, Table};
use crate::line::{Line, Page, Tone};
use crate::text::{columns, wrap};

/// The minimum width of the name column once no other column can be dropped.
const SHORTEST_NAME: usize = 12;
/// Number of blanks between two columns.
const GAP: usize = 2;
/// The minimum width of the text at the end of a row.
const WORDS: usize = 24;
/// Indentation of the remarks of a row.
const REMARK: usize = 4;
/// Indentation of a table in a document.
const INDENT: usize = 2;

/// Writes all blocks; notes come last.
pub(crate) fn write(page: &mut Page, document: &Document) {
    blocks(page, document, true);
}

/// Writes the blocks. With `parted`, an empty line precedes a heading even if it comes first.
fn blocks(page: &mut Page, document: &Document, parted: bool) {
    for (index, block) in document.blocks.iter().enumerate() {
        match block {
            Block::Gap => page.gap(),
            Block::Prose(indent, tone, text) => page.prose(*indent, *tone, text),
            Block::Fact(label, tone, text) => page.field(label, *tone, text),
            Block::Note(label, tone, text) => page.field(label, *tone, text),
            Block::Item(head, answer, text) => {
                page.prose(2, Tone::Plain, head);
                page.prose(6, Tone::Quiet, &format!("{answer}{text}"));
            }
            Block::Table(one) => match one.look {
                Look::Aligned => one.terminal(page, INDENT),
                Look::Stacked => stacked(page, one),
                Look::Wrapped => wrapped(page, one),
            },
            Block::Drawn(draw) => draw(page),
            Block::List(..) | Block::Folded(..) | Block::Picture(_) => {}
            Block::Section(heading, part) => {
                if parted || index > 0 {
                    page.gap();
                }
                page.prose(0, Tone::Strong, heading);
                blocks(page, part, false);
            }
        }
    }
}

/// Writes a sentence for each row, in the tone of its last cell.
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

/// Width of the last cell of a wrapped row.
const LAST: usize = 17;
/// The widths of the cells between the first and the last, in eighths of the available width.
const BETWEEN: [usize; 2] = [2, 3];
/// The minimum width of a cell.
const NARROWEST_CELL: usize = 9;

/// Writes several lines for each row of four cells: the first cell gets the remaining width. Remarks follow
/// below.
fn wrapped(page: &mut Page, table: &Table) {
    let room = page.width().saturating_sub(INDENT + LAST + 3 * GAP);
    let [second, third] = BETWEEN.map(|eighths| (room * eighths / 8).max(NARROWEST_CELL));
    let first = room.saturating_sub(second + third).max(NARROWEST_CELL);
    let widths = [first, second, third, LAST];
    let places = [
        INDENT,
        INDENT + first + GAP,
        INDENT + first + second + 2 * GAP,
        page.width() - LAST,
    ];
    let heads: Vec<&str> = table.columns.iter().map(|one| one.head.as_str()).collect();
    let mut head = Line::new().add(Tone::Strong, heads[0]);
    let mut end = columns(heads[0]);
    for (place, text) in places.into_iter().zip(&heads).skip(1) {
        // A long first head takes the space of the second.
        if end < place {
            head = head.pad_to(place).add(Tone::Quiet, *text);
            end = place + columns(text);
        }
    }
    page.push(head);
    for (_, cells) in &table.rows {
        let lines = cells.iter().zip(widths).map(|(cell, width)| {
            let lines = std::iter::once(&cell.text).chain(&cell.lines);
            let lines = lines.flat_map(|line| wrap(&breakable(&page.own(line), width), width));
            lines.collect::<Vec<String>>()
        });
        let lines: Vec<Vec<String>> = lines.collect();
        let height = lines.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let mut line = Line::new();
            for ((cell, lines), place) in cells.iter().zip(&lines).zip(places) {
                let text = lines.get(at).map_or("", String::as_str);
                line = line
                    .pad_to(place)
                    .add(cell.tone.unwrap_or(Tone::Plain), text);
            }
            page.push(line);
        }
        for remark in cells.iter().flat_map(|cell| &cell.small) {
            page.prose(6, Tone::Quiet, remark);
        }
    }
}

/// Breaks words that are wider than a cell, after punctuation inside them if there is any:
/// `share_wait_input.` and `counter:` instead of `share_wait_input.cou` and `nter:`.
fn breakable(text: &str, width: usize) -> String {
    const SIGNS: [char; 7] = ['.', ',', '(', '[', '=', '/', '_'];
    let mut out: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let mut word = word;
        while columns(word) > width {
            let fits = |end: &usize| columns(&word[..*end]) <= width;
            let ends = word.char_indices().filter(|(_, c)| SIGNS.contains(c));
            let Some(end) = ends.map(|(at, c)| at + c.len_utf8()).rfind(fits) else {
                break;
            };
            out.push(&word[..end]);
            word = &word[end..];
        }
        out.push(word);
    }
    out.join(" ")
}

/// A column prepared for the terminal.
struct Column<'a> {
    head: String,
    cells: Vec<(String, &'a Cell)>,
    right: bool,
    expendable: u8,
}

impl Column<'_> {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|(text, _)| columns(text));
        let heads = self.head.split('\n').map(columns);
        cells.chain(heads).max().unwrap_or(0)
    }

    /// Returns by how much a text column may exceed [`WORDS`]. If it is the last column, that part can wrap
    /// to the next line.
    fn overhang(&self) -> usize {
        match self.right {
            true => 0,
            false => self.width().saturating_sub(WORDS),
        }
    }

    /// Returns whether all cells of the column are absent, or whether it is expendable and its cells carry no
    /// information.
    fn is_idle(&self) -> bool {
        let idle = |(text, cell): &(String, &Cell)| match self.expendable {
            0 => cell.is_absent,
            _ => matches!(text.as_str(), "" | "0" | "-"),
        };
        self.cells.iter().all(idle)
    }
}

impl Table {
    /// Writes the heads, if there are any, and a line for each row with its remarks below. If the page is too
    /// narrow, the first column is shortened, but never a figure. A line that is wider than the page
    /// continues on the next one.
    pub(crate) fn terminal(&self, page: &mut Page, indent: usize) {
        let mut shown = shown(page, self);
        if shown.is_empty() {
            return;
        }
        let names = shown.remove(0);
        shown.retain(|column| !column.is_idle());
        let widest = names.width();
        let mut gap = self.gap;
        let room = loop {
            let widths = shown.iter().map(|column| column.width() + gap);
            let overhang = shown.last().map_or(0, Column::overhang);
            let taken = widths.sum::<usize>() - overhang;
            let room = page.width().saturating_sub(indent + taken);
            let most = (0..shown.len()).max_by_key(|at| shown[*at].expendable);
            match most.filter(|at| shown[*at].expendable > 0) {
                Some(most) if room < widest.min(self.kept) => drop(shown.remove(most)),
                _ if gap > 1 && room < widest.min(SHORTEST_NAME) => gap = 1,
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
                    true => gap + width - columns(&text),
                    false => gap,
                };
                line = line.pad_to(at + before).add(tone, text);
                at += gap + width;
            }
            line
        };
        let heads = shown.iter().map(|column| column.head.as_str());
        let height = height(&names.head, heads);
        for at in 0..height {
            let part = |head: &str| line_of(head, at, height);
            let head = page.fit(&part(&names.head), name_width);
            let head = Line::new().pad_to(indent).add(Tone::Quiet, head);
            page.push(line(head, &|column| (Tone::Quiet, part(&column.head))));
        }
        let texts: Vec<String> = names.cells.iter().map(|(text, _)| text.clone()).collect();
        for (row, name) in fitted(page, &texts, name_width).into_iter().enumerate() {
            let tone = names.cells[row].1.tone.unwrap_or(Tone::Plain);
            let start = begin(page, indent, name, name_width, tone);
            let cells = self.rows[row].1.iter().zip(&self.columns);
            let on_terminal = cells.filter(|(_, column)| column.on_terminal);
            let mut remarks = on_terminal.flat_map(|(cell, _)| &cell.small);
            let has_figures = shown.iter().any(|column| !column.cells[row].0.is_empty());
            match remarks.clone().next().filter(|_| !has_figures) {
                // If there are no figures, write the reason next to the name.
                Some(first) => {
                    remarks.next();
                    let at = indent + name_width + gap;
                    let text = page.fit(first, page.width().saturating_sub(at));
                    page.push(start.pad_to(at).add(Tone::Notice, text));
                }
                None => page.push(line(start, &|column| {
                    let (text, cell) = &column.cells[row];
                    (cell.tone.unwrap_or(Tone::Plain), text.clone())
                })),
            }
            for remark in remarks {
                page.prose(indent + REMARK, Tone::Quiet, remark);
            }
        }
    }
}

/// Returns the number of head lines; 0 if all heads are empty.
fn height<'a>(first: &str, others: impl Iterator<Item = &'a str> + Clone) -> usize {
    match first.is_empty() && others.clone().all(str::is_empty) {
        true => 0,
        false => others
            .map(|head| head.split('\n').count())
            .max()
            .unwrap_or(1),
    }
}

/// Returns one line of a head in a row of `height` lines; shorter heads are aligned to the last line.
fn line_of(head: &str, at: usize, height: usize) -> String {
    let above = height - head.split('\n').count();
    let at = at.checked_sub(above);
    at.and_then(|at| head.split('\n').nth(at))
        .unwrap_or_default()
        .to_owned()
}

fn shown<'a>(page: &Page, table: &'a Table) -> Vec<Column<'a>> {
    let columns = table.columns.iter().enumerate();
    let columns = columns.filter(|(_, column)| column.on_terminal);
    let text = |cell: &Cell| match (cell.is_name, cell.text.as_str()) {
        _ if cell.is_drawn => cell.text.clone(),
        _ if cell.is_absent => String::new(),
        (true, name) => page.clean(name),
        (false, "–") => "n/a".to_owned(),
        (false, words) => page.own(words).replace(crate::text::JOIN, " "),
    };
    let columns = columns.map(|(at, column)| Column {
        head: column
            .head
            .split('\n')
            .map(|line| page.own(line).replace(crate::text::JOIN, " "))
            .collect::<Vec<_>>()
            .join("\n"),
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

/// Starts the line of a row with its name. A name wider than its column gets its own line.
fn begin(page: &mut Page, indent: usize, name: String, width: usize, tone: Tone) -> Line {
    let line = Line::new().pad_to(indent);
    match columns(&name) {
        wide if wide <= width => return line.add(tone, name),
        wide if indent + wide <= page.width() => page.push(line.add(tone, name)),
        _ => page.verbatim(&name),
    }
    Line::new()
}

/// Returns the names in at most `width` columns. If two different names would be cut to the same text, both
/// are kept whole and are written above their figures.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Screen;

    #[test]
    fn a_long_name_is_broken_at_its_signs() {
        let lines = |text: &str| wrap(&breakable(text, 20), 20);
        assert_eq!(
            lines("share_wait_input.counter: 0.98"),
            ["share_wait_input.", "counter: 0.98"]
        );
        assert_eq!(
            lines("ratio(wall.a_long_name, wall.another_name[size=large]): 2"),
            [
                "ratio(wall.a_long_",
                "name,",
                "wall.another_name[",
                "size=large]): 2"
            ]
        );
        assert_eq!(
            lines("nosignatallinthislongword"),
            ["nosignatallinthislon", "gword"]
        );
        assert_eq!(lines("short  words"), ["short words"]);
    }

    #[test]
    fn names_that_would_be_cut_alike_stand_whole_above_their_figures() {
        let name = |n: &str| format!("BenchmarkSorting[n={n} threads=2 keys=text]");
        let names = [name("100"), name("10k"), "other".to_owned()];
        let mut table = Table::new("t")
            .column("benchmark", Kind::Name)
            .column("median", Kind::Number);
        for name in &names {
            table.row("", vec![Cell::name(name), Cell::words("1.00 ms")]);
        }
        let mut page = Page::new(&Screen {
            width: 40,
            ..Screen::default()
        });
        table.terminal(&mut page, 0);
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
