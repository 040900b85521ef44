//! The line that shows the current step.

use fathom_experiment::prepare::StepKind;
use fathom_experiment::session::Event;
use fathom_report::{escape, shorten};

use crate::cli::out;
use crate::cli::{machine_changed, screen};

/// A line on standard error that is redrawn; if it can't be drawn, a line is printed for each step.
pub(super) struct Line {
    name: String,
    draws: bool,
    verbose: bool,
}

impl Line {
    /// Creates the line without drawing it.
    pub(super) fn new(name: &str, verbose: bool) -> Line {
        Line {
            verbose,
            name: escape(name),
            draws: screen::can_draw(),
        }
    }

    /// Shows the step that begins now.
    pub(super) fn show(&mut self, event: &Event<'_>) {
        let text = match event {
            Event::MachineChanged(changes) => return machine_changed::note(changes, self.verbose),
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
        match self.draws {
            true => out::redraw(&shorten(&text, screen::stderr_width() - 1)),
            false => out::say_lines(&text),
        }
    }

    /// Clears the line.
    pub(super) fn clear(&self) {
        if self.draws {
            out::redraw("");
        }
    }
}
