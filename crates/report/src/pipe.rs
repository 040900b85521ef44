//! What `fathom pipe` says: a screen of text with a chart, a page, JSON.

mod alone;
mod chart;
mod delay;
mod html;
mod json;
mod statements;
mod svg;
mod tables;
mod terminal;
mod view;

pub use html::pipe_html;
pub use json::pipe_json;
pub use statements::pipe_statements;
pub use terminal::{PipeOptions, pipe_terminal};
