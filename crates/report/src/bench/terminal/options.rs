//! The reader's choices.

use crate::{Screen, TimeUnit};

/// How to format the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalOptions {
    /// The output device. If it is `verbose`, everything known follows the answer, under headings.
    pub screen: Screen,
    /// The unit of all times; `None` selects the fitting one for each line.
    pub time_unit: Option<TimeUnit>,
    /// The order of the comparisons.
    pub sort: SortOrder,
    /// Whether to show one line for each command, and only the notes needed to trust it.
    pub brief: bool,
}

/// The order of the comparisons. The benchmarks themselves stay in the order in which they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortOrder {
    /// In the order in which the commands were given.
    #[default]
    Command,
    /// By the median, smallest first (hyperfine's `mean-time`).
    Median,
}
