//! What holds for all runs of a verb.

use std::time::{Duration, Instant};

use fathom_measure::ProcessOptions;

/// The terms on which commands are run.
#[derive(Debug, Clone, Default)]
pub struct RunTerms {
    /// Longest time that a run may take.
    pub timeout: Option<Duration>,
    /// CPUs that the commands may use; all if empty.
    pub pin: Vec<usize>,
    /// Let the commands write to the terminal.
    pub show_output: bool,
    /// When measuring ends with what it has by then, as if the user interrupted it.
    pub deadline: Option<Instant>,
}

impl RunTerms {
    /// The CPUs, if there is a choice of them, for the record.
    pub(crate) fn pinned_cpus(&self) -> Option<Vec<usize>> {
        (!self.pin.is_empty()).then(|| self.pin.clone())
    }

    /// The longest time of a run, for the record.
    pub(crate) fn timeout_seconds(&self) -> Option<f64> {
        self.timeout.map(|limit| limit.as_secs_f64())
    }

    /// For an executor; the rest is as it is for most verbs.
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
