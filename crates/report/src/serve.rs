//! What `fathom serve` says: a screen of text, a page, JSON.

mod answer;
mod calls;
mod cold;
mod compared;
mod histogram;
mod html;
mod loads;
mod pictures;
mod tables;
mod terminal;
mod websocket;
mod words;

pub(crate) use html::parts;
pub use html::serve_html;
pub use terminal::serve_terminal;
pub use words::{ServeProgress, serve_progress};
