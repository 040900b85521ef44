//! The screen for a report.

/// A terminal, or a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of the terminal; at least 32 are used.
    pub width: usize,
    /// Whether color may be used: false if piped, and with `NO_COLOR`.
    pub color: bool,
    /// Whether the terminal can show more than ASCII.
    pub unicode: bool,
    /// Whether all details are shown, or only what fits a screen.
    pub verbose: bool,
}

impl Default for Screen {
    /// Returns the screen of a pipe: 80 columns, no color.
    fn default() -> Self {
        Screen {
            width: 80,
            color: false,
            unicode: true,
            verbose: false,
        }
    }
}
