//! What `fathom startup` says: a screen of text, a page with bars, JSON.

mod answer;
mod cold;
mod cores;
mod html;
mod phases;
mod pictures;
mod programs;
mod standstill;
mod tables;
mod terminal;
mod verdicts;
mod waits;
mod words;

use fathom_model::StartupRecord;

pub use html::startup_html;
pub use terminal::startup_terminal;

/// What the machine did to the runs, for each program that it did something to: a label and a
/// sentence.
fn machine_notes(record: &StartupRecord) -> Vec<(&'static str, String)> {
    let programs = || 0..record.programs.len();
    let waited = programs().filter_map(|program| waits::of(record, program));
    let shared = programs().filter_map(|program| cores::of(record, program));
    let stood = programs().filter_map(|program| standstill::of(record, program));
    waited.chain(shared).chain(stood).collect()
}
