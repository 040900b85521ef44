//! The status line shown while servers are launched and loaded.

use std::time::Duration;

use fathom_conduct::serve::ServePlan;
use fathom_conduct::{Event, Observer};
use fathom_report::{ServeProgress, serve_progress};

use crate::cli::machine_changed;
use crate::cli::status_line::StatusLine;

/// Minimum interval between two drawings of launches: drawing takes CPU time from the next launch.
const INTERVAL: Duration = Duration::from_millis(250);

/// A status line, drawn only if allowed.
pub(super) struct Line<'l> {
    plan: &'l ServePlan,
    line: StatusLine,
    verbose: bool,
    server: usize,
    what: String,
    completed: u64,
}

impl<'l> Line<'l> {
    pub(super) fn new(plan: &'l ServePlan, verbose: bool) -> Line<'l> {
        Line {
            verbose,
            plan,
            line: StatusLine::on_terminal(INTERVAL),
            server: 0,
            what: String::new(),
            completed: 0,
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    fn draw(&mut self, last_second: Option<(u64, u64)>) {
        let server = self.plan.servers.get(self.server);
        let progress = ServeProgress {
            server: server.map_or("", |server| server.name()),
            what: self.what.clone(),
            last_second,
        };
        self.line
            .draw(&serve_progress(&progress, StatusLine::width()));
    }
}

impl Observer for Line<'_> {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::MachineChanged(changes) => machine_changed::note(changes, self.verbose),
            Event::Launches { server, launch, of } => {
                self.server = server;
                self.what = format!("launch {} of {of}", launch + 1);
                if self.line.is_due() {
                    self.draw(None);
                }
            }
            Event::LoadStep {
                server,
                connections,
                rate,
                round,
                rounds,
            } => {
                self.server = server;
                let load = match rate {
                    Some(rate) => format!("{rate:.0}/s"),
                    None if connections == 1 => "1 connection".to_string(),
                    None => format!("{connections} connections"),
                };
                self.what = format!("{load}, round {} of {rounds}", round + 1);
                self.completed = 0;
                self.draw(None);
            }
            Event::LoadSecond(tick) => {
                let last = tick.completed.saturating_sub(self.completed);
                self.completed = tick.completed;
                self.draw(Some((last, tick.failed)));
            }
            _ => {}
        }
    }
}
