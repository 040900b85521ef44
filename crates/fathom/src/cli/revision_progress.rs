//! A line on standard error that shows the current build or run. It is drawn only between runs.

use fathom_conduct::{Event, Observer};

use crate::cli::status_line::{INTERVAL, StatusLine};
use crate::cli::{machine_changed, screen};

/// The progress line, drawn only if standard error is a terminal.
pub(super) struct RevisionProgress {
    line: StatusLine,
    verbose: bool,
    /// What the current rounds are for.
    doing: String,
}

impl RevisionProgress {
    /// Creates the line; nothing is drawn until the first event.
    pub(super) fn new(verbose: bool) -> RevisionProgress {
        RevisionProgress {
            verbose,
            line: StatusLine::on_terminal(INTERVAL),
            doing: "measuring".to_owned(),
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    /// Sets the purpose of the following rounds.
    fn does(&mut self, what: String) {
        self.line.say(&what);
        self.doing = what;
    }
}

impl Observer for RevisionProgress {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::MachineChanged(changes) => machine_changed::note(changes, self.verbose),
            Event::WaitsForQuiet(problem) => screen::waits_for_quiet(problem),
            Event::Builds { version, place, of } => {
                let of = of.map_or_else(String::new, |of| format!(" ({} of {of})", place + 1));
                self.line.say(&format!("building {version}{of} ..."));
            }
            Event::WaitsForBuild(version) => {
                self.line.say(&format!(
                    "another Fathom is building {version}, waiting ..."
                ));
            }
            Event::Tries(version) => {
                self.doing = "measuring".to_owned();
                self.line.say(&format!("running {version} once ..."));
            }
            Event::Halves { left } => {
                self.does(format!("{left} revisions left, measuring"));
            }
            Event::Confirms => {
                self.does("one revision left, comparing it with its parent".to_owned());
            }
            Event::Observes(_) => self.line.say("observing what differs ..."),
            Event::Gates {
                rounds,
                undecided,
                of,
                confirms,
            } if self.line.is_due() => {
                let doing = match confirms {
                    true => ", measuring suspected regressions again",
                    false => "",
                };
                let decided = of - undecided;
                self.line.say(&format!(
                    "round {rounds}, {decided} of {of} decided{doing} ..."
                ));
            }
            Event::Round { round, warmup } if self.line.is_due() => {
                let round = match warmup {
                    true => "warm-up round".to_owned(),
                    false => format!("round {}", round + 1),
                };
                let line = format!("{}, {round} ...", self.doing);
                self.line.say(&line);
            }
            _ => {}
        }
    }
}
