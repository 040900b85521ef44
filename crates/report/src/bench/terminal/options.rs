//! What the reader chose.

use crate::{Screen, TimeUnit};

/// How the report is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TerminalOptions {
    /// What it is shown on. `verbose`: the answer, and after it all that is known, under headings.
    pub screen: Screen,
    /// Unit of all times; `None` takes for each line the one that fits.
    pub time_unit: Option<TimeUnit>,
    /// Order of the comparisons.
    pub sort: SortOrder,
    /// One line for each command, and no more than must be known to trust it.
    pub brief: bool,
}

/// Order of the comparisons. The benchmarks themselves stay in the order in which they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortOrder {
    /// As the commands were given.
    #[default]
    Command,
    /// The one that takes least first (hyperfine's `mean-time`).
    Median,
}
