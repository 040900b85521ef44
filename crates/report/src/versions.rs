//! Reports of `fathom versions`: a screen of text, JSON.

mod answer;
mod figures;
mod steps;
mod table;
mod terminal;

pub use terminal::versions_terminal;

pub(crate) use figures::{Figures, called, change_in_words};
