//! Is a suite of benchmarks worse at head than at base? A decision that is right often enough to
//! block a merge.
//!
//! A [`Gate`] says what to measure next and is given the rounds; it knows neither clock nor process,
//! so that recorded runs can be replayed through it.
//!
//! - A round of a benchmark is two runs of base and one or two of head, in random order. Their means are
//!   a pair of base and head. The two of base are runs of two copies, as base and head are two, and so a
//!   pair of a program with itself, the *null arm*, which costs no run. Copies that differ show what is
//!   no change of the code: the interval gets wider by it.
//! - *Screening*: all benchmarks, until each is decided. `not worse` as soon as it can't be worse by
//!   more than the margin; a candidate as soon as it is worse by more than the margin and more than
//!   the noise floor, with the false discovery rate over the suite controlled.
//! - *Confirmation*: a candidate is measured again, in rounds that took no part in choosing it, and
//!   is `worse` only if these alone say so, too.
//! - Analyses are at fixed numbers of rounds, each with a part of the allowance, so that looking
//!   early doesn't err more often.

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
/// Each analysis comes after so many times the rounds of the one before.
const GROWTH: f64 = 1.4;
/// How often screening may let a benchmark pass that is worse by more than the margin. Half of what the
/// interval may err, so that one that passes lies within the margin as printed.
const PASSED: f64 = 0.025;
/// How many of those that screening sends to confirmation may be no worse than the margin (expected
/// false discovery rate). Generous: what fails a suite is confirmation, which doesn't use these rounds.
/// With 5 %, a change of 5 % in one of 13 programs was found in 46 % of suites where all CPUs were
/// busy; with this in 83 %.
const CANDIDATES: f64 = 0.5;
/// How often confirmation may err, all candidates together, at the margin itself.
const CONFIRMATION: f64 = 0.025;
/// How often a program that differs from itself by just the margin may be said to differ by more. Ten
/// rounds can show no less than 0.002.
const NULL_ARM: f64 = 0.01;
/// Level of the intervals that are reported, early stops included, and of the half-interval that is the
/// noise floor.
const LEVEL: f64 = 0.95;

/// What is asked of one benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateQuestion {
    /// The metric that is judged; time, by the clock that suits the runs, if it is `None`.
    pub metric: Option<Metric>,
    /// Smallest change that counts, as a share.
    pub margin: f64,
    /// Noise floor of this series as its history shows it, as a share; the null arm's without.
    pub floor: Option<f64>,
}

/// The answer for a benchmark or a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateAnswer {
    /// Worse by more than margin and noise floor, twice.
    Worse,
    /// Not worse by more than the margin.
    NotWorse,
    /// Neither could be shown in the time.
    CannotTell,
}

/// What is known of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct GateFinding {
    /// What follows.
    pub answer: GateAnswer,
    /// By which clock it was judged.
    pub metric: Metric,
    /// Head / base over all rounds with a 95 % interval; of the confirmation alone if there was one.
    pub ratio: Option<Estimate>,
    /// Base's copy against base over all rounds.
    pub null_arm: Option<Estimate>,
    /// How far two copies of base lie apart for certain, as a share; 0 where nothing shows it.
    pub copies_apart: f64,
    /// What a change had to exceed: the noise floor that was used, as a share.
    pub floor: f64,
    /// Rounds of screening.
    pub rounds: usize,
    /// Rounds of confirmation.
    pub confirmation_rounds: usize,
    /// It looked worse in screening.
    pub looked_worse: bool,
    /// For [`GateAnswer::CannotTell`]: so many rounds in all would probably decide.
    pub rounds_to_decide: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Screening,
    /// With the number of rounds that sent it here.
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
    /// The newest analysis was the last that the time allowed.
    last: bool,
}

/// The decision, as far as it has come.
#[derive(Debug, Clone)]
pub struct Gate {
    suite: Vec<One>,
    /// The part of what the suite may err that is its own.
    share: f64,
}

impl Gate {
    /// Nothing is measured yet.
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

    /// It is one of so many parts of a suite, each measured alone: all of them together err as often as the
    /// suite would.
    #[must_use]
    pub fn one_of(mut self, parts: usize) -> Gate {
        self.share = 1.0 / parts.max(1) as f64;
        self
    }

