//! What `fathom serve` says: a screen of text, JSON.

mod answer;
mod calls;
mod cold;
mod compared;
mod json;
mod loads;
mod terminal;
mod websocket;
mod words;

pub use json::serve_json;
pub use terminal::{ServeOptions, serve_terminal};
pub use words::{ServeProgress, serve_progress};
