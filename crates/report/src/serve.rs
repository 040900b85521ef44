//! Reports of `fathom serve`: a screen of text, a page, JSON.

mod answer;
mod calls;
mod cold;
mod compared;
mod document;
mod histogram;
mod loads;
mod pictures;
mod ramp;
mod tables;
mod websocket;
mod words;

pub(crate) use document::parts;
pub use document::{serve_html, serve_terminal};
pub use words::{ServeProgress, serve_progress};
