//! The options of `fathom gate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use fathom_model::Metric;

use crate::cli::failure::Failure;
use crate::cli::fleet::{OnOptions, PlanOption};
use crate::cli::options::{Cache, Failures, MEASURED, Quiet, SHOWN, Seed};
use crate::cli::quantities::{self, MetricAndMargin};
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;

const COMPARED: &str = "What is compared";
const RULE: &str = "What counts as worse";

/// See the help texts.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  fathom gate                             the suite of fathom.toml: working tree against main
  fathom gate --base v1.2 --head HEAD --time 2m
  fathom gate --base-cmd './old input' --head-cmd './new input'
  fathom gate --stored main HEAD          what was measured before
  fathom gate accept parse-large --until 2027-01-31 --reason 'the new checksum, see #123'

A benchmark is worse if the interval of its paired ratio lies beyond the margin (3 %) and beyond this machine's \
noise, in rounds that found it and again in fresh ones. Margins, budgets and waivers are read from base. \
docs/gate.md says how often that errs.

Exit codes: 0 not worse, or cannot tell (see --undecided), 1 worse, 2 wrong arguments, 3 a command failed, \
4 the machine can't be trusted: base differed from itself, 130 interrupted.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Compare with the point where head branched off this branch or revision (default: gate.base of
    /// fathom.toml, else main)
    #[arg(long, value_name = "REV", help_heading = COMPARED)]
    pub base: Option<String>,

    /// Judge this revision (default: the working tree with its edits)
    #[arg(long, value_name = "REV", help_heading = COMPARED)]
    pub head: Option<String>,

    /// Compare two commands instead of a suite: the command to compare with
    #[arg(long, value_name = "COMMAND", requires = "head_cmd", conflicts_with_all = ["base", "head", "only", "stored"], help_heading = COMPARED)]
    pub base_cmd: Option<String>,

    /// The command to judge
    #[arg(long, value_name = "COMMAND", requires = "base_cmd", help_heading = COMPARED)]
    pub head_cmd: Option<String>,

    /// Judge earlier measurements, given as for `fathom compare`; nothing is measured
    #[arg(long, value_names = ["BASE", "HEAD"], num_args = 2, conflicts_with_all = ["base", "head", "time", "save", "no_save", "label", "on"], help_heading = COMPARED)]
    pub stored: Vec<String>,

    /// Only these benchmarks of the suite
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = COMPARED)]
    pub only: Vec<String>,

    /// Smallest change that counts, for all benchmarks (default: gate.margin at base, else 3%)
    #[arg(long, value_name = "SHARE", value_parser = quantities::share, allow_hyphen_values = true, help_heading = RULE)]
    pub margin: Option<f64>,

    /// Judge this metric, such as peak_memory, instead of time; optionally with its own margin:
    /// peak_memory=5%. Counts, such as read_calls, must not exceed those at base. May be repeated (default:
    /// gate.metrics at base, else time)
    #[arg(long, value_name = "METRIC[=SHARE]", value_parser = quantities::asked_metric, conflicts_with = "max_regression", help_heading = RULE)]
    pub metric: Vec<MetricAndMargin>,

    /// Whether an undecided suite passes (default: gate.undecided at base, else pass)
    #[arg(long, value_name = "pass|fail", help_heading = RULE)]
    pub undecided: Option<Undecided>,

    /// Judge by the fastest of --best-of runs instead: fail a benchmark that takes longer by more than this
    /// share. Also prints how often this rule fails identical code here
    #[arg(long, value_name = "SHARE", value_parser = quantities::share, allow_hyphen_values = true, conflicts_with_all = ["margin", "stored"], help_heading = RULE)]
    pub max_regression: Option<f64>,

    /// With --max-regression: fail if the geometric mean takes longer by more than this share
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = quantities::share, allow_hyphen_values = true, requires = "max_regression", help_heading = RULE)]
    pub max_geomean: f64,

    /// With --max-regression: use the fastest of this many runs of either side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = quantities::at_least_one, allow_negative_numbers = true, requires = "max_regression", help_heading = RULE)]
    pub best_of: u32,

    /// With --max-regression: this benchmark can't fail on its own, it only counts in the geometric mean. May
    /// be repeated
    #[arg(long, value_name = "NAME", requires = "max_regression", help_heading = RULE)]
    pub protect: Vec<String>,

    /// Measure at most this long, not counting builds
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = quantities::duration, allow_hyphen_values = true, help_heading = MEASURED)]
    pub time: Duration,

    /// Make this many warm-up rounds, which do not count
    #[arg(short, long, value_name = "N", value_parser = quantities::whole::<u32>, allow_negative_numbers = true, help_heading = MEASURED)]
    pub warmup: Option<u32>,

    #[command(flatten)]
    pub failures: Failures,

    #[command(flatten)]
    pub quiet: Quiet,

    #[command(flatten)]
    pub seed: Seed,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten, next_help_heading = MEASURED)]
    pub cache: Cache,

    #[command(flatten)]
    pub on: OnOptions,

    #[command(flatten)]
    pub plan: PlanOption,

    /// Run a job for each benchmark of the suite; together they are wrong no more often than one job
    #[arg(long, requires = "on", conflicts_with_all = ["base_cmd", "max_regression"], help_heading = "On another machine")]
    pub spread: bool,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Show all benchmarks
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write the complete record as JSON; '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,

    #[command(flatten)]
    pub forms: Forms,
}

impl Arguments {
    /// Returns the given metrics, with their margins.
    ///
    /// # Errors
    /// If one is given twice.
    pub(super) fn metrics(&self) -> Result<Vec<(Metric, Option<f64>)>, Failure> {
        quantities::each_once(&self.metric)?;
        let all = self.metric.iter();
        Ok(all.map(|one| (one.metric, one.margin)).collect())
    }
}

/// Output formats other than JSON.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = SHOWN)]
pub(crate) struct Forms {
    /// Write a comment in Markdown: only what changed, and an empty file if nothing changed
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Write a test report as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write annotations: GitHub's workflow commands; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub github: Option<PathBuf>,

    /// Write annotations: GitLab's Code Quality report
    #[arg(long, value_name = "FILE")]
    pub gitlab: Option<PathBuf>,
}

/// The exit code for `cannot tell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undecided {
    /// 0
    Pass,
    /// 1
    Fail,
}

/// Subcommands that don't measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Add a waiver to fathom.toml, so that a known change passes until a given day
    Accept(Accept),
    /// Write a gate's JSON in other formats, for example in a second job that doesn't measure
    Render(Render),
}

/// See the help texts.
#[derive(Debug, Args)]
pub(crate) struct Accept {
    /// The benchmark
    #[arg(value_name = "NAME")]
    pub name: String,

    /// The last day of the waiver, such as 2027-01-31
    #[arg(long, value_name = "DATE")]
    pub until: String,

    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// The largest change that is accepted, such as 15% (default: any)
    #[arg(long, value_name = "SHARE", value_parser = ceiling)]
    pub at_most: Option<String>,

    /// The metric
    #[arg(long, value_name = "METRIC", default_value = "wall")]
    pub metric: String,
}

/// See the help texts.
#[derive(Debug, Args)]
pub(crate) struct Render {
    /// The output of `fathom gate --json`; other files are refused
    #[arg(value_name = "FILE")]
    pub record: PathBuf,

    #[command(flatten)]
    pub forms: Forms,
}

fn ceiling(text: &str) -> Result<String, String> {
    match fathom_experiment::file::share_of(text) {
        Some(_) => Ok(text.trim().to_owned()),
        None => Err("write a share such as 15%".to_owned()),
    }
}
