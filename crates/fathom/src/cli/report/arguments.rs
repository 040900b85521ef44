//! The options of `fathom report`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::options::ReadStore;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom report --html report.html        everything in the store, on one page
  fathom report 'parse*' --html parse.html
  fathom report --base v1.2 --html report.html
  fathom report before.json after.json --html change.html
  fathom report --site public/            an index and a page for each benchmark

SERIES is a benchmark's name, with * for any letters, or a part of one. RECORD is a file that a verb wrote with \
--json, of gate, serve and versions, too. A page needs no network and loads nothing. Writing a site again touches \
only the files that change. docs/report.md says what is on a page.

Exit codes: 0 done, 2 wrong arguments, or nothing to read.")]
pub(crate) struct Arguments {
    /// Benchmarks: names, or parts of names; or record files (default: everything in the store)
    #[arg(value_name = "SERIES|RECORD")]
    pub asked: Vec<String>,

    /// Write a single page; '-' is standard output
    #[arg(long, value_name = "FILE", required_unless_present = "site")]
    pub html: Option<PathBuf>,

    /// Write an index and a page for each benchmark into this folder, which is created if it doesn't exist
    #[arg(long, value_name = "DIR")]
    pub site: Option<PathBuf>,

    /// Use this metric for each benchmark, such as peak_memory; * matches any letters
    #[arg(long, value_name = "METRIC")]
    pub metric: Option<String>,

    /// Compare with the measurement of this label or revision (default: the newest with a label, else the
    /// first)
    #[arg(long, value_name = "REV|LABEL")]
    pub base: Option<String>,

    #[command(flatten)]
    pub read: ReadStore,
}
