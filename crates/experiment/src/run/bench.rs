//! `how = "bench"`: measures all subjects in one session, in rounds.

use std::time::{Duration, Instant};

use fathom_conduct::{BenchPlan, ConductError, Event, fresh_seed};
use fathom_measure::MeasureError;
use fathom_model::{AskedMetric, BenchRecord, Exit, Metric, RunOrder};

use super::command::{self, CommandError, execute};
use super::verb::{self, End, Verb};
use super::{Interrupted, NO_TIME, Yield};
use crate::file::experiment::Measure;
use crate::metrics::unit_text;
use crate::resolve::{Folders, Job, Sink, Target};
use crate::results::{Cause, Gap, Samples};

/// The minimum number of rounds that remain under a time limit.
const FEWEST_ROUNDS: u64 = 5;

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// Number of rounds.
    pub rounds: u64,
    /// The remaining time; no more rounds are started than fit into it.
    pub time: Option<Duration>,
    /// The time by which everything must have ended, regardless of the results so far.
    pub deadline: Option<Instant>,
    /// How many rounds the measure already has.
    pub before: u64,
}

impl Amount {
    /// Returns whether nothing more may be started.
    pub fn is_over(&self) -> bool {
        is_over(self.deadline)
    }

    /// Returns the name of a measure's record, without its extension; additional rounds have a record of
    /// their own.
    pub fn record_name(&self, measure: &Measure) -> String {
        match self.before {
            0 => measure.id.value.clone(),
            before => format!("{}-from-round-{before}", measure.id.value),
        }
    }

    /// Returns the number of rounds that fit into the time if one round takes this many seconds.
    pub fn fitting(&self, seconds: f64) -> u64 {
        match self.time {
            Some(time) if seconds > 0.0 => {
                let fit = (time.as_secs_f64() / seconds).floor() as u64;
                self.rounds.min(fit.max(FEWEST_ROUNDS))
            }
            _ => self.rounds,
        }
    }
}

/// Returns whether the time is up.
pub fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Runs every target once without measuring. Targets that fail become gaps and are skipped. Also returns the
/// duration of one round in seconds.
pub fn try_out(
    targets: Vec<Target>,
    measure: &Measure,
    amount: Amount,
    folders: &Folders,
    outcome: &mut Yield,
) -> Result<(Vec<Target>, f64), Interrupted> {
    let mut good = Vec::new();
    let mut seconds = 0.0;
    for target in targets {
        if amount.is_over() {
            outcome.results.gaps.push(no_time(measure, &target));
            continue;
        }
        let stem = folders.work.join("logs").join(format!(
            "try-{}-{}",
            measure.id.value,
            target.file_part()
        ));
        let job = Job {
            output: match &target.job.output {
                Sink::File(path) => Sink::File(path.clone()),
                _ => Sink::File("/dev/null".into()),
            },
            ..target.job.clone()
        }
        .until(amount.deadline);
        let reason = match execute(&job, &stem) {
            Err(CommandError::Interrupted) => return Err(Interrupted),
            Err(CommandError::NotStarted(why)) => why,
            Ok(ended) if ended.run.exit == Exit::TimedOut && amount.is_over() => {
                outcome.results.gaps.push(no_time(measure, &target));
                continue;
            }
            Ok(ended) if ended.run.exit.is_success() || target.may_fail => {
                seconds += ended.run.wall_ns as f64 / 1e9;
                good.push(target);
                continue;
            }
            Ok(ended) => format!(
                "{}: {}",
                command::describe(ended.run.exit),
                command::last_words(&ended.stderr)
            ),
        };
        outcome.failed = true;
        outcome.results.gaps.push(Gap {
            measure: Some(measure.id.value.clone()),
            subject: Some(target.subject.clone()),
            parameters: target.parameters.clone(),
            reason: format!("{} failed ({reason})", target.label()),
            cause: Cause::Failed,
        });
    }
    Ok((good, seconds))
}

/// Returns the gap of a target that is skipped because the time is up.
pub fn no_time(measure: &Measure, target: &Target) -> Gap {
    Gap {
        measure: Some(measure.id.value.clone()),
        subject: Some(target.subject.clone()),
        parameters: target.parameters.clone(),
        reason: format!("{} was not measured: {NO_TIME}", target.label()),
        cause: Cause::NotMeasured,
    }
}

