//! The line that says what is being done.

use std::io::Write;

use fathom_experiment::prepare::StepKind;
use fathom_experiment::session::Event;
use fathom_report::{escape, shorten};

use crate::cli::{machine_changed, screen};

/// One line on standard error, redrawn; where it can't be drawn, a line for each step.
pub(super) struct Line {
    name: String,
    draws: bool,
}

impl Line {
    /// Nothing is drawn yet.
    pub(super) fn new(name: &str) -> Line {
        Line {
            name: escape(name),
            draws: screen::can_draw(),
        }
    }

    /// Shows what begins now.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        let text = match event {
            Event::MachineChanged(changes) => return machine_changed::warn(changes),
            Event::Preparing(kind, name) => {
                let what = match kind {
                    StepKind::Check => "looking for",
                    StepKind::Install => "installing",
                    StepKind::Build => "building",
                    StepKind::Generate => "generating",
                    StepKind::Stage => "staging",
                };
                format!("{what} {}", escape(name))
            }
            Event::Measuring(id, how, number, count) => {
                format!("{number} of {count}: {} ({})", escape(id), how.name())
            }
            Event::MoreRounds(id, rounds) => {
                format!(
                    "a claim is undecided: {rounds} more rounds of {}",
                    escape(id)
                )
            }
        };
        let text = format!("{}: {text}", self.name);
        // A line that can't be drawn is no reason to stop.
        let _ = match self.draws {
            true => {
                let line = shorten(&text, screen::stderr_width() - 1);
                write!(std::io::stderr(), "\r{line}\x1b[K")
            }
            false => writeln!(std::io::stderr(), "{text}"),
        };
    }

    /// Takes it away.
    pub(super) fn clear(&self) {
        if self.draws {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
