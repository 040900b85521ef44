//! Rounds: runs every benchmark once, in a random order, until there is enough data.
//!
//! Drift, other programs and clock changes then affect all benchmarks equally, and chance decides which of
//! two benchmarks comes first in a round. Whatever the machine does, identical programs have equal chances,
//! and the verdicts rest on that.

use std::collections::VecDeque;
use std::time::Duration;

use fathom_model::{Exit, Run, RunOrder, StopReason};
use fathom_stats::sequential::{self, Allowance};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

use crate::assess::{Question, verdicts};
use crate::{Attempt, Executor, MeasureError, RunReport};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopRule {
    /// After this many rounds.
    Runs(u32),
    /// When there is an answer, within limits.
    Answer(Limits),
}

/// Limits for measuring until there is an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The minimum number of rounds.
    pub minimum: u32,
    /// The maximum number of rounds.
    pub maximum: Option<u32>,
    /// The minimum time: a distribution of short runs needs more than ten runs.
    pub at_least: Duration,
    /// After this time, measuring ends once `minimum` rounds are complete.
    pub soft: Duration,
    /// After this time, measuring ends in any case.
    pub hard: Duration,
    /// If set, stops when all intervals are within this share of their values, instead of when everything is
    /// decided.
    pub precision: Option<f64>,
}

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The number of benchmarks.
    pub benchmarks: usize,
    /// The number of warm-up rounds.
    pub warmup: u32,
    /// The order within each round.
    pub order: RunOrder,
    /// The seed of a random order.
    pub seed: u64,
    /// When to stop.
    pub stop: StopRule,
    /// What to compare, and how closely.
    pub question: Question,
    /// Failures that are counted instead of ending the measurement; see [`IgnoreFailure::lets_pass`].
    pub ignore_failure: IgnoreFailure,
}

/// Which failures of a run are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IgnoreFailure {
    /// No failures.
    #[default]
    Never,
    /// All: any exit code, signals and timeouts.
    All,
    /// Only these exit codes.
    Codes(Vec<i32>),
}

impl IgnoreFailure {
    /// Reports whether a run that ended this way counts.
    pub fn lets_pass(&self, exit: Exit) -> bool {
        match (self, exit) {
            (_, Exit::Code(0)) | (IgnoreFailure::All, _) => true,
            (IgnoreFailure::Codes(codes), Exit::Code(code)) => codes.contains(&code),
            _ => false,
        }
    }
}

/// Is notified of every step, to draw progress or write records.
pub trait Observer {
    /// A round begins; `warmup` rounds don't count.
    fn round(&mut self, round: u32, warmup: bool);
    /// A run is about to start.
    fn starts(&mut self, benchmark: usize);
    /// A measured run has ended.
    ///
    /// # Errors
    /// Errors that prevent the session from continuing.
    fn ran(&mut self, run: &Run) -> Result<(), MeasureError>;
    /// Records a measured run that the executor has not recorded. The record is durable when this returns.
    ///
    /// # Errors
    /// If it can't be recorded.
    fn record(&mut self, _run: &Run) -> Result<(), MeasureError> {
        Ok(())
    }
    /// A round has ended; `runs` are all runs so far.
    fn round_done(&mut self, runs: &[Run], round: u32, elapsed: Duration);
}

/// An observer that neither draws nor records anything, for sessions whose executor stores the runs itself,
/// or whose runs only serve a verdict.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn round(&mut self, _: u32, _: bool) {}
    fn starts(&mut self, _: usize) {}
    fn ran(&mut self, _: &Run) -> Result<(), MeasureError> {
        Ok(())
    }
    fn round_done(&mut self, _: &[Run], _: u32, _: Duration) {}
}

/// A warm-up run, which doesn't count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUp {
    /// The measurements; the round number counts warm-up rounds only.
    pub run: Run,
    /// As in [`RunReport::piped_bytes`].
    pub piped_bytes: Option<u64>,
}

/// The result of a session.
#[derive(Debug)]
pub struct Session {
    /// Every measured run.
    pub runs: Vec<Run>,
    /// Every warm-up run.
    pub warmups: Vec<WarmUp>,
    /// Wall times of the empty program, in nanoseconds.
    pub floor_ns: Vec<u64>,
    /// Why it ended.
    pub stop: StopReason,
    /// The failure that ended it, if any.
    pub failure: Option<MeasureError>,
    /// The allowed error rate of the final verdicts.
    pub allowance: Allowance,
}

/// The number of runs of the empty program at each end of the session. Each costs as much as a run of a short
/// command; the median of ten is known to within some 5 %, which is enough for a reference value.
const FLOOR_RUNS: u32 = 5;
/// The number of warm-up runs of the empty program before [`FLOOR_RUNS`].
const FLOOR_WARMUP: u32 = 1;
/// The minimum number of attempts to pass to an executor, if they are certain to follow.
const FORESIGHT: usize = 128;

/// Runs the rounds. Measurements are returned whatever happens; `--cleanup` and the final sweep always run.
pub fn conduct(plan: &Plan, executor: &mut dyn Executor, observer: &mut dyn Observer) -> Session {
    go_on(plan, Vec::new(), executor, observer)
}

