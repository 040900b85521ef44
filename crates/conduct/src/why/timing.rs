//! The timed runs: never observed, and the source of all times.

use std::time::Duration;

use fathom_measure::{
    Against, Hooks, IgnoreFailure, Limits, MeasureError, Plan, ProcessExecutor, Question, Session,
    StopRule, conduct, interrupt, now_rfc3339,
};
use fathom_model::{Estimate, Exit, Run, RunOrder, TimedRuns};

use super::WhyPlan;
use super::difference::DifferencePlan;
use crate::bench::{ALPHA, MARGIN};
use crate::{ConductError, Event, Observer, RunTerms, Target, null_output};

/// With one command, the order of the runs is fixed.
const SEED: u64 = 1;
/// The precision of the median that an explanation needs, as a share.
const PRECISION: f64 = 0.01;
/// The time for which to time a command: long enough for thirty runs of 100 ms, and short enough for a user
/// to wait.
const PATIENCE: Duration = Duration::from_secs(3);
/// The hard limit: a program that takes ten seconds is timed three times.
const AT_MOST: Duration = Duration::from_secs(30);
/// The minimum number of rounds. With this many, the interval of a difference reaches a confidence level of
/// 95 %, with some margin for its parts.
const FEWEST_OF_BOTH: u32 = 10;
/// The maximum number of rounds. More would narrow the interval without benefit, because the breakdown of the
/// time rests on a few observed runs.
const MOST_OF_BOTH: u32 = 40;

/// The result of timing.
pub(super) struct Timing {
    /// All runs.
    pub runs: Vec<Run>,
    /// The summary of the runs.
    pub timed: TimedRuns,
    /// When timing began.
    pub started_at: String,
    /// A message about what the runs didn't do because their output went to `/dev/null`.
    pub less_for_null: Option<String>,
}

impl Timing {
    /// Extracts the timing of one command from a session.
    fn of(session: &Session, index: usize, started_at: &str) -> Timing {
        let own = session.runs.iter().filter(|run| run.benchmark == index);
        let floor: Vec<f64> = session.floor_ns.iter().map(|ns| *ns as f64 / 1e9).collect();
        let floor = fathom_stats::median_interval(&floor, 0.95);
        Timing {
            less_for_null: null_output::warning(index, &session.warmups, &session.runs)
                .map(|warning| warning.message),
            ..Timing::known(own.cloned().collect(), floor, started_at)
        }
    }

    /// Builds the timing from earlier runs.
    pub(super) fn known(runs: Vec<Run>, floor: Option<Estimate>, started_at: &str) -> Timing {
        Timing {
            timed: fathom_diagnose::timed_runs(&runs, floor),
            runs,
            started_at: started_at.to_owned(),
            less_for_null: None,
        }
    }

    /// Removes all runs, and returns their summary.
    pub(super) fn take(&mut self) -> TimedRuns {
        self.runs.clear();
        let none = fathom_diagnose::timed_runs(&[], self.timed.floor);
        std::mem::replace(&mut self.timed, none)
    }
}

/// Ends the session after the first run that exceeds its time limit, because more such runs add nothing.
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
/// If it can't be run at all, or if a run fails and failures aren't ignored. A run that exceeds its time
/// limit is not an error, because it is the run to be explained.
pub(super) fn time(plan: &WhyPlan, observer: &mut dyn Observer) -> Result<Timing, ConductError> {
    let started_at = now_rfc3339();
    let targets = std::slice::from_ref(&plan.target);
    let stop = match plan.runs {
        Some(runs) => StopRule::Runs(runs),
        None => StopRule::Answer(Limits {
            minimum: 3,
            maximum: Some(30),
            at_least: Duration::ZERO,
            soft: PATIENCE,
            hard: AT_MOST,
            precision: Some(PRECISION),
        }),
    };
    let session = rounds(
        targets,
        stop,
        SEED,
        &plan.terms,
        &plan.ignore_failure,
        observer,
    )?;
    Ok(Timing::of(&session, 0, &started_at))
}

/// Times both commands in the same rounds, in a random order.
///
/// # Errors
/// As for [`time`].
pub(super) fn time_both(
    plan: &DifferencePlan,
    observer: &mut dyn Observer,
) -> Result<[Timing; 2], ConductError> {
    let started_at = now_rfc3339();
    let stop = match plan.runs {
        Some(runs) => StopRule::Runs(runs),
        None => StopRule::Answer(Limits {
            minimum: FEWEST_OF_BOTH,
            maximum: Some(MOST_OF_BOTH),
            at_least: Duration::ZERO,
            soft: 2 * PATIENCE,
            hard: 2 * AT_MOST,
            precision: Some(PRECISION / 2.0),
        }),
    };
    let (terms, ignored) = (&plan.terms, &plan.ignore_failure);
    let session = rounds(&plan.targets, stop, plan.seed, terms, ignored, observer)?;
    if let Some(late) = session.runs.iter().find(|run| run.exit == Exit::TimedOut) {
        let name = &plan.targets[late.benchmark].benchmark.name;
        return Err(ConductError::Untrusted(format!(
            "{name:?} was ended by --timeout: runs that were cut off can't be compared; give both more time, or \
             explain each alone"
        )));
    }
    Ok([0, 1].map(|index| Timing::of(&session, index, &started_at)))
}

/// Runs the rounds.
fn rounds(
    targets: &[Target],
    stop: StopRule,
    seed: u64,
    terms: &RunTerms,
    ignore_failure: &IgnoreFailure,
    observer: &mut dyn Observer,
) -> Result<Session, ConductError> {
    let command = |target: &Target| {
        let hooks = Hooks {
            prepare: target.hooks.prepare.clone(),
            ..Hooks::default()
        };
        (target.command.clone(), hooks)
    };
    let mut executor = ProcessExecutor::new(
        targets.iter().map(command).collect(),
        terms.process_options(seed),
    )?
    .piping_warmup(Some(0));
    let rounds = Plan {
        benchmarks: targets.len(),
        // If there is a time limit, the first run may never end on its own, and waiting for it once is
        // enough.
        warmup: u32::from(terms.timeout.is_none()),
        order: RunOrder::Random,
        seed,
        stop,
        question: Question {
            names: targets
                .iter()
                .map(|target| target.benchmark.name.clone())
                .collect(),
            against: Against::One(0),
            metrics: Vec::new(),
            margin: MARGIN,
            alpha: ALPHA,
        },
        ignore_failure: ignore_failure.clone(),
    };
    let mut session = conduct(&rounds, &mut executor, &mut FirstTimeOut { observer });
    if let Some(error) = session.failure.take() {
        return Err(error.into());
    }
    let is_lacking = |index| session.runs.iter().all(|run| run.benchmark != index);
    if (0..targets.len()).any(is_lacking) && interrupt::stopped() {
        return Err(ConductError::NothingTimed);
    }
    Ok(session)
}
