//! The options of `fathom import`.

use std::path::PathBuf;

use clap::Args;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  go test -bench . | fathom import -
  fathom import target/criterion --save --label v1.2
  fathom import results/*.json --keep-going --json all.json

What a file is, is seen from its content, never from its name. docs/import.md lists the formats, and \
what is taken from each. Samples stay samples and summaries stay summaries: a mean is never taken for \
a measurement. Without --save nothing is stored, also in a project.

Exit codes: 0 done, 2 wrong arguments, or a file that can't be read.")]
pub(crate) struct Arguments {
    /// Files or folders with results of other tools; '-' is standard input
    #[arg(value_name = "FILE|DIR", required = true)]
    pub sources: Vec<PathBuf>,

    /// The format of all files, such as gobench or csv, where it can't be seen from the content
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,

    /// Import the other files where one can't be read; without it, all or none
    #[arg(long)]
    pub keep_going: bool,

    /// Show every series and every reason for what was left out
    #[arg(short, long)]
    pub verbose: bool,

    /// Write the records as JSON ('-' is standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
