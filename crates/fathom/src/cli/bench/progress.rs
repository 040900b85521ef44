//! The progress line on standard error.

use std::time::{Duration, Instant};

use fathom_conduct::bench::SoFar;
use fathom_conduct::{Event, Observer};
use fathom_measure::{Plan, StopRule};
use fathom_model::{Estimate, Metric, Run};
use fathom_report::{Progress, progress_line};

use crate::cli::screen;
use crate::cli::status_line::{INTERVAL, StatusLine};

/// The time limit above which a hint shows how to lower it.
const LONG: Duration = Duration::from_secs(60);
/// How long the hint is shown at the start, in seconds.
const ADVISED_SECONDS: f64 = 10.0;

/// The progress line, drawn only if enabled.
pub(super) struct Line<'a> {
    plan: &'a Plan,
    line: StatusLine,
    /// When the first round started.
    began: Instant,
    round: u32,
    warmup: bool,
    so_far: SoFar,
}

impl<'a> Line<'a> {
    /// Creates the line; nothing is drawn until the first run.
    pub(super) fn new(plan: &'a Plan, draws: bool) -> Self {
        Line {
            plan,
            line: StatusLine::allowed(draws, INTERVAL),
            began: Instant::now(),
            round: 0,
            warmup: false,
            so_far: SoFar::default(),
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    fn draw(&mut self, benchmark: usize) {
        let triple = |e: Estimate| (e.value, e.low, e.high);
        let medians = self.so_far.medians.iter();
        let medians: Vec<_> = medians.map(|median| median.map(triple)).collect();
        let names = &self.plan.question.names;
        let name = names.get(benchmark).map_or("", String::as_str);
        let elapsed = self.began.elapsed().as_secs_f64();
        let text = progress_line(
            &Progress {
                round: self.round + 1,
                rounds_planned: self.planned(),
                benchmark_name: if self.warmup { "warm-up" } else { name },
                metric: self.so_far.metric.unwrap_or(Metric::Wall),
                medians: &medians,
                ratio: self
                    .so_far
                    .ratio
                    .map(|(subject, e)| (subject + 1, triple(e))),
                elapsed_seconds: elapsed,
                remaining_seconds: self.remaining(elapsed),
                may_end_sooner: matches!(self.plan.stop, StopRule::Answer(_)),
                advice: self.advice(elapsed),
            },
            StatusLine::width(),
        );
        self.line.draw(&text);
    }

    fn planned(&self) -> Option<u32> {
        match self.plan.stop {
            StopRule::Runs(rounds) => Some(rounds),
            StopRule::Answer(limits) => limits.maximum,
        }
    }

    /// Returns a hint on how to shorten the run, as long as the run is new.
    fn advice(&self, elapsed: f64) -> &'static str {
        match self.plan.stop {
            StopRule::Answer(limits) if limits.soft >= LONG && elapsed < ADVISED_SECONDS => {
                "(--time 30s or -r 20: sooner)"
            }
            _ => "",
        }
    }

    /// Returns the maximum remaining time in seconds; the run may end sooner.
    fn remaining(&self, elapsed: f64) -> Option<f64> {
        match self.plan.stop {
            StopRule::Runs(_) if self.round == 0 => None,
            StopRule::Runs(rounds) => {
                Some(elapsed / f64::from(self.round) * f64::from(rounds.saturating_sub(self.round)))
            }
            StopRule::Answer(limits) => Some((limits.soft.as_secs_f64() - elapsed).max(0.0)),
        }
    }
}

impl Line<'_> {
    fn begins(&mut self, round: u32, warmup: bool) {
        if self.line.is_new() && self.round == 0 && round == 0 {
            self.began = Instant::now();
        }
        self.round = round;
        self.warmup = warmup;
    }

    fn learns(&mut self, runs: &[Run]) {
        if self.line.is_due() {
            self.so_far = SoFar::of(runs, &self.plan.question);
        }
    }
}

impl Observer for Line<'_> {
    fn on(&mut self, event: Event<'_>) {
        match event {
            Event::WaitsForQuiet(problem) => screen::waits_for_quiet(problem),
            Event::Round { round, warmup } => self.begins(round, warmup),
            Event::RunStarts(benchmark) if self.line.is_due() => self.draw(benchmark),
            Event::RoundDone(runs) => self.learns(runs),
            _ => {}
        }
    }
}
