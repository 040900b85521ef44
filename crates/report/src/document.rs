//! What a report says, whatever it is shown on: a terminal, a page or Markdown.
//!
//! All texts may hold names from outside: what writes a document makes them safe for its form.

mod html;
mod markdown;
mod table;
mod terminal;

pub(crate) use html::{class, html, html_below};
pub(crate) use markdown::markdown;
pub(crate) use table::{Cell, Kind, Place, Table};
pub(crate) use terminal::{fitted, write};

use crate::line::{Page, Tone};

/// What a document is for: it decides how much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A screen of text.
    Brief,
    /// All that is known, as text.
    Full,
    Page,
    /// A part of a page of many records.
    Excerpt,
    Markdown,
}

impl Form {
    /// Whether pictures are drawn: not on a terminal.
    pub(crate) fn has_pictures(self) -> bool {
        matches!(self, Form::Page | Form::Excerpt)
    }

    /// On a terminal.
    pub(crate) fn on(screen: &crate::Screen) -> Form {
        match screen.verbose {
            true => Form::Full,
            false => Form::Brief,
        }
    }
}

/// Blocks, one below the other.
#[derive(Default)]
pub(crate) struct Document<'a> {
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A part of a document.
pub(crate) enum Block<'a> {
    /// An empty line on a terminal.
    Gap,
    /// A paragraph, on a terminal that many columns from the left.
    Prose(usize, Tone, String),
    /// A label and what is said beside it.
    Fact(String, Tone, String),
    /// What must be known to trust the numbers.
    Note(&'static str, Tone, String),
    /// A question, its answer in a word, and what is said of that.
    Item(String, String, String),
    Table(Table),
    /// Names, of which a page shows the first when they are asked for.
    List(&'static str, Vec<String>),
    /// A table of a page that is long: it is shown when it is asked for.
    Folded(&'static str, Table),
    /// A picture of a page: markup of Fathom's own, in which everything else was escaped.
    Picture(String),
    /// A picture of a terminal.
    Drawn(Box<dyn Fn(&mut Page) + 'a>),
    /// Blocks below their heading.
    Section(String, Document<'a>),
}

impl<'a> Document<'a> {
    pub(crate) fn gap(&mut self) {
        self.blocks.push(Block::Gap);
    }

    pub(crate) fn prose(&mut self, indent: usize, tone: Tone, text: impl Into<String>) {
        self.blocks.push(Block::Prose(indent, tone, text.into()));
    }

    pub(crate) fn fact(&mut self, label: impl Into<String>, tone: Tone, text: impl Into<String>) {
        self.blocks
            .push(Block::Fact(label.into(), tone, text.into()));
    }

    pub(crate) fn note(&mut self, label: &'static str, tone: Tone, text: impl Into<String>) {
        self.blocks.push(Block::Note(label, tone, text.into()));
    }

    pub(crate) fn item(&mut self, head: &str, answer: &str, text: String) {
        self.blocks
            .push(Block::Item(head.to_owned(), answer.to_owned(), text));
    }

    pub(crate) fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    pub(crate) fn folded(&mut self, title: &'static str, table: Table) {
        if !table.is_empty() {
            self.blocks.push(Block::Folded(title, table));
        }
    }

    pub(crate) fn picture(&mut self, markup: String) {
        if !markup.is_empty() {
            self.blocks.push(Block::Picture(markup));
        }
    }

    pub(crate) fn drawn(&mut self, draw: impl Fn(&mut Page) + 'a) {
        self.blocks.push(Block::Drawn(Box::new(draw)));
    }

    pub(crate) fn list(&mut self, title: &'static str, names: Vec<String>) {
        if !names.is_empty() {
            self.blocks.push(Block::List(title, names));
        }
    }

    /// What needs no heading on a terminal: an empty line parts it from what is above.
    pub(crate) fn headed(
        &mut self,
        form: Form,
        heading: &str,
        fill: impl FnOnce(&mut Document<'a>),
    ) {
        if form.has_pictures() {
            return self.section(heading, fill);
        }
        self.gap();
        fill(self);
    }

    /// A section, unless `fill` puts nothing into it.
    pub(crate) fn section(
        &mut self,
        heading: impl Into<String>,
        fill: impl FnOnce(&mut Document<'a>),
    ) {
        let mut part = Document::default();
        fill(&mut part);
        if !part.blocks.is_empty() {
            self.blocks.push(Block::Section(heading.into(), part));
        }
    }
}
