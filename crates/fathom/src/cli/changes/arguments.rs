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
    /// Benchmarks: names, or parts of names; * stands for any letters
    #[arg(value_name = "SERIES", add = ArgValueCandidates::new(benchmarks))]
    pub series: Vec<String>,

    /// Read the series from this file: a line for each point, with the columns series, index and value, or a line
    /// for each measurement with a column for each series, as Otava has it. Commas, semicolons or tabulators
    /// stand between
    #[arg(long, value_name = "FILE", conflicts_with_all = ["series", "metric", "store"])]
    pub csv: Option<PathBuf>,

    /// Of a file with a column branch only the lines of this one; else each branch is a series of its own
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub branch: Option<String>,

    /// This metric, such as peak_memory, in place of the main one of each benchmark; * stands for any
    /// letters
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    #[command(flatten)]
    pub read: ReadStore,

    /// An earlier --json of the same series: change points keep their id, and those that moved or were
    /// withdrawn since are said
    #[arg(long, value_name = "FILE")]
    pub previous: Option<PathBuf>,

    /// Show all series, all change points and the spikes
    #[arg(long)]
    pub all: bool,

    /// Write the complete result as JSON; '-' for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
