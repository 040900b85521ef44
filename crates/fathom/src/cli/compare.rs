//! `fathom compare`: compares two sides that were measured at different times.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;
use fathom_conduct::compare::ComparePlan;
use fathom_report as report;

use crate::cli::completions::benchmarks;
use crate::cli::failure::{Failure, UNTRUSTED};
use crate::cli::options::{Margin, ReadStore};
use crate::cli::{screen, write};

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom compare main HEAD                what was measured of both revisions
  fathom compare v1.2 v1.3 parse          labels, one benchmark
  fathom compare @-2 @-1                  the last two records that were saved
  fathom compare before.json after.json   record files: Fathom's, hyperfine's, or another tool's

Both sides were not measured in the same rounds, so the interval is as wide as separate measurements of this \
series differ here; with fewer than four earlier ones 5 % is assumed. What stays undecided is decided by measuring both \
together: the command is printed. docs/history.md says how it is computed.

Exit codes: 0 done, 2 wrong arguments, or nothing of that name, 4 nothing could be compared.")]
pub(crate) struct Arguments {
    /// The side to compare with: a revision, a label, a record's id, @-2, or a record file
    #[arg(value_name = "BASE")]
    pub base: String,

    /// The side to compare, given in the same way
    #[arg(value_name = "HEAD")]
    pub head: String,

    /// Only these benchmarks: names, or parts of names; * matches any letters
    #[arg(value_name = "SERIES", add = ArgValueCandidates::new(benchmarks))]
    pub series: Vec<String>,

    /// Compare this metric, such as peak_memory (default: the main one of each benchmark)
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    #[command(flatten)]
    pub margin: Margin,

    /// Also use measurements of a tree whose tracked files differed from the revision
    #[arg(long)]
    pub dirty: bool,

    /// Also compare measurements from different environments, with a warning
    #[arg(long)]
    pub across: bool,

    /// Show every comparison, each with the command that measures both sides together
    #[arg(short, long)]
    pub verbose: bool,

    /// Write the comparisons as JSON; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    #[command(flatten)]
    pub read: ReadStore,
}

/// Compares, prints and writes. Returns the exit code.
///
/// # Errors
/// A side that doesn't exist, a store that can't be read, a file that can't be written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(&[&arguments.json])?;
    let here = std::env::current_dir().unwrap_or_default();
    let record = fathom_conduct::compare::compare(
        &ComparePlan {
            store: arguments.read.store.clone(),
            base: arguments.base.clone(),
            head: arguments.head.clone(),
            benchmarks: arguments.series.clone(),
            metric: arguments.metric.clone(),
            margin: arguments.margin.margin,
            dirty: arguments.dirty,
            across: arguments.across,
        },
        &here,
    )?;
    let screen = screen::of_stdout(arguments.verbose);
    write::results(
        || report::compare_terminal(&record, &screen),
        &[(arguments.json.as_deref(), &|| report::json(&record))],
    )?;
    Ok(match record.comparisons.is_empty() {
        true => UNTRUSTED,
        false => 0,
    })
}
