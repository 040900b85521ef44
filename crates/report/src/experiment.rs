//! What `fathom run` writes: claims beside what was published and what was measured.

mod drawing;
mod figures;
mod html;
mod markdown;
mod medians;
mod pictures;
mod plan;
mod tables;
mod terminal;
mod words;

pub use drawing::experiment_picture;
pub use figures::{
    FIGURES_BEGIN, FIGURES_END, FIGURES_PICTURE, FIGURES_TABLES, FiguresError, check_figures,
    experiment_figures, with_figures,
};
pub use html::experiment_html;
pub use markdown::experiment_markdown;
pub use medians::{RunMedian, run_medians_terminal};
pub use plan::plan_terminal;
pub use tables::experiment_tables;
pub use terminal::{catalogue_terminal, experiment_terminal, summary_terminal};
