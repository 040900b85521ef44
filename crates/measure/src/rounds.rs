//! Rounds: every benchmark once, in a random order, until there is enough.
//!
//! Drift, neighbours and changes of the clock then hit all benchmarks alike, and which of two came
//! first in a round is a coin's choice: whatever the machine did, identical programs had equal
//! chances. That is what the verdicts rest on.

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

/// Limits of measuring until there is an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Fewest rounds.
    pub minimum: u32,
    /// Most rounds.
    pub maximum: Option<u32>,
    /// Before this time no answer is enough: a distribution of short runs deserves more than ten.
    pub at_least: Duration,
    /// After this time measuring ends once `minimum` rounds were made.
    pub soft: Duration,
    /// After this time measuring ends.
    pub hard: Duration,
    /// Stop when all intervals are within this share of their values, not when all is decided.
    pub precision: Option<f64>,
}

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Number of benchmarks.
    pub benchmarks: usize,
    /// Warm-up rounds.
    pub warmup: u32,
    /// The order within each round.
    pub order: RunOrder,
    /// Seed of a random order.
    pub seed: u64,
    /// When to stop.
    pub stop: StopRule,
    /// What is compared, and how closely.
    pub question: Question,
    /// Failures that are counted instead of ending everything; see [`IgnoreFailure::lets_pass`].
    pub ignore_failure: IgnoreFailure,
}

/// Which bad ends of a run are let pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IgnoreFailure {
    /// None.
    #[default]
    Never,
    /// All: any exit code, signals and time-outs.
    All,
    /// These exit codes.
    Codes(Vec<i32>),
}

impl IgnoreFailure {
    /// Whether a run that ended so counts.
    pub fn lets_pass(&self, exit: Exit) -> bool {
        match (self, exit) {
            (_, Exit::Code(0)) | (IgnoreFailure::All, _) => true,
            (IgnoreFailure::Codes(codes), Exit::Code(code)) => codes.contains(&code),
            _ => false,
        }
    }
}

/// Gets every step; draws progress, writes records.
pub trait Observer {
    /// A round begins; `warmup` rounds do not count.
    fn round(&mut self, round: u32, warmup: bool);
    /// A run is about to start.
    fn starts(&mut self, benchmark: usize);
    /// A measured run has ended.
    ///
    /// # Errors
    /// What keeps the session from going on.
    fn ran(&mut self, run: &Run) -> Result<(), MeasureError>;
    /// The same, and the executor has not recorded it. It is durable when this returns.
    ///
    /// # Errors
    /// When it can't be recorded.
    fn record(&mut self, _run: &Run) -> Result<(), MeasureError> {
        Ok(())
    }
    /// A round has ended; `runs` are all so far.
    fn round_done(&mut self, runs: &[Run], round: u32, elapsed: Duration);
}

/// An observer that draws nothing and records nothing: for sessions whose executor keeps the runs
/// itself, or whose runs only serve a verdict.
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

/// A run that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUp {
    /// The numbers; its round is counted among those to warm up.
    pub run: Run,
    /// As in [`RunReport::piped_bytes`].
    pub piped_bytes: Option<u64>,
}

/// What came of it.
#[derive(Debug)]
pub struct Session {
    /// Every measured run.
    pub runs: Vec<Run>,
    /// Every run to warm up.
    pub warmups: Vec<WarmUp>,
    /// Wall times of the empty program, in nanoseconds.
    pub floor_ns: Vec<u64>,
    /// Why it ended.
    pub stop: StopReason,
    /// What went wrong, if it ended by a failure.
    pub failure: Option<MeasureError>,
    /// How often the final verdicts may err.
    pub allowance: Allowance,
}

/// Runs of the empty program at either end of the session. Each costs as much as a run of a short
/// command; the median of ten is known within some 5 %, which is enough for a figure to compare
/// with.
const FLOOR_RUNS: u32 = 5;
/// Runs of the empty program before those, to warm up.
const FLOOR_WARMUP: u32 = 1;
/// Attempts that an executor is given at least, if they are sure to follow.
const FORESIGHT: usize = 128;

/// Makes the rounds. What was measured is returned whatever happens; `--cleanup` and the final
/// sweep happen in any case.
pub fn conduct(plan: &Plan, executor: &mut dyn Executor, observer: &mut dyn Observer) -> Session {
    go_on(plan, Vec::new(), executor, observer)
}

/// The same after `done`, whole rounds of an earlier session with the same plan. They are looked at in the
/// same places as then, so that looks cost what they would have cost in one session.
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

/// Room for so many runs is made beforehand: while the list grows, each doubling copies all of it.
fn foreseen_runs(plan: &Plan) -> usize {
    const MOST: usize = 1 << 14;
    match plan.stop {
        StopRule::Runs(rounds) => (rounds as usize).saturating_mul(plan.benchmarks).min(MOST),
        StopRule::Answer(_) => 0,
    }
}

struct Rounds<'a> {
    plan: &'a Plan,
    /// Runs of an earlier session.
    done: Vec<Run>,
    random: SmallRng,
    order: Vec<usize>,
    /// Attempts that follow, in order.
    upcoming: VecDeque<Attempt>,
    runs: Vec<Run>,
    warmups: Vec<WarmUp>,
    floor_ns: Vec<u64>,
    /// Numbers of the looks at verdicts that were taken before the end.
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
            // Counted before it is made: what a failed set-up left half done is cleaned up too.
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
            // The first round was made with the last one to warm up, before they were handed out.
            if let Some(first) = self.runs.get(earlier).filter(|_| warmed_ahead) {
                began = Duration::from_nanos(first.started_ns);
            }
            round += 1;
            let elapsed = before + executor.elapsed().saturating_sub(began);
            observer.round_done(&self.runs, round, elapsed);
            // Runs that are made already are results: the round that they belong to is finished.
            if executor.is_ahead() {
                continue;
            }
            if let Some(reason) = self.enough(round, elapsed) {
                self.measure_floor(executor, 0)?;
                return Ok(reason);
            }
        }
    }

    /// The number of rounds up to which it may be planned once `round` of them are made.
    ///
    /// Looks don't end a plan. Where an executor makes many short runs at a stretch, a look that
    /// falls due in between is taken at its end: a pause for each would make the runs after it
    /// slower.
    fn foreseeable(&self, round: u32) -> u32 {
        let most = match self.plan.stop {
            StopRule::Runs(wanted) => return wanted,
            StopRule::Answer(limits) => limits.maximum.unwrap_or(u32::MAX),
        };
        // Without a warm-up the first round is made alone: nothing is known yet of how its runs
        // end.
        match round == 0 && self.plan.warmup == 0 {
            true => most.min(1),
            false => most,
        }
    }

    /// Plans rounds from this one on, those to warm up and then the measured ones, until enough
    /// attempts are known. No pause before the first measured round: that would undo a part of what
    /// the warm-up is for.
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

    /// Makes the next round of the attempts that are planned.
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

    /// A run that ends badly ends everything, unless it is to be ignored.
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
                // It is among them.
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
        // Looks are due at rounds that are fixed beforehand: each costs a part of the error rate.
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
