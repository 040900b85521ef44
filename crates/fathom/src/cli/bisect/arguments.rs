//! The options of `fathom bisect`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fathom_model::Metric;

use crate::cli::quantities;
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;

const CHOSEN: &str = "How revisions are built";
const MEASURED: &str = "How much is measured";
const SHOWN: &str = "What is shown and written";

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom bisect v1.0 HEAD --build 'cargo build --release' -- ./target/release/tool input.txt
  fathom bisect HEAD~50 HEAD --metric peak_memory --build make -- ./tool '{repo}/big.txt'

GOOD is the older end, BAD the newer; whichever of them takes more. Both are compared first: if they are the same, \
there is nothing to find. Each revision between is measured in the same rounds as both, and the one that is left \
is compared with its parent. A wrong revision is named in at most 5 % of searches.

Exit codes: 0 done, also if nothing was found, 2 wrong arguments, 3 GOOD or BAD can't be built or run, \
4 the measurement can't be trusted, 130 interrupted.")]
pub(crate) struct Arguments {
    /// The older end
    #[arg(value_name = "GOOD")]
    pub good: Option<String>,

    /// The newer end, which descends from it
    #[arg(value_name = "BAD")]
    pub bad: Option<String>,

    /// The command, word by word
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<OsString>,

    /// Build each revision with this command, by sh, in its own files
    #[arg(long, value_name = "COMMAND", help_heading = CHOSEN)]
    pub build: Option<String>,

    /// Build again what was built, or failed, before
    #[arg(long, help_heading = CHOSEN)]
    pub rebuild: bool,

    /// Keep at most so much of what was built; what was not used for the longest time goes first
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = quantities::size, help_heading = CHOSEN)]
    pub cache_size: u64,

    #[command(flatten)]
    pub run_options: RunOptions,

    /// Go on when a run fails: all failures, or only these exit codes. Else a revision whose first
    /// run fails is left out
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, default_missing_value = "all-non-zero", require_equals = true, help_heading = "What is run, and how")]
    pub ignore_failure: Option<String>,

    /// Search what changed this metric, such as peak_memory (default: the clock that carries
    /// verdicts)
    #[arg(long, value_name = "METRIC", value_parser = quantities::metric, help_heading = MEASURED)]
    pub metric: Option<Metric>,

    /// Measure at most this long in all, builds not counted (default: 5m for each revision)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration, help_heading = MEASURED, allow_hyphen_values = true)]
    pub time: Option<Duration>,

    /// Make this many warm-up rounds for each revision, which do not count
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = quantities::whole::<u32>, help_heading = MEASURED, allow_negative_numbers = true)]
    pub warmup: u32,

    /// Call differences up to this share the same
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = quantities::share, help_heading = MEASURED, allow_hyphen_values = true)]
    pub margin: f64,

    /// Wait until the machine is quiet, at most this long, and end with code 4 if it is not then
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "60s", require_equals = true, value_parser = quantities::duration, help_heading = MEASURED)]
    pub require_quiet: Option<Duration>,

    /// Repeat the random order of this seed
    #[arg(long, value_name = "N", value_parser = quantities::whole::<u64>, help_heading = MEASURED, allow_negative_numbers = true)]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Show the whole end of what failing builds wrote
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write the complete record as JSON. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,
}
