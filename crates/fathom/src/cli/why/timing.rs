//! The timed runs: never observed, the times that count.

use std::time::Duration;

use fathom_measure::{
    Hooks, Limits, MeasureError, Observer, Plan, ProcessExecutor, ProcessOptions, Question,
    StopRule, conduct, now_rfc3339,
};
use fathom_model::{Estimate, Exit, Metric, Run, TimedRuns};

use super::{Arguments, say};
use crate::cli::bench::ignored;
use crate::cli::failure::Failure;
use crate::cli::target::Target;

/// Enough to know a median for an explanation.
const PRECISION: f64 = 0.01;
/// Long enough for thirty runs of 100 ms, short enough to wait for.
const PATIENCE: Duration = Duration::from_secs(3);
/// A program of ten seconds is timed three times.
const AT_MOST: Duration = Duration::from_secs(30);

/// What came of it.
pub struct Timing {
    /// Every run.
    pub runs: Vec<Run>,
    /// Their summary.
    pub timed: TimedRuns,
    /// When it began.
    pub started_at: String,
}

impl Timing {
    /// Leaves no runs, and returns the summary of those that were there.
    pub fn take(&mut self) -> TimedRuns {
        self.runs.clear();
        let none = summarized(&[], self.timed.floor);
        std::mem::replace(&mut self.timed, none)
    }
}

/// What a session that was ended leaves, in words.
pub fn left(timing: &Timing) -> String {
    format!(
        "interrupted before the command was observed: nothing is explained. Before that: {}",
        fathom_report::untraced(&timing.timed)
    )
}

/// Ends the session after the first run that took too long: more of them say no more.
struct Watch<'a> {
    arguments: &'a Arguments,
}

impl Observer for Watch<'_> {
    fn round(&mut self, round: u32, warmup: bool) {
        let what = match warmup {
            true => "timing: a run that doesn't count …".to_owned(),
            false => format!("timing: run {} …", round + 1),
        };
        say(self.arguments, &what);
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
/// When it can't be run at all, or a run fails and that isn't to be ignored. A run that takes too long is
/// what is to be explained.
pub fn time(target: &Target, arguments: &Arguments) -> Result<Timing, Failure> {
    let started_at = now_rfc3339();
    let options = &arguments.run_options;
    let hooks = Hooks {
        prepare: target.prepare.clone(),
        ..Hooks::default()
    };
    let mut executor = ProcessExecutor::new(
        vec![(target.command.clone(), hooks)],
        ProcessOptions {
            timeout: options.timeout,
            pin: options.pin.clone().unwrap_or_default(),
            vary_environment_size: true,
            show_output: options.show_output,
            keep_daemons: false,
            seed: 1,
        },
    )?;
    let plan = Plan {
        benchmarks: 1,
        // With a time limit the first run may be one that never ends: once is enough.
        warmup: u32::from(options.timeout.is_none()),
        seed: 1,
        stop: match arguments.runs {
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
            names: vec![target.benchmark.name.clone()],
            reference: 0,
            margin: 0.01,
            alpha: 0.05,
        },
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
    };
    let mut session = conduct(&plan, &mut executor, &mut Watch { arguments });
    if let Some(error) = session.failure.take() {
        return Err(error.into());
    }
    let timed_out = session.runs.is_empty() && fathom_measure::interrupt::received().is_none();
    if session.runs.is_empty() && !timed_out {
        return Err(Failure::Interrupted(NEVER_ENDED.to_string()));
    }
    let floor: Vec<f64> = session.floor_ns.iter().map(|ns| *ns as f64 / 1e9).collect();
    Ok(Timing {
        timed: summarized(&session.runs, fathom_stats::median_interval(&floor, 0.95)),
        runs: session.runs,
        started_at,
    })
}

fn summarized(runs: &[Run], floor: Option<Estimate>) -> TimedRuns {
    let summary = |metric: Metric| {
        let values: Vec<f64> = runs.iter().filter_map(|run| metric.of(run)).collect();
        fathom_stats::median_interval(&values, 0.95).unwrap_or(NOTHING)
    };
    TimedRuns {
        runs: runs.len(),
        wall: summary(Metric::Wall),
        cpu: summary(Metric::Cpu),
        peak_memory: summary(Metric::PeakMemory),
        floor,
    }
}

/// What is said to who interrupts before there is a time.
const NEVER_ENDED: &str = "interrupted before the first timed run had ended. A command that doesn't end by itself, such as a \
     server, is explained with a time limit: fathom why --timeout 10s -- COMMAND";

/// Of no run at all.
const NOTHING: Estimate = Estimate {
    value: 0.0,
    low: 0.0,
    high: 0.0,
    level: 0.0,
};
