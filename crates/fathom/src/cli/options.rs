//! Options that several verbs share, each with a single help text.

use clap::Args;
use fathom_conduct::{Builds, fresh_seed};
use fathom_measure::IgnoreFailure;
use std::time::Duration;

use crate::cli::failure::{Failure, usage};
use crate::cli::quantities;

/// Headings of help texts.
pub(super) const MEASURED: &str = "How much to measure";
pub(super) const SHOWN: &str = "What to show and write";
pub(super) const RUN: &str = "What to run, and how";

/// The store from which verbs that don't measure read.
#[derive(Debug, Clone, Args)]
pub(super) struct ReadStore {
    /// Read this store: a file, or postgres://USER@HOST/DATABASE (default: FATHOM_STORE, else the
    /// project's .fathom/, else your own)
    #[arg(long, value_name = "PATH|URL")]
    pub store: Option<String>,
}

/// How rounds are made and judged.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MEASURED)]
pub(super) struct Rounds {
    /// Make this many warm-up rounds, which do not count
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = quantities::whole::<u32>, allow_negative_numbers = true)]
    pub warmup: u32,

    #[command(flatten)]
    pub margin: Margin,

    #[command(flatten)]
    pub quiet: Quiet,

    #[command(flatten)]
    pub seed: Seed,
}

/// The margin within which values count as the same.
#[derive(Debug, Clone, Args)]
pub(super) struct Margin {
    /// Call differences up to this share the same
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, default_value = "1%", value_parser = quantities::share)]
    pub margin: f64,
}

/// Whether to wait while the machine is busy.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MEASURED)]
pub(super) struct Quiet {
    /// Wait until the machine is quiet, at most this long, and exit with code 4 if it is still busy then
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "60s", require_equals = true, value_parser = quantities::duration)]
    pub require_quiet: Option<Duration>,
}

/// The order of runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MEASURED)]
pub(super) struct Seed {
    /// Repeat the random order with this seed
    #[arg(long, value_name = "N", value_parser = quantities::whole::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,
}

impl Seed {
    /// Returns the given seed, or a new one.
    pub(super) fn value(&self) -> u64 {
        self.seed.unwrap_or_else(fresh_seed)
    }
}

/// How to treat runs that fail.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = RUN)]
pub(super) struct Failures {
    /// Continue when a run fails, and count it: all failures, or only these exit codes
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, default_missing_value = "all-non-zero", require_equals = true)]
    ignore_failure: Option<String>,
}

impl Failures {
    /// Returns whether the option was given.
    pub(super) fn are_given(&self) -> bool {
        self.ignore_failure.is_some()
    }

    /// Returns the failures to ignore.
    ///
    /// # Errors
    /// If the value is not a list of exit codes.
    pub(super) fn ignored(&self) -> Result<IgnoreFailure, Failure> {
        match self.ignore_failure.as_deref() {
            None => Ok(IgnoreFailure::Never),
            Some("all-non-zero") => Ok(IgnoreFailure::All),
            Some(codes) => codes
                .split(',')
                .map(|code| match code.trim().parse() {
                    Ok(code @ 1..=255) => Ok(code),
                    _ => usage(format!(
                        "-i={codes}: {code:?} is not an exit code; write -i for all failures, or -i=1,2"
                    )),
                })
                .collect::<Result<_, _>>()
                .map(IgnoreFailure::Codes),
        }
    }
}

/// How revisions are built.
#[derive(Debug, Clone, Args)]
pub(super) struct BuildOptions {
    /// Build each revision with this command, run by sh in the revision's own files
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,

    /// Repeat builds that were made, or failed, before
    #[arg(long)]
    pub rebuild: bool,

    #[command(flatten)]
    pub cache: Cache,
}

impl BuildOptions {
    /// Returns the given build options.
    pub(super) fn builds(&self) -> Builds {
        Builds {
            command: self.build.clone(),
            cache_bytes: self.cache.cache_size,
            again: self.rebuild,
        }
    }
}

/// How many builds are kept.
#[derive(Debug, Clone, Args)]
pub(super) struct Cache {
    /// Keep at most this much of the builds; the least recently used are removed first
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = quantities::size)]
    pub cache_size: u64,
}
