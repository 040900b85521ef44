//! Decides whether a suite of benchmarks is worse at head than at base, reliably enough to block a merge.
//!
//! A [`Gate`] tells what to measure next and receives the rounds. It has no access to a clock or a process,
//! so recorded runs can be replayed through it.
//!
//! - A round of a benchmark consists of two runs of base and one or two of head, in random order. Their means
//!   are a pair of base and head. The two runs of base use two copies, as base and head do, and form a pair
//!   of a program with itself, the *null arm*, which costs no additional run. A difference between the copies
//!   is not a change of the code, so it widens the interval.
//! - *Screening*: all benchmarks are measured until each is decided. A benchmark is `not worse` as soon as it
//!   can't be worse by more than the margin. It is a candidate as soon as it is worse by more than the margin
//!   and more than the noise floor, with the false discovery rate over the suite controlled.
//! - *Confirmation*: a candidate is measured again, in rounds that were not used for choosing it, and is
//!   `worse` only if these alone show it, too.
//! - Analyses take place at fixed numbers of rounds, each with a part of the allowance, so that looking early
//!   doesn't cause more errors.

mod best_of;
mod evidence;
mod samples;

pub use best_of::{BestOf, BestOfVerdict, FalseFailures, best_of, best_of_on_itself};
use evidence::{Beyond, apart, beyond, half_interval, itself_differs};
use fathom_model::{Estimate, Metric};
use samples::Samples;
pub use samples::{GateRound, GateRun};

use crate::discovery::benjamini_hochberg;

/// Rounds before the first analysis.
const FIRST: usize = 10;
/// The factor from one analysis to the next in the number of rounds.
const GROWTH: f64 = 1.4;
/// The rate at which screening may pass a benchmark that is worse by more than the margin. It is half of the
/// interval's error rate, so that a passing benchmark is within the margin as printed.
const PASSED: f64 = 0.025;
/// The share of candidates sent to confirmation that may be no worse than the margin (expected false
/// discovery rate). It is generous because confirmation, which doesn't use these rounds, decides. With 5 %, a
/// change of 5 % in one of 13 programs was found in 46 % of suites while all CPUs were busy; with the value
/// used here, in 83 %.
const CANDIDATES: f64 = 0.5;
/// The error rate of confirmation, for all candidates together, at the margin itself.
const CONFIRMATION: f64 = 0.025;
/// The rate at which a program that differs from itself by exactly the margin may be reported to differ by
/// more. Ten rounds can't show less than 0.002.
const NULL_ARM: f64 = 0.01;
/// Confidence level of the reported intervals, including early stops, and of the half-interval that is the
/// noise floor.
const LEVEL: f64 = 0.95;

/// The question about one benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateQuestion {
    /// The judged metric; if `None`, time, by the clock that suits the runs.
    pub metric: Option<Metric>,
    /// The smallest change that counts, as a share.
    pub margin: f64,
    /// The noise floor of this series from its history, as a share; if `None`, the null arm determines it.
    pub floor: Option<f64>,
}

/// The answer for a benchmark or a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateAnswer {
    /// The benchmark is worse by more than the margin and the noise floor, in screening and in confirmation.
    Worse,
    /// The benchmark is not worse by more than the margin.
    NotWorse,
    /// Neither could be shown within the available time.
    CannotTell,
}

/// The result for a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct GateFinding {
    /// The answer.
    pub answer: GateAnswer,
    /// The metric by which it was judged.
    pub metric: Metric,
    /// Head / base over all rounds with a 95 % interval; over the rounds of confirmation alone if there were
    /// any.
    pub ratio: Option<Estimate>,
    /// Base's copy against base over all rounds.
    pub null_arm: Option<Estimate>,
    /// How much two copies of base certainly differ, as a share; 0 if no difference was shown.
    pub copies_apart: f64,
    /// The noise floor that a change had to exceed, as a share.
    pub floor: f64,
    /// Number of rounds of screening.
    pub rounds: usize,
    /// Number of rounds of confirmation.
    pub confirmation_rounds: usize,
    /// Whether the benchmark looked worse in screening.
    pub looked_worse: bool,
    /// For [`GateAnswer::CannotTell`]: the total number of rounds that would probably decide.
    pub rounds_to_decide: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Screening,
    /// The benchmark is being measured again; it became a candidate at this number of rounds.
    Confirming(usize),
    Decided(GateAnswer),
}

