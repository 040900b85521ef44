//! Errors that keep a verb from producing a record.

use fathom_measure::MeasureError;
use fathom_model::TimedRuns;
use fathom_trace::TraceError;

use crate::worktrees::WorktreesError;

/// The errors of this crate. Each message says what happened to what.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// Measuring failed, or was interrupted before there was a result.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Observing failed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The store can't be used, or lacks the requested data.
    #[error(transparent)]
    Store(#[from] fathom_store::Error),
    /// The request can't be fulfilled here; the message says what is possible.
    #[error("{0}")]
    Refused(String),
    /// The measured command failed before it could be measured; the message includes the end of its output.
    #[error("{0}")]
    Failed(String),
    /// The result can't be trusted.
    #[error("{0}")]
    Untrusted(String),
    /// `why` was interrupted before the first timed run ended.
    #[error("interrupted before the first timed run had ended")]
    NothingTimed,
    /// `why` was interrupted between the timed runs and the observed one.
    #[error("interrupted before the command was observed")]
    NothingObserved(Box<TimedRuns>),
}

impl From<WorktreesError> for ConductError {
    fn from(error: WorktreesError) -> Self {
        match error {
            WorktreesError::Interrupted => ConductError::Measure(MeasureError::Interrupted),
            WorktreesError::Git(_) => ConductError::Untrusted(error.to_string()),
            WorktreesError::Repository(_)
            | WorktreesError::Folder { .. }
            | WorktreesError::NoFolder => ConductError::Refused(error.to_string()),
        }
    }
}

impl ConductError {
    /// Reports whether a signal or the time limit ended the work, not a failure.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            ConductError::Measure(MeasureError::Interrupted)
                | ConductError::NothingTimed
                | ConductError::NothingObserved(_)
        )
    }
}
