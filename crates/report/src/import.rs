//! Reports of `fathom import` on other tools' files, on the terminal and in JSON.

mod terminal;

pub use terminal::{ImportOptions, import_terminal};