/// Continues after `done`, the complete rounds of an earlier session with the same plan. Interim looks happen
/// at the same rounds, so that they cost as much as in a single session.
pub fn go_on(
    plan: &Plan,
    mut done: Vec<Run>,
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
) -> Session {
    done.truncate(done.len() - done.len() % plan.benchmarks.max(1));
    let mut rounds = Rounds {
        done,
        plan,
        random: SmallRng::seed_from_u64(plan.seed),
        order: (0..plan.benchmarks).collect(),
        upcoming: VecDeque::new(),
        runs: Vec::with_capacity(foreseen_runs(plan)),
        warmups: Vec::new(),
        floor_ns: Vec::new(),
        looks: Vec::new(),
    };
    let mut ready = 0;
    let ended = rounds.everything(executor, observer, &mut ready);
    let mut failure = None;
    let stop = match ended {
        Ok(stop) => stop,
        Err(MeasureError::Interrupted) => StopReason::Interrupted,
        Err(error) => {
            failure = Some(error);
            StopReason::Failed
        }
    };
    for benchmark in 0..ready {
        if let Err(error) = executor.clean_up(benchmark) {
            failure = failure.or(Some(error));
        }
    }
    executor.sweep();
    crate::hooks::end();
    let alpha = plan.question.alpha;
    let allowance = match stop {
        StopReason::Decided | StopReason::Precise => sequential::after_all_looks(alpha),
        _ => sequential::last(alpha, &rounds.looks),
    };
    Session {
        runs: rounds.runs,
        warmups: rounds.warmups,
        floor_ns: rounds.floor_ns,
        stop,
        failure,
        allowance,
    }
}

/// Returns the number of runs to reserve space for: if the list has to grow, each doubling copies all of it.
fn foreseen_runs(plan: &Plan) -> usize {
    const MOST: usize = 1 << 14;
    match plan.stop {
        StopRule::Runs(rounds) => (rounds as usize).saturating_mul(plan.benchmarks).min(MOST),
        StopRule::Answer(_) => 0,
    }
}

struct Rounds<'a> {
    plan: &'a Plan,
    /// The runs of an earlier session.
    done: Vec<Run>,
    random: SmallRng,
    order: Vec<usize>,
    /// The planned attempts, in order.
    upcoming: VecDeque<Attempt>,
    runs: Vec<Run>,
    warmups: Vec<WarmUp>,
    floor_ns: Vec<u64>,
    /// The rounds at which verdicts were looked at before the end.
    looks: Vec<u32>,
}

