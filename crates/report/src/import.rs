//! What `fathom import` says of other tools' files, on the terminal and in JSON.

mod json;
mod terminal;

pub use json::import_json;
pub use terminal::{ImportOptions, import_terminal};
