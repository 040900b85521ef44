//! One line on standard error that says what is built or run; drawn between runs only.

use std::time::{Duration, Instant};

use fathom_conduct::{Event, Observer};
use fathom_report::{escape, shorten};

use crate::cli::{machine_changed, screen};

/// The line is drawn this often at most while rounds are made.
const INTERVAL: Duration = Duration::from_millis(100);

/// Draws, if standard error is a terminal.
pub(super) struct RevisionProgress {
    draws: bool,
    verbose: bool,
    drawn: Option<Instant>,
    /// What the rounds are for.
    doing: String,
}

impl RevisionProgress {
    /// Draws nothing until the first event.
    pub(super) fn new(verbose: bool) -> RevisionProgress {
        RevisionProgress {
            verbose,
            draws: screen::can_draw(),
            drawn: None,
            doing: "measuring".to_owned(),
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            screen::redraw(self.draws, "");
        }
    }

    fn say(&mut self, what: &str) {
        self.drawn = Some(Instant::now());
        let line = shorten(&escape(what), screen::stderr_width().saturating_sub(1));
        screen::redraw(self.draws, &line);
    }
}

impl Observer for RevisionProgress {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::MachineChanged(changes) => machine_changed::note(changes, self.verbose),
            Event::WaitsForQuiet(problem) => screen::waits_for_quiet(problem),
            Event::Builds { version, place, of } => {
                let of = of.map_or_else(String::new, |of| format!(" ({} of {of})", place + 1));
                self.say(&format!("building {version}{of} ..."));
            }
            Event::WaitsForBuild(version) => {
                self.say(&format!(
                    "{version} is built by another Fathom, waiting ..."
                ));
            }
            Event::Tries(version) => {
                self.doing = "measuring".to_owned();
                self.say(&format!("running {version} once ..."));
            }
            Event::Halves { left } => {
                self.doing = format!("{left} revisions left, measuring");
                let doing = self.doing.clone();
                self.say(&doing);
            }
            Event::Confirms => {
                self.doing = "one revision left, comparing it with its parent".to_owned();
                let doing = self.doing.clone();
                self.say(&doing);
            }
            Event::Observes(_) => self.say("observing what differs ..."),
            Event::Gates {
                rounds,
                undecided,
                of,
                confirms,
            } => {
                if self.drawn.is_some_and(|at| at.elapsed() < INTERVAL) {
                    return;
                }
                let doing = match confirms {
                    true => ", measuring again what looked worse",
                    false => "",
                };
                let decided = of - undecided;
                self.say(&format!(
                    "round {rounds}, {decided} of {of} decided{doing} ..."
                ));
            }
            Event::Round { round, warmup } => {
                if self.drawn.is_some_and(|at| at.elapsed() < INTERVAL) {
                    return;
                }
                let round = match warmup {
                    true => "warm-up round".to_owned(),
                    false => format!("round {}", round + 1),
                };
                let line = format!("{}, {round} ...", self.doing);
                self.say(&line);
            }
            _ => {}
        }
    }
}
