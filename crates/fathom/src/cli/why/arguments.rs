//! The options of `fathom why`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::given_commands::GivenCommands;
use crate::cli::options::Failures;
use crate::cli::quantities;
use crate::cli::run_options::RunOptions;

/// Options that can't be combined with `--pid`: they define how a command is run and timed, so they don't
/// apply to a running process.
const NOT_WITH_PID: [&str; 17] = [
    "commands",
    "words",
    "input",
    "output",
    "show_output",
    "env",
    "cwd",
    "timeout",
    "prepare",
    "shell",
    "default_shell",
    "no_shell",
    "pin",
    "runs",
    "ignore_failure",
    "tiers",
    "prove",
];

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(mut_arg("ignore_failure", |one| one.help("Continue after failed timed runs and count them, or only those with these exit codes. A run that is ended by \
     --timeout is always explained, up to that moment")))]
#[command(after_help = "Examples:
  fathom why -- python3 report.py
  fathom why --input big.txt --html why.html -- ./count-lines
  fathom why -S 'make | tail'
  fathom why 'gzip -1 -k -c f' 'gzip -9 -k -c f'
  fathom why --pid 1234 --time 10s
  fathom why --prove -- ./import data.csv

The timed runs are never traced: their times are the times. Then one more run is observed,
by the best means that this machine allows (fathom why --tiers shows them). Two commands
are timed in the same rounds, and what the second takes more is listed part by part.
With --prove the command is run again without each cause that something takes away from
outside: fathom bench --try list. A process that runs already (--pid) is observed for a while and goes on; it must be yours.

Exit codes: 0 done, 2 wrong arguments, 3 the command failed, 4 it can't be measured or traced, 130 interrupted.")]
pub(crate) struct Arguments {
    /// One command, or two in quotes
    #[command(flatten)]
    pub given: GivenCommands,

    #[command(flatten)]
    pub run_options: RunOptions,

    /// Time exactly this many runs (default: until the median is precise enough, 3 to 30; for two commands 10
    /// to 40 rounds)
    #[arg(short, long, value_name = "N", value_parser = crate::cli::quantities::at_least_one, allow_negative_numbers = true)]
    pub runs: Option<u32>,

    #[command(flatten)]
    pub failures: Failures,

    /// How to observe (default: the best that is allowed here)
    #[arg(long, value_enum)]
    pub tier: Option<Tier>,

    /// Observe this running process with its threads and children; it is not stopped
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = NOT_WITH_PID)]
    pub pid: Option<u32>,

    /// Run the command again with and without each cause that can be removed, to prove it. '=all': also
    /// without fsync of files outside folders for temporary files
    #[arg(long, value_name = "all", num_args = 0..=1, require_equals = true, default_missing_value = "safe", hide_possible_values = true)]
    pub(crate) prove: Option<Prove>,

    /// Observe --pid for this long (default: 5s), or --prove for at most this long (default: 60s)
    #[arg(long, value_name = "TIME", value_parser = quantities::duration)]
    pub time: Option<Duration>,

    /// Show which ways of observing are allowed on this machine, and what would allow the others
    #[arg(long)]
    pub tiers: bool,

    /// Measure the best that this machine can do, to compare findings with it (3 s, once after each boot);
    /// known values are always used
    #[arg(long)]
    pub limits: bool,

    /// Show everything: findings in full, the account as a table, what was read and written, the processes,
    /// the startup, and what limits the answer
    #[arg(short, long)]
    pub verbose: bool,

    /// Add the table of system calls
    #[arg(long)]
    pub syscalls: bool,

    /// Add the table of functions of the program's own code, and the paths that took the most time
    #[arg(long)]
    pub functions: bool,

    /// Write the paths that took time for another viewer, chosen by the file extension: .json (Firefox
    /// Profiler), .folded (flame graphs) or .pftrace (Perfetto)
    #[arg(long, value_name = "FILE", value_parser = profile_file)]
    pub profile: Option<PathBuf>,

    /// Add the account of each thread
    #[arg(long)]
    pub threads: bool,

    /// Add the process tree, and the account of each process
    #[arg(long)]
    pub processes: bool,

    /// Write an HTML page with the account, the timeline and the findings
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write everything as JSON; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the timings and traces from which the findings are derived, for a test of the findings or a
    /// report of a wrong one
    #[arg(long, value_name = "FILE", hide = true)]
    pub save_observation: Option<PathBuf>,

    /// Write the findings as SARIF 2.1.0, for code scanning and editors: each at its source line, with the
    /// calls that lead there. Paths are relative to the repository or, without one, to this folder
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,

    /// Write a summary for a pull request
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
}

/// Values of `--prove`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prove {
    /// Only changes that don't make lasting data less durable
    #[value(hide = true)]
    Safe,
    /// Everything
    All,
}

/// Parses a file path whose extension selects a format.
fn profile_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match fathom_report::ProfileForm::of(&path) {
        Some(_) => Ok(path),
        None => Err("its name must end with .json, .folded or .pftrace".to_owned()),
    }
}

/// Values of `--tier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Tier {
    /// Counted and timed in the kernel (root, or CAP_BPF and CAP_PERFMON)
    Kernel,
    /// Switches, forks and exits recorded by the kernel, threads sampled (any user)
    Perf,
    /// Threads sampled 1,000 times a second (any user)
    Sample,
    /// Stopped at every call by ptrace, for a while (any user)
    #[value(name = "ptrace", alias = "stops")]
    Ptrace,
}

impl From<Tier> for fathom_trace::Tier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Kernel => fathom_trace::Tier::Kernel,
            Tier::Perf => fathom_trace::Tier::Perf,
            Tier::Sample => fathom_trace::Tier::Sample,
            Tier::Ptrace => fathom_trace::Tier::Ptrace,
        }
    }
}
