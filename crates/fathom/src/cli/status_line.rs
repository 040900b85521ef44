//! One line on standard error that says what is done now; drawn between runs only.

use std::time::{Duration, Instant};

use fathom_report::{escape, shorten};

use crate::cli::screen;

/// It is drawn this often at most, unless something else is said.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// Draws, if it may.
pub(super) struct StatusLine {
    draws: bool,
    interval: Duration,
    /// When it was drawn last.
    drawn: Option<Instant>,
}

impl StatusLine {
    /// Draws if standard error is a terminal.
    pub(super) fn on_terminal(interval: Duration) -> StatusLine {
        StatusLine::allowed(screen::can_draw(), interval)
    }

    /// Draws if `draws`.
    pub(super) fn allowed(draws: bool, interval: Duration) -> StatusLine {
        StatusLine {
            draws,
            interval,
            drawn: None,
        }
    }

    /// Whether it may be drawn, and was not just now.
    pub(super) fn is_due(&self) -> bool {
        self.draws && self.drawn.is_none_or(|at| at.elapsed() >= self.interval)
    }

    /// Whether it was never drawn.
    pub(super) fn is_new(&self) -> bool {
        self.drawn.is_none()
    }

    /// Columns that it may take: a full line would wrap.
    pub(super) fn width() -> usize {
        screen::stderr_width().saturating_sub(1)
    }

    /// Draws a text in which names from outside may be.
    pub(super) fn say(&mut self, what: &str) {
        self.draw(&shorten(&escape(what), Self::width()));
    }

    /// Draws a text that is safe and fits.
    pub(super) fn draw(&mut self, text: &str) {
        screen::redraw(self.draws, text);
        self.drawn = Some(Instant::now());
    }

    /// Removes it.
    pub(super) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            screen::redraw(self.draws, "");
        }
    }
}
