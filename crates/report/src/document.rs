//! The content of a report, independent of its medium: a terminal, a page or Markdown.
//!
//! All texts may contain untrusted names: the writer of each form escapes them.

mod html;
mod markdown;
mod table;
mod terminal;

pub(crate) use html::{class, html, html_below};
pub(crate) use markdown::markdown;
pub(crate) use table::{Cell, Kind, Place, Table};
pub(crate) use terminal::{fitted, write};

use crate::line::{Page, Tone};

/// The form of a document, which decides how much detail it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A screenful of text.
    Brief,
    /// All details, as text.
    Full,
    Page,
    /// An excerpt within a page of many records.
    Excerpt,
    Markdown,
}

impl Form {
    /// Returns whether the form has pictures; a terminal doesn't.
    pub(crate) fn has_pictures(self) -> bool {
        matches!(self, Form::Page | Form::Excerpt)
    }

    /// Returns the form for a terminal.
    pub(crate) fn on(screen: &crate::Screen) -> Form {
        match screen.verbose {
            true => Form::Full,
            false => Form::Brief,
        }
    }
}

/// A list of blocks, one below the other.
#[derive(Default)]
pub(crate) struct Document<'a> {
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A part of a document.
pub(crate) enum Block<'a> {
    /// An empty line on a terminal.
    Gap,
    /// A paragraph, indented by this many columns on a terminal.
    Prose(usize, Tone, String),
    /// A label with its text.
    Fact(String, Tone, String),
    /// A note that is needed to trust the numbers.
    Note(&'static str, Tone, String),
    /// A question, a one-word answer, and an explanation.
    Item(String, String, String),
    Table(Table),
    /// A list of names. A page shows the first ones on demand.
    List(&'static str, Vec<String>),
    /// A long table, which a page shows on demand.
    Folded(&'static str, Table),
    /// A picture for a page: Fathom's own markup, with everything else escaped.
    Picture(String),
    /// A picture for a terminal.
    Drawn(Box<dyn Fn(&mut Page) + 'a>),
    /// A heading with its blocks.
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

    /// Adds content that needs no heading on a terminal, where an empty line separates it from the text
    /// above.
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

    /// Adds a section, unless `fill` adds nothing to it.
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