#[derive(Debug, Clone)]
struct One {
    question: GateQuestion,
    screening: Samples,
    fresh: Samples,
    state: State,
    analyses: u32,
    /// Whether the latest analysis was the last that the time allowed.
    last: bool,
}

/// The state of the decision.
#[derive(Debug, Clone)]
pub struct Gate {
    suite: Vec<One>,
    /// This gate's share of the suite's error allowance.
    share: f64,
}

impl Gate {
    /// Creates a gate without measurements.
    pub fn new(questions: impl IntoIterator<Item = GateQuestion>) -> Gate {
        let one = |question| One {
            question,
            screening: Samples::default(),
            fresh: Samples::default(),
            state: State::Screening,
            analyses: 0,
            last: false,
        };
        Gate {
            suite: questions.into_iter().map(one).collect(),
            share: 1.0,
        }
    }

    /// Declares this gate to be one of `parts` parts of a suite that are measured separately. All parts
    /// together have the error rate of the suite.
    #[must_use]
    pub fn one_of(mut self, parts: usize) -> Gate {
        self.share = 1.0 / parts.max(1) as f64;
        self
    }

    /// Returns how many more rounds each benchmark needs before [`Gate::analyse`] may look at it again: 0 if
    /// it is decided.
    pub fn wanted(&self) -> Vec<usize> {
        let wanted = |one: &One| one.due().saturating_sub(one.measured());
        self.suite.iter().map(wanted).collect()
    }

    /// Returns whether any benchmark is still in screening.
    pub fn is_screening(&self) -> bool {
        self.suite.iter().any(|one| one.state == State::Screening)
    }

    /// Returns whether a benchmark is being measured again.
    pub fn is_confirming(&self, benchmark: usize) -> bool {
        matches!(self.suite[benchmark].state, State::Confirming(_))
    }

    /// Adds a round of a benchmark. A benchmark that is already decided doesn't change: the round was made
    /// for another metric of the same runs.
    pub fn add(&mut self, benchmark: usize, round: &GateRound) {
        let one = &mut self.suite[benchmark];
        match one.state {
            State::Screening => one.screening.add(round),
            State::Confirming(_) => one.fresh.add(round),
            State::Decided(_) => {}
        }
    }

    /// Analyses the benchmarks that have the wanted number of rounds.
    pub fn analyse(&mut self) {
        let ready: Vec<bool> = self
            .suite
            .iter()
            .map(|one| one.is_open() && one.measured() >= one.due())
            .collect();
        self.look(&ready, false);
    }

    /// Makes the last analysis of screening, with the rest of the allowance, because the time for screening
    /// is over. Candidates go on to confirmation.
    pub fn end_screening(&mut self) {
        let ready: Vec<bool> = self
            .suite
            .iter()
            .map(|one| one.state == State::Screening)
            .collect();
        self.look(&ready, true);
        for one in &mut self.suite {
            if one.state == State::Screening {
                one.state = State::Decided(GateAnswer::CannotTell);
            }
        }
    }

    /// Makes the last analysis of confirmation, with the rest of the allowance, because the time is over.
    pub fn end(&mut self) {
        let ready: Vec<bool> = self
            .suite
            .iter()
            .map(|one| one.fresh.rounds() > 0)
            .collect();
        self.confirmed(&ready, true);
        for one in &mut self.suite {
            if one.is_open() {
                one.state = State::Decided(GateAnswer::CannotTell);
            }
        }
    }

    fn look(&mut self, ready: &[bool], last: bool) {
        let candidates = self.screened(ready, last);
        self.confirmed(ready, false);
        for (one, candidate) in self.suite.iter_mut().zip(candidates) {
            if candidate {
                one.state = State::Confirming(one.screening.rounds().max(FIRST));
                one.analyses = 0;
                one.last = false;
            }
        }
    }

