//! The options of `fathom changes`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;

use crate::cli::completions::benchmarks;
use crate::cli::options::ReadStore;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom changes                          all series of the store
  fathom changes 'parse-*' --metric wall
  fathom changes --csv results.csv        columns series,index,value, or time and a column for each series
  fathom changes --csv results.csv --previous before.json --json now.json

A change point is where a series changed its level for good: a step, or a slow drift. Single points that
lie far off are spikes and change nothing. docs/changes.md says how they are found and how often that errs.

Exit codes: 0 done, whether something changed or not, 2 wrong arguments or nothing to read.")]
pub(crate) struct Arguments {
    /// Benchmarks: names, or parts of names; * matches any letters
    #[arg(value_name = "SERIES", add = ArgValueCandidates::new(benchmarks))]
    pub series: Vec<String>,

    /// Read the series from this file: a line for each point, with the columns series, index and value, or a
    /// line for each measurement with a column for each series, in Otava's format. Columns are separated by
    /// commas, semicolons or tabs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["series", "metric", "store"])]
    pub csv: Option<PathBuf>,

    /// In a file with a branch column, only read the lines of this branch; otherwise each branch is a series
    /// of its own
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub branch: Option<String>,

    /// Use this metric, such as peak_memory, instead of the main one of each benchmark; * matches any letters
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    #[command(flatten)]
    pub read: ReadStore,

    /// An earlier --json of the same series: change points keep their ids, and those that were moved or
    /// withdrawn since are reported
    #[arg(long, value_name = "FILE")]
    pub previous: Option<PathBuf>,

    /// Show all series, all change points and the spikes
    #[arg(long)]
    pub all: bool,

    /// Write the complete result as JSON; '-' is standard output, instead of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
