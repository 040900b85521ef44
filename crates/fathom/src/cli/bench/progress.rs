//! The progress line on standard error, and the record on disk, run by run.

use std::io::Write;
use std::time::{Duration, Instant};

use fathom_measure::assess::verdicts;
use fathom_measure::{Journal, MeasureError, Observer, Plan, Question, StopRule};
use fathom_model::Run;
use fathom_report::{Progress, progress_line};
use fathom_stats::sequential;

/// The line is drawn this often at most, and only between runs.
const INTERVAL: Duration = Duration::from_millis(100);
/// Estimates for the line come from the last runs only: they cost time between runs.
const LOOKED_AT: usize = 400;

/// From this limit on it is worth saying how to lower it.
const LONG: Duration = Duration::from_secs(60);
/// For so long at the beginning.
const ADVISED_SECONDS: f64 = 10.0;

/// Draws and records.
pub struct Watcher<'a> {
    /// The record on disk, if one was asked for.
    pub journal: Option<Journal>,
    /// What is being measured.
    pub plan: &'a Plan,
    /// Whether to draw.
    pub draws: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// When the line was drawn last.
    drawn: Instant,
    began: Instant,
    round: u32,
    warmup: bool,
    line: Option<String>,
    estimate: Option<(f64, f64, f64)>,
    ratio: Option<(f64, f64, f64)>,
}

impl<'a> Watcher<'a> {
    /// Draws nothing until the first run.
    pub fn new(plan: &'a Plan, journal: Option<Journal>, draws: bool, width: usize) -> Self {
        let now = Instant::now();
        Watcher {
            journal,
            plan,
            draws,
            width,
            drawn: now.checked_sub(INTERVAL).unwrap_or(now),
            began: now,
            round: 0,
            warmup: false,
            line: None,
            estimate: None,
            ratio: None,
        }
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if self.line.take().is_some() {
            // A line that can't be drawn is no reason to stop measuring.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    fn draw(&mut self, benchmark: usize) {
        let question: &Question = &self.plan.question;
        let name = question.names.get(benchmark).map_or("", String::as_str);
        let elapsed = self.began.elapsed().as_secs_f64();
        let text = progress_line(
            &Progress {
                round: self.round + 1,
                rounds_planned: self.planned(),
                benchmark_name: if self.warmup { "warm-up" } else { name },
                estimate_seconds: self.estimate,
                leading_ratio: self.ratio,
                elapsed_seconds: elapsed,
                remaining_seconds: self.remaining(elapsed),
                may_end_sooner: matches!(self.plan.stop, StopRule::Answer(_)),
                advice: self.advice(elapsed),
            },
            self.width.saturating_sub(1),
        );
        let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
        self.line = Some(text);
        self.drawn = Instant::now();
    }

    fn planned(&self) -> Option<u32> {
        match self.plan.stop {
            StopRule::Runs(rounds) => Some(rounds),
            StopRule::Answer(limits) => limits.maximum,
        }
    }

    /// How to make it shorter, while that is news.
    fn advice(&self, elapsed: f64) -> &'static str {
        match self.plan.stop {
            StopRule::Answer(limits) if limits.soft >= LONG && elapsed < ADVISED_SECONDS => {
                "(--time 30s or -r 20: sooner)"
            }
            _ => "",
        }
    }

    /// At most this long: it may be over sooner.
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

impl Observer for Watcher<'_> {
    fn round(&mut self, round: u32, warmup: bool) {
        self.round = round;
        self.warmup = warmup;
    }

    fn starts(&mut self, benchmark: usize) {
        if self.draws && self.drawn.elapsed() >= INTERVAL {
            self.draw(benchmark);
        }
    }

    fn ran(&mut self, _run: &Run) -> Result<(), MeasureError> {
        Ok(())
    }

    fn record(&mut self, run: &Run) -> Result<(), MeasureError> {
        self.journal
            .as_mut()
            .map_or(Ok(()), |journal| journal.append(run))
    }

    fn round_done(&mut self, runs: &[Run], _round: u32, _elapsed: Duration) {
        if !self.draws || self.drawn.elapsed() < INTERVAL {
            return;
        }
        let recent = &runs[runs.len().saturating_sub(LOOKED_AT)..];
        let allowance = sequential::last(self.plan.question.alpha, &[]);
        let now = verdicts(recent, &self.plan.question, allowance);
        let triple = |e: &fathom_model::Estimate| (e.value, e.low, e.high);
        self.estimate = now.medians.first().and_then(|m| m.as_ref()).map(triple);
        self.ratio = now.comparisons.first().map(|c| triple(&c.ratio));
    }
}
