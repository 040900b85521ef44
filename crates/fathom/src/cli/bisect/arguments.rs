//! The options of `fathom bisect`.

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

const CHOSEN: &str = "How to build revisions";

/// See the help texts.
#[derive(Debug, Args)]
#[command(mut_arg("ignore_failure", |one| one.help("Continue after failed runs, or only after those with these exit codes. Otherwise, a revision whose first run \
     fails is skipped")))]
#[command(after_help = "Examples:
  fathom bisect v1.0 HEAD --build 'cargo build --release' -- ./target/release/tool input.txt
  fathom bisect HEAD~50 HEAD --metric peak_memory --build make -- ./tool '{repo}/big.txt'

GOOD is the older end, BAD the newer; whichever of them takes more. Both are compared first: if they are the same, \
there is nothing to find. Each revision between is measured in the same rounds as both, and the one that is left \
is compared with its parent. A wrong revision is named in at most 5 % of searches.

Exit codes: 0 done, also if nothing was found, 2 wrong arguments, 3 GOOD or BAD can't be built or run, \
4 the measurement can't be trusted, 130 interrupted.")]
pub(crate) struct Arguments {
    /// The older revision
    #[arg(value_name = "GOOD")]
    pub good: Option<String>,

    /// The newer revision, a descendant of GOOD
    #[arg(value_name = "BAD")]
    pub bad: Option<String>,

    /// The command, word by word
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<OsString>,

    #[command(flatten, next_help_heading = CHOSEN)]
    pub builds: BuildOptions,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten)]
    pub failures: Failures,

    /// Search for the change of this metric, such as peak_memory (default: the clock used for verdicts)
    #[arg(long, value_name = "METRIC", value_parser = quantities::metric, help_heading = MEASURED)]
    pub metric: Option<Metric>,

    /// Measure at most this long in total, not counting builds (default: 5m for each revision)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration, help_heading = MEASURED, allow_hyphen_values = true)]
    pub time: Option<Duration>,

    #[command(flatten)]
    pub rounds: Rounds,

    #[command(flatten)]
    pub on: OnOptions,

    #[command(flatten)]
    pub plan: PlanOption,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Show the complete last output of failing builds
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write the complete record as JSON. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,
}
