//! Options that apply to all runs of a verb.

use std::time::{Duration, Instant};

use fathom_measure::ProcessOptions;

/// How commands are run.
#[derive(Debug, Clone, Default)]
pub struct RunTerms {
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// CPUs that the commands may use; all if empty.
    pub pin: Vec<usize>,
    /// Whether to let the commands write to the terminal.
    pub show_output: bool,
    /// When to stop, as if the user had interrupted; the results until then are returned.
    pub deadline: Option<Instant>,
}

impl RunTerms {
    /// Returns the pinned CPUs for the record, if there are any.
    pub(crate) fn pinned_cpus(&self) -> Option<Vec<usize>> {
        (!self.pin.is_empty()).then(|| self.pin.clone())
    }

    /// Returns the time limit of a run in seconds, for the record.
    pub(crate) fn timeout_seconds(&self) -> Option<f64> {
        self.timeout.map(|limit| limit.as_secs_f64())
    }

    /// Returns options for an executor; options that aren't part of this type have the values that most verbs
    /// use.
    pub(crate) fn process_options(&self, seed: u64) -> ProcessOptions {
        ProcessOptions {
            timeout: self.timeout,
            pin: self.pin.clone(),
            vary_environment_size: true,
            show_output: self.show_output,
            keep_daemons: false,
            seed,
        }
    }
}
