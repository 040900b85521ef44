//! The options of every verb that can be a job on another machine.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::saving::SaveOptions;

const HEADING: &str = "On another machine";

/// See the help texts.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OnOptions {
    /// Measure in a job of this engine, such as slurm or slurm:PARTITION; all that is compared runs in the
    /// one job. See docs/fleet.md
    #[arg(long, value_name = "ENGINE")]
    pub on: Option<String>,

    /// What the machine must have, in the engine's words. Once for each kind of machine: each has a job
    #[arg(long, value_name = "NAME", requires = "on", value_parser = NonEmptyStringValueParser::new())]
    pub constraint: Vec<String>,

    /// Hand the job over and end; fathom jobs shows what came of it
    #[arg(long, requires = "on")]
    pub detach: bool,
}

/// `--plan` of verbs that have no plan of their own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct PlanOption {
    /// Show the job's script and the command that hands it over, and run nothing
    #[arg(long, requires = "on")]
    pub plan: bool,
}

/// What is asked of a verb that may be a job.
pub(crate) struct Remote<'a> {
    /// The options.
    pub on: &'a OnOptions,
    /// Whether only the plan is shown.
    pub plan: bool,
    /// `--json`.
    pub json: &'a mut Option<PathBuf>,
    /// The other files that it writes.
    pub files: Vec<&'a mut Option<PathBuf>>,
    /// Where the record is saved.
    pub saving: &'a SaveOptions,
    /// What is independent of each other and may be spread over jobs.
    pub parts: Vec<String>,
}
