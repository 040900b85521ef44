//! What the reader chose.

use crate::{Screen, TimeUnit};

/// How the report is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// What it is shown on. `verbose`: the answer, and after it all that is known, under headings.
    pub screen: Screen,
    /// Unit of all times; `None` takes for each line the one that fits.
    pub time_unit: Option<TimeUnit>,
    /// Order of the comparisons.
    pub sort: SortOrder,
    /// Colour and progress, as hyperfine's `--style` names them.
    pub style: Style,
    /// One line for each command, and no more than must be known to trust it.
    pub brief: bool,
}

impl Default for TerminalOptions {
    /// A pipe: 80 columns, no colour.
    fn default() -> Self {
        TerminalOptions {
            screen: Screen::default(),
            time_unit: None,
            sort: SortOrder::Command,
            style: Style::Full,
            brief: false,
        }
    }
}

/// Order of the comparisons. The benchmarks themselves stay in the order in which they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortOrder {
    /// As the commands were given.
    Command,
    /// The one that takes least first (hyperfine's `mean-time`).
    Median,
}

/// hyperfine's `--style`. Its `auto` is for the caller to resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Colour and progress.
    Full,
    /// Neither colour nor progress.
    Basic,
    /// Progress without colour.
    NoColor,
    /// Colour without progress.
    Color,
    /// No output at all.
    None,
}

impl Style {
    /// Whether the style allows colour.
    pub fn has_color(self) -> bool {
        matches!(self, Style::Full | Style::Color)
    }
}
