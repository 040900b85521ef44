//! The line that says what is being done.

use fathom_experiment::prepare::StepKind;
use fathom_experiment::session::Event;
use fathom_report::{escape, shorten};

use crate::cli::out;
use crate::cli::{machine_changed, screen};

/// One line on standard error, redrawn; where it can't be drawn, a line for each step.
pub(super) struct Line {
    name: String,
    draws: bool,
    verbose: bool,
}

impl Line {
    /// Nothing is drawn yet.
    pub(super) fn new(name: &str, verbose: bool) -> Line {
        Line {
            verbose,
            name: escape(name),
            draws: screen::can_draw(),
        }
    }

    /// Shows what begins now.
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

    /// Takes it away.
    pub(super) fn clear(&self) {
        if self.draws {
            out::redraw("");
        }
    }
}
