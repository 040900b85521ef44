//! What a report is shown on.

/// A terminal, or a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of the terminal; at least 32 are used.
    pub width: usize,
    /// Whether colour may be used: false when piped and under `NO_COLOR`.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// Whether all that is known is shown, or what fits a screen.
    pub verbose: bool,
}

impl Default for Screen {
    /// A pipe: 80 columns, no colour.
    fn default() -> Self {
        Screen {
            width: 80,
            color: false,
            unicode: true,
            verbose: false,
        }
    }
}
