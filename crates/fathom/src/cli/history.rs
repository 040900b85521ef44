//! `fathom history`: shows measurements over time.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;
use fathom_conduct::changes::change_positions;
use fathom_conduct::history::{Found, HistoryPlan};
use fathom_report as report;

use crate::cli::completions::benchmarks;
use crate::cli::failure::Failure;
use crate::cli::options::ReadStore;
use crate::cli::{screen, write};

/// The number of points to show for a series in a list, which is the length of its sparkline.
const LISTED: usize = 16;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom history                          every benchmark: last value, change, sparkline
  fathom history parse                    one: plot and points with revision, date, interval
  fathom history 'parse*' --metric peak_memory
  fathom history parse --since v1.2 --csv parse.csv

SERIES is a benchmark's name, with * for any letters, or a part of one. Without --metric the main metric of each \
is shown (wall); --json and --csv hold all. docs/history.md says what is kept and where.

Exit codes: 0 done, 2 wrong arguments, or the store can't be read.")]
pub(crate) struct Arguments {
    /// Benchmarks: names, or parts of names; * matches any letters
    #[arg(value_name = "SERIES", add = ArgValueCandidates::new(benchmarks))]
    pub series: Vec<String>,

    /// Only this metric, such as peak_memory; * matches any letters
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Only measurements since a date, a revision (and its descendants) or a label
    #[arg(long, value_name = "REV|DATE")]
    pub since: Option<String>,

    /// Show every series and every point
    #[arg(short, long)]
    pub verbose: bool,

    /// Write all points as JSON; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write all points as CSV; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    #[command(flatten)]
    pub read: ReadStore,
}

/// Reads, prints and writes. Returns the exit code.
///
/// # Errors
/// A store that can't be read, a name that doesn't exist, a file that can't be written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let files = [&arguments.json, &arguments.csv];
    write::check(&files)?;
    let files = write::given(&files);
    let here = std::env::current_dir().unwrap_or_default();
    let plan = |main_only: bool| HistoryPlan {
        store: arguments.read.store.clone(),
        benchmarks: arguments.series.clone(),
        metric: arguments.metric.clone(),
        since: arguments.since.clone(),
        main_only,
        newest: main_only.then_some(LISTED),
        read: (main_only && !arguments.verbose).then_some(report::HISTORY_SHOWN),
    };
    if !files.is_empty() {
        let found = fathom_conduct::history::history(&plan(false), &here)?;
        if let Some(path) = &arguments.json {
            write::export(path, report::json(&found.record))?;
        }
        if let Some(path) = &arguments.csv {
            write::export(path, report::history_csv(&found.record))?;
        }
    }
    if !files.into_iter().any(write::is_stdout) {
        let found = fathom_conduct::history::history(&plan(true), &here)?;
        write::print(&shown(arguments, &found))?;
    }
    Ok(0)
}

/// Formats one series with its points, or one line for each of several series.
fn shown(arguments: &Arguments, found: &Found) -> String {
    let screen = screen::of_stdout(arguments.verbose);
    let asked = !arguments.series.is_empty() || arguments.metric.is_some();
    match found.record.series.as_slice() {
        [one] if asked => report::history_series(
            &found.record,
            one,
            &change_positions(one),
            &found.other_metrics,
            &screen,
        ),
        _ => report::history_list(&found.record, found.other_metrics.len(), &screen),
    }
}
