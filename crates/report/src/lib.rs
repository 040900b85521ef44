//! Formats all output for people and programs: for `bench`, `versions`, `bisect`, `why`, `pipe`, `startup`,
//! `serve`, `machine` and `run`.
//!
//! Pure functions from the records of [`fathom_model`] to text: the terminal's report, the progress line, the
//! pages and the exports. Nothing here measures, computes statistics that affect a verdict, opens a file or
//! reads a clock. `docs/numbers.md` explains each printed number.

mod axis;
mod bench;
mod bisect;
mod changes;
mod distribution;
mod document;
mod experiment;
mod gate;
mod history;
mod import;
mod json;
mod line;
mod machine;
mod page;
mod pipe;
mod progress;
mod quantity;
mod screen;
mod sentences;
mod serve;
mod session;
mod site;
mod startup;
mod text;
mod versions;
mod waits;
mod why;
mod words;

pub use bench::{
    Longer, SortOrder, TerminalOptions, asciidoc, bench_html, csv, hyperfine_json, markdown,
    orgmode, terminal, terminal_with,
};
pub use bisect::bisect_terminal;
pub use changes::{ChangesOptions, changes_terminal};
pub use experiment::{
    FIGURES_BEGIN, FIGURES_END, FIGURES_PICTURE, FIGURES_TABLES, FiguresError, RunMedian,
    catalogue_terminal, check_figures, experiment_figures, experiment_html, experiment_markdown,
    experiment_picture, experiment_tables, experiment_terminal, plan_terminal,
    run_medians_terminal, summary_terminal, with_figures,
};
pub use gate::{gate_github, gate_gitlab, gate_junit, gate_markdown, gate_terminal};
pub use history::{
    HISTORY_SHOWN, compare_terminal, failed_requests, history_csv, history_list, history_series,
    store_terminal,
};
pub use import::{ImportOptions, import_terminal};
pub use json::{json, json_of_all};
pub use machine::{
    MachineOptions, machine_check_sentence, machine_check_terminal, machine_figure, machine_html,
    machine_terminal,
};
pub use page::Origin;
pub use pipe::{pipe_html, pipe_terminal};
pub use progress::{Progress, progress_line};
pub use quantity::{TimeUnit, format_bytes, format_count, format_metric, format_time};
pub use screen::Screen;
pub use sentences::{
    bench_sentences, compare_sentence, difference_sentence, explain_sentence, proof_sentence,
    saving_sentence,
};
pub use serve::{ServeProgress, serve_html, serve_progress, serve_terminal};
pub use site::{
    ReportRows, report_html, report_live, report_part, report_place, report_site, report_versions,
};
pub use startup::{startup_html, startup_terminal};
pub use text::{columns, escape, guarded, shorten};
pub use versions::versions_terminal;
pub use why::{
    ProfileForm, WhyOptions, difference_html, difference_parts, difference_terminal,
    difference_whole, explain_html, explain_markdown, explain_sarif, explain_terminal, profile,
};
pub use words::{all_words, explain_word, known_words, similar_words};
