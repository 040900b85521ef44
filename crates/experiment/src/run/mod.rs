//! Runs what the plan says, and reads what came of it.

pub mod bench;
pub mod command;
pub mod observed;
pub mod printed;
pub mod records;
pub mod served;
pub mod verb;

/// The user wants to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// Why something is left out that could have been measured.
pub const NO_TIME: &str = "left out, no time left";

/// What came of one measure.
#[derive(Debug, Default)]
pub struct Yield {
    /// Numbers, findings, gaps.
    pub results: crate::results::Results,
    /// Evidence, from the work folder.
    pub records: Vec<String>,
    /// What went wrong.
    pub notes: Vec<String>,
    /// The user interrupted it.
    pub interrupted: bool,
    /// A subject failed.
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