    /// How many more rounds each benchmark needs before [`Gate::analyse`] may look at it again: 0
    /// where it is decided.
    pub fn wanted(&self) -> Vec<usize> {
        let wanted = |one: &One| one.due().saturating_sub(one.measured());
        self.suite.iter().map(wanted).collect()
    }

    /// Whether screening goes on somewhere.
    pub fn is_screening(&self) -> bool {
        self.suite.iter().any(|one| one.state == State::Screening)
    }

    /// Whether a benchmark is measured again.
    pub fn is_confirming(&self, benchmark: usize) -> bool {
        matches!(self.suite[benchmark].state, State::Confirming(_))
    }

    /// Takes a round of a benchmark. One that is decided stays as it is: the round was made for another
    /// metric of the same runs.
    pub fn add(&mut self, benchmark: usize, round: &GateRound) {
        let one = &mut self.suite[benchmark];
        match one.state {
            State::Screening => one.screening.add(round),
            State::Confirming(_) => one.fresh.add(round),
            State::Decided(_) => {}
        }
    }

    /// Looks at what has as many rounds as were wanted.
    pub fn analyse(&mut self) {
        let ready: Vec<bool> = self
            .suite
            .iter()
            .map(|one| one.is_open() && one.measured() >= one.due())
            .collect();
        self.look(&ready, false);
    }

    /// The last look of screening, with what is left of the allowance: the time for it is over.
    /// Candidates go on to confirmation.
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

    /// The last look of confirmation, with what is left of the allowance: the time is over.
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

    /// Looks at fresh rounds.
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

    /// Decides what isn't worse, and returns which benchmarks look worse.
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

    /// Whether a program differs from itself by more than the margin somewhere: then the machine, or
    /// the benchmark, is to blame, and no verdict can be given. A benchmark that is worse by far more
    /// than its copies differ keeps its verdict, and is not counted.
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

    /// What is known of each benchmark; what isn't decided can't be told.
    pub fn findings(&self) -> Vec<GateFinding> {
        self.suite.iter().map(One::finding).collect()
    }

    /// All runs of the null arm by benchmark, for [`best_of_on_itself`]: pairs of runs of the same
    /// program in the same round, seconds of wall time.
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

    /// Rounds at which the next analysis is due.
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

    /// p-value of 'not worse than margin and noise floor'.
    fn beyond(&self, samples: &Samples) -> f64 {
        let limit = self.question.margin.max(self.floor(samples));
        let limit = (1.0 + limit) * apart(&samples.null_pairs()) - 1.0;
        beyond(&samples.pairs(), limit, self.alpha()).more
    }

    /// p-value of 'worse than the margin'.
    fn within(&self, samples: &Samples) -> f64 {
        let limit = (1.0 + self.question.margin) / apart(&samples.null_pairs()) - 1.0;
        beyond(&samples.pairs(), limit, self.alpha()).less
    }

    /// What the interval may err now: what was looked at before could have ended it, too.
    fn alpha(&self) -> f64 {
        allowance(1.0 - LEVEL, self.analyses, self.last)
    }

    /// The ratio with an interval of which all those at earlier looks leave out the truth in 5 % of cases
    /// together, and which reaches as far as copies of the same program lie apart.
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

    /// Whether it was confirmed as worse, and its interval lies beyond the margin even when it reaches
    /// once more as far as two copies of the program may differ.
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

/// What the `number`-th analysis may err: half of all is for those at fixed numbers of rounds, and the
/// last one has the other half.
fn allowance(all: f64, number: u32, last: bool) -> f64 {
    let number = f64::from(number.max(1));
    match last {
        true => all / 2.0,
        false => all / 2.0 / (number * (number + 1.0)),
    }
}

/// Rounds after which the interval, if it shrinks with their square root, lies on one side of the
/// margin.
fn rounds_to_decide(ratio: &Estimate, margin: f64, rounds: usize) -> Option<u64> {
    let limit = margin.ln_1p();
    let (value, low, high) = (ratio.value.ln(), ratio.low.ln(), ratio.high.ln());
    let (half, room) = match value > limit {
        true => (value - low, value - limit),
        false => (high - value, limit - value),
    };
    // Confirmation takes as many again, and early looks a wider interval.
    let needed = rounds as f64 * (1.3 * half / room).powi(2) * 2.0;
    (needed.is_finite() && needed < 1e7).then_some(needed.ceil() as u64)
}
