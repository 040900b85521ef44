//! What `fathom why` says: a screen of text, a page with a picture, JSON and Markdown.

mod account;
mod bar;
mod columns;
mod findings;
mod json;
mod markdown;
mod processes;
mod quote;
mod startup;
mod summary;
mod tables;
mod terminal;
mod words;

pub use json::explain_json;
pub use markdown::explain_markdown;
pub use terminal::{WhyOptions, explain_terminal};
