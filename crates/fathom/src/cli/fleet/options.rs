//! The options of every verb that can run as a job on another machine.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::saving::SaveOptions;

const HEADING: &str = "On another machine";

/// The options; see their help texts.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OnOptions {
    /// Measure in a job of this engine, such as slurm or slurm:PARTITION; everything that is compared runs in
    /// one job. See docs/fleet.md
    #[arg(long, value_name = "ENGINE")]
    pub on: Option<String>,

    /// A feature that the machine must have, as named by the engine. Repeat for several kinds of machine:
    /// each gets a job
    #[arg(long, value_name = "NAME", requires = "on", value_parser = NonEmptyStringValueParser::new())]
    pub constraint: Vec<String>,

    /// Submit the job and exit; fathom jobs shows the result
    #[arg(long, requires = "on")]
    pub detach: bool,
}

/// `--plan` for verbs without a plan of their own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct PlanOption {
    /// Show the job's script and the command that submits it, without running anything
    #[arg(long, requires = "on")]
    pub plan: bool,
}

/// A request to run a verb, possibly as a job.
pub(crate) struct Remote<'a> {
    /// The options.
    pub on: &'a OnOptions,
    /// Whether only the plan is shown.
    pub plan: bool,
    /// The value of `--json`.
    pub json: &'a mut Option<PathBuf>,
    /// The paths of the other files that the verb writes.
    pub files: Vec<&'a mut Option<PathBuf>>,
    /// Where to save the record.
    pub saving: &'a SaveOptions,
    /// Independent parts that may be spread over jobs.
    pub parts: Vec<String>,
}