    /// Analyses the rounds of confirmation.
    fn confirmed(&mut self, ready: &[bool], last: bool) {
        let confirming = self
            .suite
            .iter()
            .filter(|one| matches!(one.state, State::Confirming(_)));
        let shared = self.share * CONFIRMATION / confirming.count().max(1) as f64;
        for (one, ready) in self.suite.iter_mut().zip(ready) {
            if *ready && matches!(one.state, State::Confirming(_)) {
                one.confirm(shared, last);
            }
        }
    }

    /// Decides benchmarks that aren't worse, and returns which ones look worse.
    fn screened(&mut self, ready: &[bool], last: bool) -> Vec<bool> {
        let asked = |one: &One, ready: bool| ready && one.state == State::Screening;
        let mut number = 1;
        let p_values: Vec<f64> = self
            .suite
            .iter_mut()
            .zip(ready)
            .map(|(one, ready)| {
                if !asked(one, *ready) {
                    return 1.0;
                }
                one.analyses += 1;
                one.last = last;
                number = one.analyses;
                if one.within(&one.screening) <= allowance(PASSED, number, last) {
                    one.state = State::Decided(GateAnswer::NotWorse);
                    return 1.0;
                }
                one.beyond(&one.screening)
            })
            .collect();
        benjamini_hochberg(&p_values, allowance(self.share * CANDIDATES, number, last))
    }

    /// Returns whether any program differs from itself by more than the margin. In that case the cause is the
    /// machine or the benchmark, and no verdict can be given. A benchmark that is worse by far more than its
    /// copies differ keeps its verdict, and is not counted.
    pub fn null_arm_fails(&self) -> bool {
        let p_values: Vec<f64> = self
            .suite
            .iter()
            .filter(|one| !one.is_worse_than_copies_differ())
            .map(|one| {
                let all = one.all();
                itself_differs(&all.null_pairs(), one.question.margin)
            })
            .collect();
        benjamini_hochberg(&p_values, self.share * NULL_ARM).contains(&true)
    }

    /// Returns the result for each benchmark; undecided ones have [`GateAnswer::CannotTell`].
    pub fn findings(&self) -> Vec<GateFinding> {
        self.suite.iter().map(One::finding).collect()
    }

    /// Returns all runs of the null arm by benchmark, for [`best_of_on_itself`]: pairs of runs of the same
    /// program in the same round, in seconds of wall time.
    pub fn null_runs(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        self.suite
            .iter()
            .map(|one| one.all().null_walls())
            .collect()
    }
}

impl One {
    fn is_open(&self) -> bool {
        !matches!(self.state, State::Decided(_))
    }

    fn measured(&self) -> usize {
        match self.state {
            State::Confirming(_) => self.fresh.rounds(),
            _ => self.screening.rounds(),
        }
    }

    /// Returns the number of rounds at which the next analysis is due.
    fn due(&self) -> usize {
        match self.state {
            State::Screening => (FIRST as f64 * GROWTH.powi(self.analyses as i32)).ceil() as usize,
            State::Confirming(first) => first << self.analyses.min(20),
            State::Decided(_) => 0,
        }
    }

    fn all(&self) -> Samples {
        self.screening.with(&self.fresh)
    }

    fn floor(&self, samples: &Samples) -> f64 {
        let floor = self.question.floor;
        floor.unwrap_or_else(|| half_interval(&samples.null_pairs(), LEVEL))
    }

    /// Returns the p-value of 'not worse than margin and noise floor'.
    fn beyond(&self, samples: &Samples) -> f64 {
        let limit = self.question.margin.max(self.floor(samples));
        let limit = (1.0 + limit) * apart(&samples.null_pairs()) - 1.0;
        beyond(&samples.pairs(), limit, self.alpha()).more
    }

    /// Returns the p-value of 'worse than the margin'.
    fn within(&self, samples: &Samples) -> f64 {
        let limit = (1.0 + self.question.margin) / apart(&samples.null_pairs()) - 1.0;
        beyond(&samples.pairs(), limit, self.alpha()).less
    }

