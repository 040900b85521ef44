//! What `fathom bisect` says: a screen of text, JSON.

mod answer;
mod terminal;

pub use terminal::bisect_terminal;
