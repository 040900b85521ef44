//! The options of `fathom machine`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::saving::SaveOptions;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom machine
  fathom machine --html machine.html
  fathom machine --only l1_latency,read_bandwidth_1
  fathom machine --check
  sudo fathom machine --fix        then measure, then: sudo fathom machine --restore

Exit codes: 0 done, 1 --check found the machine unfit, 2 wrong arguments, 130 interrupted.")]
pub(crate) struct Arguments {
    /// Measure only the fingerprint (3 s, at most 8)
    #[arg(long, conflicts_with_all = ["full", "check"])]
    pub quick: bool,

    /// Repeat, up to four times, measurements that other programs disturbed (at most 90 s; default: under 30
    /// s)
    #[arg(long, conflicts_with = "check")]
    pub full: bool,

    /// Measure only these figures, by their ids in --json; the other figures of their group are also measured
    /// but not shown. 'list' lists them
    #[arg(long, value_name = "ID,...", value_delimiter = ',', conflicts_with_all = ["quick", "check", "fix", "restore"])]
    pub only: Vec<String>,

    /// Check whether the machine is fit for measuring, and what to do; then list what disturbs, its effect,
    /// and its remedy
    #[arg(long)]
    pub check: bool,

    /// With --check: show all checks, including those that are ok
    #[arg(short, long, requires = "check")]
    pub verbose: bool,

    /// Change the settings that widen results (governor, turbo and others), as root: each change is shown,
    /// and the previous settings are stored for --restore
    #[arg(long, conflicts_with_all = ["quick", "full", "check", "restore", "html"])]
    pub fix: bool,

    /// Restore the settings that --fix changed, as root; also after a crash
    #[arg(long, conflicts_with_all = ["quick", "full", "check", "html"])]
    pub restore: bool,

    /// Show how each figure was measured
    #[arg(long, conflicts_with_all = ["check", "fix", "restore"])]
    pub methods: bool,

    /// Draw the curves in the terminal
    #[arg(long, conflicts_with_all = ["check", "fix", "restore"])]
    pub curves: bool,

    /// Folder on the disk to measure
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Write everything as JSON; '-' is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write an HTML page with all figures and curves
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub saving: SaveOptions,

    /// Do fixed work and exit: --check compares this program with itself
    #[arg(long, hide = true, value_name = "TURNS")]
    pub work: Option<u64>,
}
