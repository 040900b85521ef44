//! Formats a document as GitHub Markdown.

use super::{Block, Cell, Document, Kind, Table};
use crate::line::Tone;
use crate::text::JOIN;

/// Converts a text to Markdown that shows exactly its characters.
pub(crate) type Plain = fn(&str) -> String;

/// Formats all blocks; headings begin at this level.
pub(crate) fn markdown(document: &Document, plain: Plain, level: usize) -> String {
    let mut out = String::new();
    let own = |text: &str| plain(&text.replace(JOIN, " "));
    let mut in_list = false;
    for block in &document.blocks {
        let is_item = matches!(block, Block::Item(..));
        if !(is_item && in_list || matches!(block, Block::Gap | Block::Drawn(_))) {
            out.push('\n');
        }
        in_list = is_item;
        out.push_str(&match block {
            Block::Prose(_, Tone::Strong | Tone::Bad, text) => format!("**{}**\n", own(text)),
            Block::Prose(_, _, text) | Block::Note(_, _, text) => own(text) + "\n",
            Block::Fact(label, _, text) => format!("{}: {}\n", own(label), own(text)),
            Block::Item(head, answer, text) if answer.is_empty() => {
                format!("- {}{}\n", own(head), own(text))
            }
            Block::Item(head, answer, text) => {
                format!("- {} **{}**{}\n", own(head), own(answer), own(text))
            }
            Block::Table(table) | Block::Folded(_, table) => table.markdown(plain),
            Block::List(title, names) => format!("{title}: {}\n", own(&names.join(", "))),
            Block::Picture(markup) => markup.clone(),
            Block::Gap | Block::Drawn(_) => String::new(),
            Block::Section(heading, part) => {
                let below = markdown(part, plain, level + 1);
                format!("{} {}\n{below}", "#".repeat(level), own(heading))
            }
        });
    }
    out
}

impl Table {
    /// Formats the table, with its column heads.
    pub(crate) fn markdown(&self, plain: Plain) -> String {
        let shown: Vec<usize> = (0..self.columns.len())
            .filter(|at| self.columns[*at].on_page)
            .collect();
        let row = |cell: &dyn Fn(usize) -> String| {
            let cells = shown.iter().map(|at| match cell(*at) {
                empty if empty.is_empty() => " |".to_owned(),
                text => format!(" {text} |"),
            });
            format!("|{}\n", cells.collect::<String>())
        };
        let head = row(&|at| plain(&self.columns[at].head.replace([JOIN, '\n'], " ")));
        let aligned = shown.iter().map(|at| match self.columns[*at].kind {
            Kind::Number => "---:|",
            Kind::Name | Kind::Words => ":---|",
        });
        let mut out = format!("{head}|{}\n", aligned.collect::<String>());
        for (_, cells) in &self.rows {
            out.push_str(&row(&|at| cells[at].markdown(plain)));
        }
        out
    }
}

impl Cell {
    fn markdown(&self, plain: Plain) -> String {
        let own = |text: &String| plain(&text.replace(JOIN, " "));
        let first = match self.is_strong {
            true => format!("**{}**", own(&self.text)),
            false => own(&self.text),
        };
        let more = self.lines.iter().chain(&self.small).map(own);
        let all: Vec<String> = std::iter::once(first).chain(more).collect();
        all.join("<br>")
    }
}
