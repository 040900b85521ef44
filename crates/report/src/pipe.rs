//! What `fathom pipe` says: a screen of text with a chart, a page, JSON.

mod answer;
mod chart;
mod html;
mod svg;
mod tables;
mod terminal;
mod view;

pub use html::pipe_html;
pub use terminal::pipe_terminal;
