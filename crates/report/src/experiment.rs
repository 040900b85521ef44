//! What `fathom run` writes: claims beside what was published and what was measured.

mod json;
mod plan;
mod terminal;
mod words;

pub use json::experiment_json;
pub use plan::plan_terminal;
pub use terminal::{CatalogueRow, catalogue_terminal, experiment_terminal, summary_terminal};
