//! The options of `fathom pipe`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::options::{MEASURED, SHOWN, Seed};
use crate::cli::quantities;
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;

/// See the help texts.
#[derive(Debug, Args)]
#[command(mut_arg("input", |input| input.help("Standard input of the first stage: 'null' or a file")))]
#[command(mut_arg("output", |output| output.help("Standard output of the last stage: 'null', 'pipe' (drained by Fathom), 'inherit', or a file")))]
#[command(mut_arg("prepare", |prepare| prepare.help("Run this before each run, observed or not, through a shell")))]
#[command(after_help = "Examples:
  fathom pipe 'cat access.log' 'grep -c 404'
  fathom pipe -- 'cat access.log | gzip -1 | wc -c'
  fathom pipe --delay 2=200ms --html pipe.html './producer' './reader'
  fathom pipe --keep-staged inputs 'git log' 'grep -c fix'

A worked example. In
  fathom pipe 'sleep 1' cat
cat's wall time is 1 s, all of it waiting for input, 'alone' it takes a millisecond, and sleep holds \
the pipeline up: to make cat faster would save nothing.

The timed rounds are never traced. The waits come from further, observed rounds; the output says by \
which means and how much slower they were. docs/pipe.md explains every number.

Exit codes: 0 done, 2 wrong arguments, 3 a stage failed, 4 it can't be measured, 130 interrupted.")]
pub(crate) struct Arguments {
    /// The stages, each in quotes; or, after --, the whole pipeline in one pair of quotes
    #[arg(value_name = "STAGE")]
    pub stages: Vec<OsString>,

    /// The whole pipeline, as 'A | B | C'
    #[arg(last = true, value_name = "PIPELINE")]
    pub line: Vec<OsString>,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Make exactly this many timed rounds (default: 5 to 30, about 5 s)
    #[arg(
        short,
        long,
        visible_alias = "runs",
        value_name = "N",
        help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub rounds: Option<u32>,

    /// Make this many observed rounds; 0 for none (default: 3, or 1 if a round takes over 1 s)
    #[arg(
        long,
        alias = "explain",
        value_name = "N",
        help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub traced: Option<u32>,

    /// How to observe (default: the best that is allowed here)
    #[arg(long, value_enum, help_heading = MEASURED)]
    pub tier: Option<Tier>,

    /// Start a stage late and show what that changes: its name or number, and how late
    #[arg(long, value_name = "STAGE=TIME", help_heading = MEASURED)]
    pub delay: Vec<String>,

    /// Don't keep the data between the stages, and don't run stages alone
    #[arg(
        long,
        conflicts_with = "keep_staged",
        help_heading = MEASURED
    )]
    pub no_stage: bool,

    /// Keep the stages' inputs as files in this folder, for 'fathom bench --input'
    #[arg(long, value_name = "DIR", help_heading = MEASURED)]
    pub keep_staged: Option<PathBuf>,

    /// Keep at most this much of all inputs together, such as 500M (default: a quarter of the free
    /// memory, at most 1G)
    #[arg(long, value_name = "SIZE", value_parser = quantities::size, help_heading = MEASURED)]
    pub stage_limit: Option<u64>,

    #[command(flatten)]
    pub seed: Seed,

    /// Count failing stages instead of exiting
    #[arg(short, long, help_heading = MEASURED)]
    pub ignore_failure: bool,

    /// Show all details: bytes, first and last bytes, how it was observed and modelled, and all notes
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write an HTML page with the chart and all tables
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub html: Option<PathBuf>,

    /// Write the complete record as JSON. Complete after every run, even if killed. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,
}

/// Values of `--tier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// Counted and timed in the kernel (root, or CAP_BPF and CAP_PERFMON)
    Kernel,
    /// Switches recorded by the kernel, threads sampled (any user)
    Perf,
    /// Threads sampled 1,000 times a second (any user)
    Sample,
    /// Not observed: only what the kernel reports of ended processes
    Accounts,
}
