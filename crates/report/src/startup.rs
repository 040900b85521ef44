//! Reports of `fathom startup`: a screen of text, a page with bars, JSON.

mod answer;
mod cold;
mod cores;
mod distributions;
mod document;
mod phases;
mod pictures;
mod programs;
mod standstill;
mod verdicts;
mod waits;
mod words;

pub use document::{startup_html, startup_terminal};
