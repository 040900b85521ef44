//! A status line on standard error that shows the current step. It is drawn only between runs.

use std::time::{Duration, Instant};

use fathom_report::{escape, shorten};

use crate::cli::screen;

/// Default minimum interval between two drawings.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// A status line, drawn only if allowed.
pub(super) struct StatusLine {
    draws: bool,
    interval: Duration,
    /// When the line was last drawn.
    drawn: Option<Instant>,
}

impl StatusLine {
    /// Creates a line that is drawn if standard error is a terminal.
    pub(super) fn on_terminal(interval: Duration) -> StatusLine {
        StatusLine::allowed(screen::can_draw(), interval)
    }

    /// Creates a line that is drawn if `draws`.
    pub(super) fn allowed(draws: bool, interval: Duration) -> StatusLine {
        StatusLine {
            draws,
            interval,
            drawn: None,
        }
    }

    /// Returns whether the line may be drawn and the interval has passed.
    pub(super) fn is_due(&self) -> bool {
        self.draws && self.drawn.is_none_or(|at| at.elapsed() >= self.interval)
    }

    /// Returns whether the line has never been drawn.
    pub(super) fn is_new(&self) -> bool {
        self.drawn.is_none()
    }

    /// Returns the usable width in columns: a full line would wrap.
    pub(super) fn width() -> usize {
        screen::stderr_width().saturating_sub(1)
    }

    /// Draws text that may contain untrusted names: control characters are escaped, and the text is shortened
    /// to fit.
    pub(super) fn say(&mut self, what: &str) {
        self.draw(&shorten(&escape(what), Self::width()));
    }

    /// Draws text that is already safe to print and fits into the line.
    pub(super) fn draw(&mut self, text: &str) {
        screen::redraw(self.draws, text);
        self.drawn = Some(Instant::now());
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            screen::redraw(self.draws, "");
        }
    }
}
