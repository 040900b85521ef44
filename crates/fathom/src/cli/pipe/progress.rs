//! One line on standard error that says what is run; drawn between runs only.

use std::time::{Duration, Instant};

use fathom_conduct::{Event, Observer};
use fathom_measure::pipeline::Kind;
use fathom_model::PipeStage;
use fathom_report::{escape, shorten};

use crate::cli::out;
use crate::cli::{machine_changed, screen};

/// The line is drawn this often at most.
const INTERVAL: Duration = Duration::from_millis(100);

/// Draws, if standard error is a terminal.
pub(super) struct Progress {
    names: Vec<String>,
    draws: bool,
    verbose: bool,
    drawn: Option<Instant>,
}

impl Progress {
    /// Draws nothing until the first run.
    pub(super) fn new(stages: &[PipeStage], verbose: bool) -> Progress {
        Progress {
            verbose,
            names: stages.iter().map(|stage| stage.name.clone()).collect(),
            draws: screen::can_draw(),
            drawn: None,
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            // A line that can't be drawn is no reason to stop measuring.
            out::redraw("");
        }
    }

    /// Says what is run now.
    fn say(&mut self, what: &str) {
        if !self.draws || self.drawn.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = shorten(&escape(what), screen::stderr_width().saturating_sub(1));
        // As above.
        out::redraw(&line);
    }

    /// Says which run starts.
    fn starts(&mut self, round: u32, kind: Kind) {
        let what = match kind {
            Kind::First => "a warm-up run".to_string(),
            Kind::Live => format!("round {}: the pipeline", round + 1),
            Kind::Delayed => format!("round {}: the pipeline with a late stage", round + 1),
            Kind::Alone(stage) => format!("round {}: {} alone", round + 1, self.names[stage]),
        };
        self.say(&what);
    }
}

impl Observer for Progress {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::MachineChanged(changes) => machine_changed::note(changes, self.verbose),
            Event::PipelineStarts(round, kind) => self.starts(round, kind),
            Event::PipelineObserved(round) => self.say(&format!("observed round {}", round + 1)),
            _ => {}
        }
    }
}
