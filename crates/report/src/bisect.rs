//! What `fathom bisect` says: a screen of text, JSON.

mod answer;
mod json;
mod terminal;

pub use json::bisect_json;
pub use terminal::bisect_terminal;