    /// Returns the interval's error allowance at the current analysis. It is only a part of the whole, since
    /// any earlier analysis could also have been the last.
    fn alpha(&self) -> f64 {
        allowance(1.0 - LEVEL, self.analyses, self.last)
    }

    /// Returns the ratio with an interval, widened by how much copies of the same program differ. The
    /// intervals of all analyses together miss the true value in 5 % of cases.
    fn ratio(&self, judged: &Samples, apart: f64) -> Option<Estimate> {
        let alpha = self.alpha();
        let Beyond { ratio, .. } = beyond(&judged.pairs(), self.question.margin, alpha);
        ratio.map(|ratio| Estimate {
            low: ratio.low / apart,
            high: ratio.high * apart,
            level: match ratio.level >= 1.0 - alpha {
                true => LEVEL,
                false => ratio.level,
            },
            ..ratio
        })
    }

    /// Returns whether the benchmark was confirmed as worse, and its interval is still beyond the margin if
    /// it is widened once more by how much two copies of the program may differ.
    fn is_worse_than_copies_differ(&self) -> bool {
        let finding = self.finding();
        let (Some(ratio), Some(copies)) = (finding.ratio, finding.null_arm) else {
            return false;
        };
        let furthest = copies.high.max(1.0 / copies.low);
        finding.answer == GateAnswer::Worse && ratio.low / furthest > 1.0 + self.question.margin
    }

    fn confirm(&mut self, allowed: f64, last: bool) {
        self.analyses += 1;
        self.last = last;
        let allowance = allowance(allowed, self.analyses, last);
        if self.beyond(&self.fresh) <= allowance {
            self.state = State::Decided(GateAnswer::Worse);
        } else if self.within(&self.fresh) <= allowance {
            self.state = State::Decided(GateAnswer::NotWorse);
        }
    }

    fn finding(&self) -> GateFinding {
        let fresh = self.fresh.rounds() > 0;
        let judged = if fresh { &self.fresh } else { &self.screening };
        let answer = match self.state {
            State::Decided(answer) => answer,
            _ => GateAnswer::CannotTell,
        };
        let all = self.all();
        let apart = apart(&all.null_pairs());
        let ratio = self.ratio(judged, apart);
        GateFinding {
            answer,
            metric: self.question.metric.unwrap_or_else(|| judged.metric()),
            ratio,
            null_arm: beyond(&all.null_pairs(), self.question.margin, 1.0 - LEVEL).ratio,
            copies_apart: apart - 1.0,
            floor: self.floor(&all),
            rounds: self.screening.rounds(),
            confirmation_rounds: self.fresh.rounds(),
            looked_worse: fresh || matches!(self.state, State::Confirming(_)),
            rounds_to_decide: ratio
                .filter(|_| answer == GateAnswer::CannotTell)
                .and_then(|ratio| rounds_to_decide(&ratio, self.question.margin, judged.rounds())),
        }
    }
}

/// Returns the error allowance of the `number`-th analysis. The analyses at fixed numbers of rounds share
/// half of `all`, and the last analysis has the other half.
fn allowance(all: f64, number: u32, last: bool) -> f64 {
    let number = f64::from(number.max(1));
    match last {
        true => all / 2.0,
        false => all / 2.0 / (number * (number + 1.0)),
    }
}

/// Returns the number of rounds after which the interval is on one side of the margin, assuming that it
/// shrinks with the square root of their number.
fn rounds_to_decide(ratio: &Estimate, margin: f64, rounds: usize) -> Option<u64> {
    let limit = margin.ln_1p();
    let (value, low, high) = (ratio.value.ln(), ratio.low.ln(), ratio.high.ln());
    let (half, room) = match value > limit {
        true => (value - low, value - limit),
        false => (high - value, limit - value),
    };
    // Confirmation takes the same number of rounds again, and early analyses require a wider interval.
    let needed = rounds as f64 * (1.3 * half / room).powi(2) * 2.0;
    (needed.is_finite() && needed < 1e7).then_some(needed.ceil() as u64)
}
