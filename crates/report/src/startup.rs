//! What `fathom startup` says: a screen of text, a page with bars, JSON.

mod cold;
mod cores;
mod html;
mod json;
mod phases;
mod programs;
mod svg;
mod tables;
mod terminal;
mod verdicts;
mod waits;
mod words;

pub use html::startup_html;
pub use json::startup_json;
pub use terminal::{StartupOptions, startup_terminal};