/// Measures the targets in rounds.
pub fn run(
    measure: &Measure,
    targets: Vec<Target>,
    amount: Amount,
    folders: &Folders,
) -> Result<Yield, Interrupted> {
    let mut outcome = Yield::default();
    let (targets, seconds) = try_out(targets, measure, amount, folders, &mut outcome)?;
    if targets.is_empty() {
        return Ok(outcome);
    }
    let rounds = amount.fitting(seconds);
    if rounds < amount.rounds {
        outcome.notes.push(format!(
            "{rounds} rounds instead of {}, to stay within the time limit",
            amount.rounds
        ));
    }
    let verb = Verb::new(&amount.record_name(measure), amount, folders);
    let measured = plan(measure, &targets, rounds, &verb)
        .and_then(|plan| fathom_conduct::bench(&plan, &mut |_: Event<'_>| ()));
    let end = verb.ended();
    let failure = match measured {
        Ok(measured) => {
            let record = measured.record;
            outcome.results.samples = samples(&record, &targets, measure);
            record
                .runs
                .iter()
                .for_each(|run| outcome.results.waits.add_run(run));
            measured.failure.map(ConductError::from)
        }
        Err(error) => Some(error),
    };
    outcome.records.extend(verb.record());
    outcome.interrupted = end == End::Interrupted;
    match failure {
        _ if end == End::Cut => outcome
            .notes
            .push("cut short by its time limit".to_string()),
        Some(error) if !error.is_interruption() => {
            outcome.failed = true;
            outcome.notes.push(format!("bench: {}", verb.said(&error)));
        }
        _ => {}
    }
    for target in &targets {
        let measured = (outcome.results.samples.iter()).any(|samples| {
            samples.subject.as_deref() == Some(&target.subject)
                && samples.parameters == target.parameters
        });
        if !measured {
            let why = outcome
                .notes
                .last()
                .cloned()
                .unwrap_or_else(|| "interrupted".to_string());
            outcome.results.gaps.push(Gap {
                measure: Some(measure.id.value.clone()),
                subject: Some(target.subject.clone()),
                parameters: target.parameters.clone(),
                reason: format!("{} was not measured ({why})", target.label()),
                cause: match end {
                    End::ByItself => Cause::Failed,
                    End::Interrupted | End::Cut => Cause::NotMeasured,
                },
            });
        }
    }
    Ok(outcome)
}

fn plan(
    measure: &Measure,
    targets: &[Target],
    rounds: u64,
    verb: &Verb,
) -> Result<BenchPlan, ConductError> {
    let found = |target: &Target| {
        let mut found = verb::find(&target.job)?;
        found.benchmark.name = target.label();
        Ok(found)
    };
    Ok(BenchPlan {
        targets: targets
            .iter()
            .map(found)
            .collect::<Result<_, MeasureError>>()?,
        against: fathom_measure::Against::One(0),
        metrics: measure
            .metrics
            .iter()
            .map(|(metric, own)| AskedMetric::new(*metric, *own, fathom_conduct::bench::MARGIN))
            .collect(),
        alpha: fathom_conduct::bench::ALPHA,
        amount: fathom_conduct::bench::Amount {
            runs: Some(verb::count(rounds)),
            ..Default::default()
        },
        warmup: verb::count(measure.warmup),
        seed: fresh_seed(),
        margin: fathom_conduct::bench::MARGIN,
        ignore_failure: verb::ignored(targets),
        require_quiet: None,
        canaries: true,
        vary_environment_size: true,
        order: RunOrder::Random,
        keep_daemons: false,
        record: Some(verb.path.clone()),
        terms: verb.terms(targets.iter().map(|target| &target.job)),
        slope: None,
    })
}

/// Returns the metrics of all runs, by round.
fn samples(record: &BenchRecord, targets: &[Target], measure: &Measure) -> Vec<Samples> {
    let mut all = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let runs: Vec<_> = record
            .runs
            .iter()
            .filter(|run| run.benchmark == index)
            .collect();
        let mut add = |metric: &str, unit: &str, exact, primary, values: Vec<(u32, f64)>| {
            if !values.is_empty() {
                all.push(Samples {
                    measure: measure.id.value.clone(),
                    metric: metric.to_string(),
                    subject: Some(target.subject.clone()),
                    parameters: target.parameters.clone(),
                    unit: unit.to_string(),
                    values,
                    exact,
                    primary,
                    is_share: false,
                });
            }
        };
        for metric in Metric::ALL {
            let values = runs
                .iter()
                .filter_map(|run| Some((run.round, metric.of(run)?)))
                .collect();
            let primary = metric == measure.main_metric();
            add(
                metric.name(),
                unit_text(metric.unit()),
                false,
                primary,
                values,
            );
        }
        if !runs.is_empty() {
            let failed = runs.iter().filter(|run| !run.exit.is_success()).count();
            add("failures", "", true, false, vec![(0, failed as f64)]);
        }
    }
    all
}