impl Rounds<'_> {
    fn everything(
        &mut self,
        executor: &mut dyn Executor,
        observer: &mut dyn Observer,
        ready: &mut usize,
    ) -> Result<StopReason, MeasureError> {
        for benchmark in 0..self.plan.benchmarks {
            // Count the setup before it runs, so that one that failed halfway is cleaned up too.
            *ready += 1;
            executor.set_up(benchmark)?;
        }
        executor.settle();
        self.measure_floor(executor, FLOOR_WARMUP)?;
        let mut round = 0;
        let mut before = Duration::ZERO;
        for runs in std::mem::take(&mut self.done).chunks(self.plan.benchmarks) {
            let ends = runs.iter().map(|run| run.started_ns + run.wall_ns);
            before = Duration::from_nanos(ends.max().unwrap_or(0)).max(before);
            self.runs.extend_from_slice(runs);
            round += 1;
            if let Some(reason) = self.enough(round, before) {
                return Ok(reason);
            }
        }
        let earlier = self.runs.len();
        for round in 0..self.plan.warmup {
            observer.round(round, true);
            self.foresee(round, true);
            self.round(executor, observer)?;
        }
        let mut began = executor.elapsed();
        let warmed_ahead = executor.is_ahead();
        loop {
            observer.round(round, false);
            self.foresee(round, false);
            self.round(executor, observer)?;
            // The first round was executed together with the last warm-up round, before either was returned.
            if let Some(first) = self.runs.get(earlier).filter(|_| warmed_ahead) {
                began = Duration::from_nanos(first.started_ns);
            }
            round += 1;
            let elapsed = before + executor.elapsed().saturating_sub(began);
            observer.round_done(&self.runs, round, elapsed);
            // Runs that were already executed are results, so their round is finished.
            if executor.is_ahead() {
                continue;
            }
            if let Some(reason) = self.enough(round, elapsed) {
                self.measure_floor(executor, 0)?;
                return Ok(reason);
            }
        }
    }

    /// Returns the number of rounds that may be planned once `round` of them are complete.
    ///
    /// Looks don't end a plan. If an executor executes many short runs in one batch, a look that falls due
    /// within the batch is taken at its end: a pause for each look would slow down the runs after it.
    fn foreseeable(&self, round: u32) -> u32 {
        let most = match self.plan.stop {
            StopRule::Runs(wanted) => return wanted,
            StopRule::Answer(limits) => limits.maximum.unwrap_or(u32::MAX),
        };
        // Without a warm-up, the first round is executed alone, because it is not yet known how its runs end.
        match round == 0 && self.plan.warmup == 0 {
            true => most.min(1),
            false => most,
        }
    }

    /// Plans rounds from this one on, warm-up rounds first, until enough attempts are known. There is no
    /// pause before the first measured round, which would undo part of the warm-up.
    fn foresee(&mut self, round: u32, warmup: bool) {
        while self.upcoming.len() < FORESIGHT.max(self.order.len()) {
            let (round, warmup) = match self.upcoming.back() {
                None => (round, warmup),
                Some(last) if last.warmup && last.round + 1 == self.plan.warmup => {
                    ((self.runs.len() / self.order.len()) as u32, false)
                }
                Some(last) => (last.round + 1, last.warmup),
            };
            let done = (self.runs.len() / self.order.len()) as u32;
            let is_beyond = !warmup && round >= self.foreseeable(done);
            if is_beyond && !self.upcoming.is_empty() {
                break;
            }
            if self.plan.order == RunOrder::Random {
                self.order.shuffle(&mut self.random);
            }
            for &benchmark in &self.order {
                let position = match self.upcoming.back() {
                    Some(last) if !last.warmup => last.position + 1,
                    _ => self.runs.len() as u32,
                };
                self.upcoming.push_back(Attempt {
                    benchmark,
                    warmup,
                    round,
                    position,
                });
            }
        }
    }

    fn measure_floor(
        &mut self,
        executor: &mut dyn Executor,
        warmup: u32,
    ) -> Result<(), MeasureError> {
        let walls = executor.floor(FLOOR_RUNS + warmup)?;
        self.floor_ns.extend(walls.iter().skip(warmup as usize));
        Ok(())
    }

    /// Runs the next round of the planned attempts.
    fn round(
        &mut self,
        executor: &mut dyn Executor,
        observer: &mut dyn Observer,
    ) -> Result<(), MeasureError> {
        for _ in 0..self.plan.benchmarks {
            if executor.interrupted() && !executor.is_ahead() {
                return Err(MeasureError::Interrupted);
            }
            let upcoming = self.upcoming.make_contiguous();
            let Some(attempt) = upcoming.first().copied() else {
                break;
            };
            observer.starts(attempt.benchmark);
            let report = executor.run(upcoming)?;
            self.upcoming.pop_front();
            if report.interrupted {
                return Err(MeasureError::Interrupted);
            }
            if attempt.warmup {
                self.warmups.push(WarmUp {
                    run: report.run.clone(),
                    piped_bytes: report.piped_bytes,
                });
            } else {
                self.runs.push(report.run.clone());
                if !report.recorded {
                    observer.record(&report.run)?;
                }
                observer.ran(&report.run)?;
            }
            self.check(report, attempt.warmup)?;
        }
        Ok(())
    }

    /// Returns an error for a failing run, unless it is ignored.
    fn check(&self, report: RunReport, warmup: bool) -> Result<(), MeasureError> {
        let name = self
            .plan
            .question
            .names
            .get(report.run.benchmark)
            .cloned()
            .unwrap_or_default();
        if !self.plan.ignore_failure.lets_pass(report.run.exit) {
            let warmups = self.warmups.iter().map(|warmup| &warmup.run);
            let mut made = warmups.chain(&self.runs);
            return Err(MeasureError::RunFailed {
                command: name,
                exit: report.run.exit,
                run: (!warmup).then_some(report.run.round + 1),
                // This run is among `made`.
                always: made.all(|run| {
                    run.benchmark != report.run.benchmark || run.exit == report.run.exit
                }),
                stderr: report.stderr_tail,
            });
        }
        match report.wrong_output {
            Some(detail) => Err(MeasureError::WrongOutput {
                command: name,
                detail,
            }),
            None => Ok(()),
        }
    }

    fn enough(&mut self, rounds: u32, elapsed: Duration) -> Option<StopReason> {
        let limits = match self.plan.stop {
            StopRule::Runs(wanted) => return (rounds >= wanted).then_some(StopReason::RunCount),
            StopRule::Answer(limits) => limits,
        };
        if limits.maximum.is_some_and(|most| rounds >= most) {
            return Some(StopReason::MaximumRounds);
        }
        if elapsed >= limits.hard || (elapsed >= limits.soft && rounds >= limits.minimum) {
            return Some(StopReason::TimeBudget);
        }
        // Looks happen at predetermined rounds, because each costs a part of the error rate.
        let look = sequential::looks_due(rounds, limits.minimum);
        if look <= self.looks.last().copied().unwrap_or(0) || elapsed < limits.at_least {
            return None;
        }
        self.looks.push(look);
        let allowance = sequential::early(look, self.plan.question.alpha);
        let now = verdicts(&self.runs, &self.plan.question, allowance);
        match limits.precision {
            Some(precision) => now
                .is_precise(precision, self.plan.benchmarks)
                .then_some(StopReason::Precise),
            None => now.is_decided().then_some(StopReason::Decided),
        }
    }
}
