//! Pipelines: what each stage did in a traced round, and how long the pipeline would take if a stage took no
//! time.
//!
//! [`observed_round`] reads the trace of a round, [`summarize`] summarizes the timed rounds, [`modelled`]
//! derives the consequences, and [`notes()`] returns the remarks as sentences.

mod by_stage;
pub mod modelled;
mod notes;
mod observed;
mod picture;
mod summary;
mod timeline;

pub use notes::notes;
pub use observed::{ObservedRound, observed_round};
pub use summary::summarize;
