//! Reports of `fathom run`: claims, published figures and measurements.

mod catalogue;
mod claims;
mod document;
mod drawing;
mod figures;
mod medians;
mod pictures;
mod plan;
mod tables;
mod words;

pub use catalogue::{catalogue_terminal, summary_terminal};
pub use document::{experiment_html, experiment_markdown, experiment_terminal};
pub use drawing::experiment_picture;
pub use figures::{
    FIGURES_BEGIN, FIGURES_END, FIGURES_PICTURE, FIGURES_TABLES, FiguresError, check_figures,
    experiment_figures, with_figures,
};
pub use medians::{RunMedian, run_medians_terminal};
pub use plan::plan_terminal;
pub use tables::experiment_tables;
