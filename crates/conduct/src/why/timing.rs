//! The timed runs: never observed, the times that count.

use std::time::Duration;

use fathom_measure::{
    Against, Hooks, Limits, MeasureError, Plan, ProcessExecutor, Question, StopRule, conduct,
    interrupt, now_rfc3339,
};
use fathom_model::{Exit, Run, TimedRuns};

use super::WhyPlan;
use crate::bench::{ALPHA, MARGIN};
use crate::{ConductError, Event, Observer, null_output};

/// The order of one command's runs is no choice.
const SEED: u64 = 1;
/// Enough to know a median for an explanation.
const PRECISION: f64 = 0.01;
/// Long enough for thirty runs of 100 ms, short enough to wait for.
const PATIENCE: Duration = Duration::from_secs(3);
/// A program of ten seconds is timed three times.
const AT_MOST: Duration = Duration::from_secs(30);

/// What came of it.
pub(super) struct Timing {
    /// Every run.
    pub runs: Vec<Run>,
    /// Their summary.
    pub timed: TimedRuns,
    /// When it began.
    pub started_at: String,
    /// What they did less because their output went to `/dev/null`, in words.
    pub less_for_null: Option<String>,
}

impl Timing {
    /// Leaves no runs, and returns the summary of those that were there.
    pub(super) fn take(&mut self) -> TimedRuns {
        self.runs.clear();
        let none = fathom_diagnose::timed_runs(&[], self.timed.floor);
        std::mem::replace(&mut self.timed, none)
    }
}

/// Ends the session after the first run that took too long: more of them say no more.
struct FirstTimeOut<'o> {
    observer: &'o mut dyn Observer,
}

impl fathom_measure::Observer for FirstTimeOut<'_> {
    fn round(&mut self, round: u32, warmup: bool) {
        self.observer.on(Event::Round { round, warmup });
    }
    fn starts(&mut self, _: usize) {}
    fn ran(&mut self, run: &Run) -> Result<(), MeasureError> {
        match run.exit {
            Exit::TimedOut => Err(MeasureError::Interrupted),
            _ => Ok(()),
        }
    }
    fn round_done(&mut self, _: &[Run], _: u32, _: Duration) {}
}

/// Times the command.
///
/// # Errors
/// When it can't be run at all, or a run fails and that isn't to be ignored. A run that takes too
/// long is what is to be explained.
pub(super) fn time(plan: &WhyPlan, observer: &mut dyn Observer) -> Result<Timing, ConductError> {
    let started_at = now_rfc3339();
    let hooks = Hooks {
        prepare: plan.target.hooks.prepare.clone(),
        ..Hooks::default()
    };
    let mut executor = ProcessExecutor::new(
        vec![(plan.target.command.clone(), hooks)],
        plan.terms.process_options(SEED),
    )?
    .piping_warmup(Some(0));
    let rounds = Plan {
        benchmarks: 1,
        // With a time limit the first run may be one that never ends: once is enough.
        warmup: u32::from(plan.terms.timeout.is_none()),
        seed: SEED,
        stop: match plan.runs {
            Some(runs) => StopRule::Runs(runs),
            None => StopRule::Answer(Limits {
                minimum: 3,
                maximum: Some(30),
                at_least: Duration::ZERO,
                soft: PATIENCE,
                hard: AT_MOST,
                precision: Some(PRECISION),
            }),
        },
        question: Question {
            names: vec![plan.target.benchmark.name.clone()],
            against: Against::One(0),
            metric: None,
            margin: MARGIN,
            alpha: ALPHA,
        },
        ignore_failure: plan.ignore_failure.clone(),
    };
    let mut session = conduct(&rounds, &mut executor, &mut FirstTimeOut { observer });
    if let Some(error) = session.failure.take() {
        return Err(error.into());
    }
    if session.runs.is_empty() && interrupt::stopped() {
        return Err(ConductError::NothingTimed);
    }
    let floor: Vec<f64> = session.floor_ns.iter().map(|ns| *ns as f64 / 1e9).collect();
    Ok(Timing {
        timed: fathom_diagnose::timed_runs(
            &session.runs,
            fathom_stats::median_interval(&floor, 0.95),
        ),
        less_for_null: null_output::warning(0, &session.warmups, &session.runs)
            .map(|warning| warning.message),
        runs: session.runs,
        started_at,
    })
}
