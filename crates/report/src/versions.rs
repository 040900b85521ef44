//! What `fathom versions` says: a screen of text, JSON.

mod answer;
mod figures;
mod json;
mod steps;
mod table;
mod terminal;

pub use json::versions_json;
pub use terminal::{RevisionOptions, versions_terminal};

pub(crate) use figures::{Figures, called, change_in_words};
