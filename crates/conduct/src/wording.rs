//! Sentences of a record that are worded where all text is.

use fathom_model::{PipeNote, PipeRecord, TimedRuns};

/// How a record says some things; the room that words them is above this one.
#[derive(Debug, Clone, Copy)]
pub struct Wording {
    /// `12 untraced runs, median 651.2 ms, 95 % interval 648.0 to 655.1 ms`
    pub timed_runs: fn(&TimedRuns) -> String,
    /// What must be known of a pipeline, most important first.
    pub pipe_notes: fn(&PipeRecord) -> Vec<PipeNote>,
}
