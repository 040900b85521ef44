//! The options of `fathom ui`.

use clap::Args;
use clap_complete::ArgValueCandidates;

use crate::cli::completions::benchmarks;
use crate::cli::options::ReadStore;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom ui                               opens a browser, if this is a terminal
  fathom ui 'parse*'
  fathom ui --port 8080 --no-open         prints the address
  fathom ui --store postgres://perf@db.example/perf

The page shows what `fathom report` writes, and is brought up to date while others measure. It is answered on this \
machine only, to who has the whole address: the token in it is new each time. Nothing can be changed by it. \
Ctrl-C ends it.

Exit codes: 0 ended by Ctrl-C, 2 wrong arguments, or the store can't be read.")]
pub(crate) struct Arguments {
    /// Benchmarks: names, or parts of names; * stands for any characters. All if none is given
    #[arg(value_name = "SERIES", add = ArgValueCandidates::new(benchmarks))]
    pub series: Vec<String>,

    /// Listen on this port (default: a free one)
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,

    /// Don't open a browser
    #[arg(long)]
    pub no_open: bool,

    #[command(flatten)]
    pub read: ReadStore,
}
