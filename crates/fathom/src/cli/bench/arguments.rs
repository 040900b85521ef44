//! The options of `fathom bench`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::fleet::{OnOptions, PlanOption};
use crate::cli::given_commands::GivenCommands;
use crate::cli::options::{Failures, MEASURED, RUN, Rounds, SHOWN};
use crate::cli::quantities::{self, MetricAndMargin};
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom bench 'gzip -k -c big.txt' 'zstd -c big.txt'
  fathom bench --input big.txt -- sort -u
  fathom bench -L level 1,6,9 'gzip -{level} -c big.txt' --export-markdown table.md
  fathom bench --metric peak_memory 'sort a.txt' 'sort -S 1M a.txt'
  fathom bench --try no-fsync -- ./import data.csv
  fathom bench -S 'git log | head' --json record.json --html page.html

Exit codes: 0 done, 2 wrong arguments, 3 a command failed, 4 the measurement can't be trusted, \
130 interrupted.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub given: GivenCommands,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten)]
    pub on: OnOptions,

    #[command(flatten)]
    pub plan: PlanOption,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Make exactly this many rounds
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs", "precision", "time"], help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub runs: Option<u32>,

    /// Make at least this many rounds (default: 10, unless the limit of --time is reached)
    #[arg(short, long, value_name = "N", help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub min_runs: Option<u32>,

    /// Make at most this many rounds
    #[arg(
        short = 'M',
        long,
        value_name = "N",
        help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub max_runs: Option<u32>,

    /// Measure at most this long (default: 10s, but at least 10 rounds); undecided comparisons then get a
    /// longer limit, such as 5m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = quantities::duration, help_heading = MEASURED)]
    pub time: Option<Duration>,

    /// Measure until all medians and ratios are known to within this share (such as 1%), instead of until
    /// decided
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, value_parser = quantities::share, help_heading = MEASURED)]
    pub precision: Option<f64>,

    /// Skip the check (0.3 s) whether the machine is as fast as when 'fathom machine' last measured it
    #[arg(long, help_heading = MEASURED)]
    pub no_canaries: bool,

    #[command(flatten)]
    pub rounds: Rounds,

    /// Compare by this metric, such as peak_memory, instead of by time; optionally with its own margin:
    /// peak_memory=5%. May be repeated
    #[arg(long, value_name = "METRIC[=SHARE]", value_parser = quantities::asked_metric, help_heading = MEASURED)]
    pub metric: Vec<MetricAndMargin>,

    /// Compare the command with itself without something: a wait, a variable, a CPU; or with something
    /// delayed, such as slope:writes. 'list' says what there is
    #[arg(long, value_name = "NAME|list", conflicts_with_all = ["reference", "command_name"], help_heading = MEASURED)]
    pub r#try: Option<String>,

    /// Order of the commands in each round: random, so that drift affects all alike, or as given, for steps
    /// that depend on each other
    #[arg(long, value_enum, default_value_t = Order::Random, help_heading = MEASURED)]
    pub order: Order,

    /// Compare with this command instead of with the first; it is measured as well
    #[arg(long, value_name = "COMMAND", help_heading = RUN)]
    pub reference: Option<OsString>,

    /// Run this once before everything, through a shell. Once for all commands or once for each
    #[arg(
        short,
        long,
        value_name = "COMMAND",
        help_heading = RUN
    )]
    pub setup: Vec<String>,

    /// Run this after each run, through a shell. Once for all commands or once for each
    #[arg(
        short = 'C',
        long,
        value_name = "COMMAND",
        help_heading = RUN
    )]
    pub conclude: Vec<String>,

    /// Run this once after everything, through a shell. Once for all commands or once for each
    #[arg(
        short,
        long,
        value_name = "COMMAND",
        help_heading = RUN
    )]
    pub cleanup: Vec<String>,

    /// Let {VAR} take the numbers from MIN to MAX: a benchmark for each
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], action = clap::ArgAction::Append, allow_negative_numbers = true, help_heading = RUN)]
    pub parameter_scan: Vec<String>,

    /// Step of the preceding scan
    #[arg(
        short = 'D',
        long,
        value_name = "STEP",
        allow_negative_numbers = true,
        help_heading = RUN
    )]
    pub parameter_step_size: Vec<String>,

    /// Let {VAR} take these values, separated by commas: a benchmark for each. May be repeated for
    /// all combinations
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"], action = clap::ArgAction::Append, help_heading = RUN)]
    pub parameter_list: Vec<String>,

    #[command(flatten)]
    pub failures: Failures,

    /// Let processes that a command leaves behind, such as a build tool's daemon that its next run uses, live
    /// until the end; otherwise they are killed before the next run
    #[arg(long, help_heading = RUN)]
    pub keep_daemons: bool,

    /// Standard output must be this file's content, or have this SHA-256. Checked in every run;
    /// output goes through a pipe. Once for all commands or once for each
    #[arg(long, value_name = "FILE|HASH", conflicts_with_all = ["output", "show_output"], help_heading = RUN)]
    pub expect_stdout: Vec<String>,

    /// Keep the size of the environment as it is, instead of varying it from run to run
    #[arg(long, help_heading = RUN)]
    pub fixed_environment_size: bool,

    /// Name a command in all output; once for each, in order
    #[arg(
        short = 'n',
        long,
        value_name = "NAME",
        help_heading = SHOWN
    )]
    pub command_name: Vec<String>,

    /// Output style
    #[arg(long, value_enum, default_value_t = Style::Auto, help_heading = SHOWN)]
    pub style: Style,

    /// Print one line for each command: name, median, interval, verdict
    #[arg(long, help_heading = SHOWN)]
    pub brief: bool,

    /// Print all details: after the answer the figures of each metric, how it was compared and measured, and
    /// what disturbed it
    #[arg(
        short,
        long,
        conflicts_with = "brief",
        help_heading = SHOWN
    )]
    pub verbose: bool,

    /// Order of the results
    #[arg(long, value_enum, default_value_t = Sort::Auto, help_heading = SHOWN)]
    pub sort: Sort,

    /// Unit of times
    #[arg(
        short = 'u',
        long,
        value_enum,
        help_heading = SHOWN
    )]
    pub time_unit: Option<TimeUnit>,

    /// Write the complete record: every run with every metric. Complete after every run, even if killed. '-'
    /// is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,

    /// Write one HTML page that needs no network: verdict, figures, distribution and order of the runs, every
    /// metric, and how it was measured. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub html: Option<PathBuf>,

    /// Write JSON in hyperfine's shape
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub export_json: Option<PathBuf>,

    /// Write CSV with hyperfine's columns
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub export_csv: Option<PathBuf>,

    /// Write a Markdown table
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub export_markdown: Option<PathBuf>,

    /// Write an AsciiDoc table
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub export_asciidoc: Option<PathBuf>,

    /// Write an Org-mode table
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub export_orgmode: Option<PathBuf>,
}

/// Values of `--style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    /// Colour and progress on a terminal only
    Auto,
    /// Neither colour nor progress
    Basic,
    /// Both, always
    Full,
    /// Progress without colour
    Nocolor,
    /// Colour without progress
    Color,
    /// Print nothing
    None,
}

/// Values of `--order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// A new order for each round
    Random,
    /// As given
    Fixed,
}

/// Values of `--sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// As given
    Auto,
    /// As given
    Command,
    /// Fastest first, by median
    #[value(alias = "mean-time")]
    Median,
}

/// Values of `--time-unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeUnit {
    /// µs
    Microsecond,
    /// ms
    Millisecond,
    /// s
    Second,
    /// min
    Minute,
}
