//! The options of `fathom export`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::options::ReadStore;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom export --format hyperfine bench.json -o hyperfine.json
  fathom export --format gobench old.json > old.txt
  fathom export --format bencher @-1
  fathom export --format openmetrics --metric wall 'parse*' -o parse.om

Forms: hyperfine (JSON of 1.x), bencher (Bencher's metric format), gobench (Go's text, for benchstat), \
github-action-benchmark (customSmallerIsBetter), openmetrics, csv (as import reads it), jsonl \
(everything). docs/import.md says what each can carry.

Exit codes: 0 done, 2 wrong arguments, or a source that can't be read.")]
pub(crate) struct Arguments {
    /// Record files of Fathom or of another tool; records of the store (@-1, a label, the beginning of an id
    /// or of a revision); or benchmarks, for their series
    #[arg(value_name = "RECORD|SERIES", required = true)]
    pub sources: Vec<String>,

    /// The format: hyperfine, bencher, gobench, github-action-benchmark, openmetrics, csv or jsonl
    #[arg(long, value_name = "FORMAT")]
    pub format: String,

    /// Export only this metric, such as wall. May be repeated
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,

    #[command(flatten)]
    pub read: ReadStore,

    /// Write to this file ('-' is standard output, the default)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
