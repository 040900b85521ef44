//! The output of `fathom bisect`: text and JSON.

mod answer;
mod terminal;

pub use terminal::bisect_terminal;
