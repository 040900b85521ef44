//! The options of `fathom run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::fleet::OnOptions;
use crate::cli::quantities;
use crate::cli::saving::SaveOptions;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom run experiments/head-start
  fathom run experiment.toml --plan
  fathom run experiment.toml --quick --only 'buffer*' --html report.html
  fathom run --list PATH/TO/fathom/experiments
  fathom run --all --quick
  fathom run --revisions v1.0..HEAD

An experiment file runs programs: --plan shows every command and runs none. The format is described \
in docs/experiments.md.

Exit codes: 0 done, 1 a claim that is a budget does not hold, 2 wrong arguments or file, 3 a program \
failed, 4 a budget could not be judged, 130 interrupted.")]
pub(crate) struct Arguments {
    /// Experiment files, or folders with an experiment.toml
    #[arg(value_name = "FILE|DIR")]
    pub experiments: Vec<PathBuf>,

    /// Show every command that would be run, in order, without running any
    #[arg(long)]
    pub plan: bool,

    /// List the catalogue, or that of the given folders: experiments that can run here come first
    #[arg(long, conflicts_with_all = ["plan", "all", "resume", "install"])]
    pub list: bool,

    /// With --list: also run the checks of the tools, which are commands defined by the files
    #[arg(long, requires = "list")]
    pub check: bool,

    /// Run the whole catalogue
    #[arg(long, conflicts_with_all = ["experiments", "only"])]
    pub all: bool,

    /// Folder of the catalogue: `experiments` in Fathom's sources
    #[arg(long, value_name = "DIR", default_value = "experiments")]
    pub catalogue: PathBuf,

    /// Use the quick set: fewer rounds, smaller inputs, fewer parameter values, a limit on the time
    #[arg(long)]
    pub quick: bool,

    /// Select only these measures, subjects and claims; * and ? match characters
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub only: Vec<String>,

    /// Install missing tools by package name, into the experiment's own folder if the package manager
    /// supports that
    #[arg(long)]
    pub install: bool,

    /// Continue an interrupted run
    #[arg(long)]
    pub resume: bool,

    /// Measure each experiment at most this long, not counting builds (default: the limit in the file, else
    /// 30s with --quick)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration)]
    pub time: Option<Duration>,

    /// End all experiments within this time, including builds: each gets its share, and anything that would
    /// start later is skipped (default: 8min with --all --quick)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration, conflicts_with = "install")]
    pub within: Option<Duration>,

    /// Folder for builds, inputs and records; with several experiments, each gets a folder in it (default:
    /// .fathom next to the file)
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,

    /// Measure the suite on past commits from A to B, inclusive, each saved under its revision; without B up
    /// to HEAD: at tags, or if there are none at twelve evenly spaced revisions
    #[arg(long, value_name = "A..B", conflicts_with_all = ["plan", "list", "all", "install", "resume", "work", "readme", "export_markdown", "html", "json"])]
    pub revisions: Option<String>,

    /// With --revisions: every N-th revision instead of tags; for merges, follow the first parent
    #[arg(long, value_name = "N", value_parser = quantities::at_least_one, requires = "revisions", allow_negative_numbers = true)]
    pub every: Option<u32>,

    /// With --revisions: keep at most this much of the checkouts and builds
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = quantities::size, requires = "revisions")]
    pub cache_size: u64,

    /// Write the figures into README.md next to each file, between its markers, and into figures.svg and
    /// figures.md
    #[arg(long, conflicts_with_all = ["only", "plan", "list"])]
    pub readme: bool,

    /// With --list: also show the published results that each experiment covers, and what it lacks here
    #[arg(short, long, requires = "list")]
    pub verbose: bool,

    /// Write a report in Markdown
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "list"])]
    pub export_markdown: Option<PathBuf>,

    /// Write a report as an HTML page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "list"])]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub on: OnOptions,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Write the record as JSON ('-' is standard output); with --plan or --list, the plan or the
    /// list
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
