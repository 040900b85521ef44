//! `fathom bench`: its final output, its page, and its exports for other programs and for documents.

mod document;
mod export;
mod figures;
mod html;
mod pictures;
mod tables;
mod terminal;

pub(crate) use export::code;
pub use export::{asciidoc, csv, hyperfine_json, markdown, orgmode};
pub use html::bench_html;
pub(crate) use terminal::verdict::{Answer, answers as verdicts};
pub use terminal::{Longer, SortOrder, TerminalOptions, terminal, terminal_with};
