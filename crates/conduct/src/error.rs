//! What keeps a verb from having a record.

use fathom_measure::MeasureError;
use fathom_model::TimedRuns;
use fathom_trace::TraceError;

use crate::worktrees::WorktreesError;

/// Errors of this room. Each says what happened to what.
#[derive(Debug, thiserror::Error)]
pub enum ConductError {
    /// Measuring failed, or was interrupted before there was a result.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Observing failed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The store can't be used, or lacks what was asked for.
    #[error(transparent)]
    Store(#[from] fathom_store::Error),
    /// What was asked for is not possible here; the message says what is.
    #[error("{0}")]
    Refused(String),
    /// What was to be measured failed before it could be; the message has the end of its words.
    #[error("{0}")]
    Failed(String),
    /// There would be no result that could be trusted.
    #[error("{0}")]
    Untrusted(String),
    /// `why` was interrupted before the first timed run had ended.
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
    /// Whether a signal or the end of the time ended it, and no failure.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            ConductError::Measure(MeasureError::Interrupted)
                | ConductError::NothingTimed
                | ConductError::NothingObserved(_)
        )
    }
}
