//! Runs the plan, and reads the results.

pub mod bench;
pub mod command;
pub mod observed;
pub mod printed;
pub mod records;
pub mod served;
pub mod verb;

/// The user interrupted the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// The reason given for skipping something that could have been measured.
pub const NO_TIME: &str = "skipped because time ran out";

/// The outcome of one measure.
#[derive(Debug, Default)]
pub struct Yield {
    /// Numbers, findings and gaps.
    pub results: crate::results::Results,
    /// The paths of the evidence, relative to the work folder.
    pub records: Vec<String>,
    /// Problems that occurred.
    pub notes: Vec<String>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Whether a subject failed.
    pub failed: bool,
}

impl From<Result<Yield, Interrupted>> for Yield {
    fn from(outcome: Result<Yield, Interrupted>) -> Yield {
        outcome.unwrap_or_else(|Interrupted| Yield {
            interrupted: true,
            ..Yield::default()
        })
    }
}
