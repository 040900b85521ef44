//! A line on standard error that shows the current run; it is drawn only between runs.

use fathom_conduct::{Event, Observer};
use fathom_measure::pipeline::Kind;
use fathom_model::PipeStage;

use crate::cli::machine_changed;
use crate::cli::status_line::{INTERVAL, StatusLine};

/// The progress line, drawn only if standard error is a terminal.
pub(super) struct Progress {
    names: Vec<String>,
    line: StatusLine,
    verbose: bool,
}

impl Progress {
    /// Creates the line; nothing is drawn until the first run.
    pub(super) fn new(stages: &[PipeStage], verbose: bool) -> Progress {
        Progress {
            verbose,
            names: stages.iter().map(|stage| stage.name.clone()).collect(),
            line: StatusLine::on_terminal(INTERVAL),
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    /// Shows which run is starting.
    fn starts(&mut self, round: u32, kind: Kind) {
        let what = match kind {
            Kind::First => "a warm-up run".to_string(),
            Kind::Live => format!("round {}: the pipeline", round + 1),
            Kind::Delayed => format!("round {}: the pipeline with a delayed stage", round + 1),
            Kind::Alone(stage) => format!("round {}: {} alone", round + 1, self.names[stage]),
        };
        self.line.say(&what);
    }
}

impl Observer for Progress {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::MachineChanged(changes) => machine_changed::note(changes, self.verbose),
            Event::PipelineStarts(round, kind) if self.line.is_due() => self.starts(round, kind),
            Event::PipelineObserved(round) if self.line.is_due() => {
                self.line.say(&format!("observed round {}", round + 1));
            }
            _ => {}
        }
    }
}
