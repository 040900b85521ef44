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
a measurement. Without --save (or --store, --label) nothing is stored, also in a project. A record is \
saved under the commit and the time that its file names, else under those of now and here.

Exit codes: 0 done, 2 wrong arguments, or a file that can't be read.")]
pub(crate) struct Arguments {
    /// Files or folders with results of other tools; '-' is standard input
    #[arg(value_name = "FILE|DIR", required = true)]
    pub sources: Vec<PathBuf>,

    /// The format of all files, such as gobench or csv, if it can't be recognized from the content
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,

    /// Import the other files if one can't be read; by default, all or none
    #[arg(long)]
    pub keep_going: bool,

    /// Save the records in the store
    #[arg(long)]
    pub save: bool,

    /// Save them in this store: a file, or postgres://USER@HOST/DATABASE (default: FATHOM_STORE, else
    /// the project's .fathom/, else your own)
    #[arg(long, value_name = "PATH|URL")]
    pub store: Option<String>,

    /// Save them with this label, such as a version. May be repeated
    #[arg(long, value_name = "NAME")]
    pub label: Vec<String>,

    /// Show every series and every reason for omitting something
    #[arg(short, long)]
    pub verbose: bool,

    /// Write the records as JSON ('-' is standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
