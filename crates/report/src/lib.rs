//! Everything that a person or a program reads: of `bench`, `versions`, `bisect`, `why`, `pipe`,
//! `startup`, `serve`, `machine` and `run`.
//!
//! Pure functions from the records of [`fathom_model`] to text: the terminal's report, the progress
//! line, the pages and the exports. Nothing here measures, computes statistics that a verdict rests
//! on, opens a file or reads a clock. `docs/numbers.md` says what each printed number means.

mod axis;
mod bench;
mod bisect;
mod changes;
mod distribution;
mod experiment;
mod export;
mod gate;
mod grid;
mod history;
mod import;
mod line;
mod machine;
mod page;
mod pipe;
mod progress;
mod quantity;
mod report;
mod serve;
mod session;
mod startup;
mod terminal;
mod text;
mod versions;
mod waits;
mod why;
mod words;

pub use bench::bench_html;
pub use bisect::{bisect_json, bisect_terminal};
pub use changes::{ChangesOptions, changes_json, changes_terminal};
pub use experiment::{
    FIGURES_BEGIN, FIGURES_END, FIGURES_PICTURE, FIGURES_TABLES, FiguresError, RunMedian,
    catalogue_json, catalogue_terminal, check_figures, experiment_figures, experiment_html,
    experiment_json, experiment_markdown, experiment_picture, experiment_tables,
    experiment_terminal, plan_json, plan_terminal, run_medians_terminal, summary_terminal,
    with_figures,
};
pub use export::{asciidoc, csv, hyperfine_json, json, markdown, orgmode};
pub use gate::{
    GateOptions, gate_github, gate_gitlab, gate_json, gate_junit, gate_markdown, gate_terminal,
};
pub use history::{
    HISTORY_SHOWN, HistoryOptions, compare_json, compare_terminal, failed_requests, history_csv,
    history_json, history_list, history_series, store_json, store_terminal,
};
pub use import::{ImportOptions, import_json, import_terminal};
pub use machine::{
    MachineOptions, machine_check_sentence, machine_check_terminal, machine_figure, machine_html,
    machine_terminal,
};
pub use page::Origin;
pub use pipe::{PipeOptions, pipe_html, pipe_json, pipe_terminal};
pub use progress::{Progress, progress_line};
pub use quantity::{TimeUnit, format_bytes, format_count, format_time};
pub use report::{
    ReportRows, report_html, report_live, report_part, report_place, report_site, report_versions,
};
pub use serve::{
    ServeOptions, ServeProgress, serve_html, serve_json, serve_progress, serve_terminal,
};
pub use startup::{StartupOptions, startup_html, startup_json, startup_terminal};
pub use terminal::{Longer, SortOrder, Style, TerminalOptions, terminal, terminal_with};
pub use text::{columns, escape, guarded, shorten};
pub use versions::{RevisionOptions, versions_json, versions_terminal};
pub use why::{
    DifferenceOptions, WhyOptions, difference_json, difference_parts, difference_terminal,
    difference_whole, explain_html, explain_json, explain_markdown, explain_terminal,
};
pub use words::{all_words, explain_word, similar_words};
