//! What `fathom run` writes: claims beside what was published and what was measured.

mod html;
mod json;
mod markdown;
mod plan;
mod terminal;
mod words;

pub use html::experiment_html;
pub use json::experiment_json;
pub use markdown::experiment_markdown;
pub use plan::plan_terminal;
pub use terminal::{CatalogueRow, catalogue_terminal, experiment_terminal, summary_terminal};
