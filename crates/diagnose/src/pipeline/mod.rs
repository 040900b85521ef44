//! Pipelines: what each stage did in a traced round, and what the pipeline would cost if a stage
//! were free.
//!
//! [`observed_round`] reads the trace of a round, [`summarize`] the timed rounds, and [`modelled`]
//! says what follows.

mod by_stage;
pub mod modelled;
mod observed;
mod picture;
mod summary;
mod timeline;

pub use observed::{ObservedRound, observed_round};
pub use summary::summarize;
