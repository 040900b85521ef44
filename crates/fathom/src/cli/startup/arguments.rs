//! The options of `fathom startup`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::given_commands::GivenCommands;
use crate::cli::options::{Failures, MEASURED, Margin, SHOWN, Seed};
use crate::cli::quantities;
use crate::cli::run_options::RunOptions;
use crate::cli::saving::SaveOptions;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom startup ./hello 'python3 hello.py' 'node hello.js'
  fathom startup --cold -- ./my-tool --version
  fathom startup --budget 16.7ms ./my-tool --html startup.html

A worked example.
  fathom startup --cold ./tool
says how soon the first byte came, and prints a line 'warm' and a line 'cold': p50 is a usual start, p90 one \
that nine of ten starts keep. Below, where the time of a warm start went (exec, loader, runtime and main), and what \
a cold start read from the device. With -v, which files were opened, what stayed cached, and why.

Start: the call of execve. End: the first byte that can be read from standard output, which is a \
pipe; and the exit. docs/startup.md says where each stamp is taken.

Exit codes: 0 done, 1 over the budget, 2 wrong arguments, 3 a program failed, 4 it can't be measured, \
130 interrupted.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub given: GivenCommands,

    #[command(flatten)]
    pub run_options: RunOptions,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Make exactly this many rounds (default: as many as fit into --time, 20 to 200)
    #[arg(short, long, visible_alias = "runs", value_name = "N", conflicts_with = "time", value_parser = quantities::at_least_one, help_heading = MEASURED, allow_negative_numbers = true)]
    pub rounds: Option<u32>,

    /// Start no further round after this long (default: 10s), but make at least 20
    #[arg(long, value_name = "TIME", value_parser = quantities::duration, help_heading = MEASURED)]
    pub time: Option<Duration>,

    /// Make this many warm-up rounds, which don't count
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = fathom_conduct::startup::WARMUP_ROUNDS,
        help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub warmup: u32,

    #[command(flatten, next_help_heading = MEASURED)]
    pub margin: Margin,

    #[command(flatten)]
    pub seed: Seed,

    #[command(flatten)]
    pub failures: Failures,

    /// Also start each program with its own files evicted from memory. Needs no privilege
    #[arg(long, help_heading = MEASURED)]
    pub cold: bool,

    /// Also start each program after dropping the whole machine's caches; needs root, and slows down
    /// everything else on the machine for a while
    #[arg(long, help_heading = MEASURED)]
    pub drop_caches: bool,

    /// Observe this many runs of each program for phases and files; 0 for none
    #[arg(long, alias = "explain", value_name = "N", default_value_t = fathom_conduct::startup::OBSERVED_RUNS, help_heading = MEASURED, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub traced: u32,

    /// How to observe (default: the best that is allowed here)
    #[arg(long, value_enum, help_heading = MEASURED)]
    pub tier: Option<Tier>,

    /// Exit with 1 if a program takes longer than this to its first byte (such as 16.7ms)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration, allow_hyphen_values = true, help_heading = SHOWN)]
    pub budget: Option<Duration>,

    /// The quantile that must be within the budget
    #[arg(long, value_name = "QUANTILE", value_enum, default_value_t = Quantile::P90, help_heading = SHOWN)]
    pub budget_quantile: Quantile,

    /// Show everything: the time to the exit, each program's files, what stayed cached, and why
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,

    /// Write an HTML page with the phases as stacked bars
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub html: Option<PathBuf>,

    /// Write the complete record as JSON. Complete after every run, even if killed. '-' is standard output
    #[arg(long, value_name = "FILE", help_heading = SHOWN)]
    pub json: Option<PathBuf>,
}

/// Values of `--tier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// In the kernel (root, or CAP_BPF and CAP_PERFMON)
    Kernel,
    /// By ptrace (any user): files in one run that stops at every call, phases in runs that stop twice
    #[value(name = "ptrace", alias = "stops")]
    Ptrace,
}

/// Values of `--budget-quantile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Quantile {
    /// Half of the starts
    P50,
    /// Nine of ten starts
    P90,
    /// 99 of 100 starts
    P99,
    /// Every start
    Max,
}

impl Quantile {
    /// Returns the name used in the record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Quantile::P50 => "p50",
            Quantile::P90 => "p90",
            Quantile::P99 => "p99",
            Quantile::Max => "max",
        }
    }
}
