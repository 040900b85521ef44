//! Reports of `fathom pipe`: a screen of text with a chart, a page, JSON.

mod answer;
mod chart;
mod document;
mod svg;
mod tables;
mod view;

pub use document::{pipe_html, pipe_terminal};
