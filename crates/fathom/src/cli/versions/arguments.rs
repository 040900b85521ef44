//! The options of `fathom versions`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fathom_model::Metric;

use crate::cli::fleet::{OnOptions, PlanOption};
use crate::cli::options::{BuildOptions, Failures, MEASURED, Rounds, SHOWN};
use crate::cli::quantities;
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;

const CHOSEN: &str = "Which versions, and how to build them";

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(mut_arg("ignore_failure", |one| one.help("Continue after failed runs, or only after those with these exit codes. Otherwise, a version whose first run \
     fails is skipped")))]
#[command(after_help = "Examples:
  fathom versions v1.0..v2.0 --build 'cargo build --release' -- ./target/release/tool input.txt
  fathom versions v1.0.. --every 10 --build make -- ./tool '{repo}/big.txt'
  fathom versions --of 0.1.2,0.2.3,0.8.4 -- ppbert-{version} a.bert

Each version is checked out into a folder of its own, built once and kept for the next time. Your files, index, \
branches and worktrees are not touched. The command runs in that folder: {repo} is your own tree, {version} the tag, \
{revision} the full id.

Exit codes: 0 done, 2 wrong arguments, 3 no version builds and runs, 4 the measurement can't be trusted, \
130 interrupted.")]
pub(crate) struct Arguments {
    /// Tags from FROM to TO, both included; without TO, up to HEAD. If there are no tags, twelve evenly
    /// spaced revisions
    #[arg(value_name = "FROM..TO")]
    pub range: Option<String>,

    /// The command, as separate words
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<OsString>,

    /// Measure installed versions instead of revisions, oldest first, separated by commas
    #[arg(long, value_name = "VERSIONS", conflicts_with_all = ["range", "build", "every", "rebuild", "cache_size"], help_heading = CHOSEN)]
    pub of: Option<String>,

    /// Measure every N-th revision instead of tags; at merges, follow the side that was merged into
    #[arg(long, value_name = "N", value_parser = quantities::at_least_one, help_heading = CHOSEN, allow_negative_numbers = true)]
    pub every: Option<u32>,

    #[command(flatten, next_help_heading = CHOSEN)]
    pub builds: BuildOptions,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten)]
    pub failures: Failures,

    /// Make exactly this many rounds
    #[arg(short, long, visible_alias = "rounds", value_name = "N", conflicts_with = "time", value_parser = quantities::at_least_one, help_heading = MEASURED, allow_negative_numbers = true)]
    pub runs: Option<u32>,

    /// Measure for at most this long, not counting builds (default: 5m)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration, help_heading = MEASURED, allow_hyphen_values = true)]
    pub time: Option<Duration>,

    /// Follow this metric, such as peak_memory (default: the clock that carries verdicts)
    #[arg(long, value_name = "METRIC", value_parser = quantities::metric, help_heading = MEASURED)]
    pub metric: Option<Metric>,

    #[command(flatten)]
    pub rounds: Rounds,

    /// Save it under this name (default: the name of the suite's benchmark with this command, else the
    /// command as written)
    #[arg(short = 'n', long, value_name = "NAME", help_heading = "What is kept")]
    pub command_name: Option<String>,

    #[command(flatten)]
    pub on: OnOptions,

    #[command(flatten)]
    pub plan: PlanOption,

    /// Make one job for each N versions; the last version of a job is the first of the next. Together, the
    /// jobs have the error rate of a single job
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u32).range(2..), help_heading = "On another machine")]
    pub spread: Option<u32>,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Show all versions and steps, and the complete tail of the output of failed builds
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write the complete record as JSON. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,
}
