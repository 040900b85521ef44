//! `bench`: times and compares commands.

mod amount;
mod earlier;
mod warm_up;

use std::path::PathBuf;
use std::time::Duration;

pub use amount::{Amount, TIME_BESIDE_BUILDS};
pub(crate) use earlier::has_changed;
use fathom_measure::assess::verdicts;
use fathom_measure::{
    Against, Frame, IgnoreFailure, Journal, Limits, MeasureError, Plan, ProcessExecutor,
    ProcessOptions, Question, StopRule, assess, go_on, interrupt, now_rfc3339, write_bench,
};
use fathom_model::{
    AskedMetric, BenchRecord, Benchmark, Conditions, Estimate, Metric, Run, RunOrder,
    SCHEMA_VERSION, StopReason,
};
use fathom_stats::sequential;

use crate::interventions::Slopes;
use crate::quiet::wait_until_quiet;
use crate::{
    ConductError, Conducted, Event, Observer, RunTerms, Target, fingerprint, null_output,
    throttling,
};

/// How often identical programs may be reported as different.
pub const ALPHA: f64 = 0.05;
/// Differences up to this share count as no difference by default.
pub const MARGIN: f64 = 0.01;

/// Estimates during measurement use only the most recent runs, because computing them takes time between
/// runs.
const RECENT_RUNS: usize = 400;

/// What to compare, and how.
#[derive(Debug, Clone)]
pub struct BenchPlan {
    /// The commands, at least one.
    pub targets: Vec<Target>,
    /// The command that each command is compared with.
    pub against: Against,
    /// The metrics to compare; if empty, the clock that carries verdicts.
    pub metrics: Vec<AskedMetric>,
    /// How often an interval may miss the true value, see [`Question::alpha`].
    pub alpha: f64,
    /// How much to measure.
    pub amount: Amount,
    /// The number of warm-up rounds.
    pub warmup: u32,
    /// The seed of the run order.
    pub seed: u64,
    /// The order of the runs in each round.
    pub order: RunOrder,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// Failures that are counted instead of ending the measurement.
    pub ignore_failure: IgnoreFailure,
    /// Wait for the machine to become quiet, at most this long.
    pub require_quiet: Option<Duration>,
    /// First check that the machine is as fast as when its profile was taken.
    pub canaries: bool,
    /// Whether to vary the size of the environment from run to run.
    pub vary_environment_size: bool,
    /// Leave processes that a run leaves behind alive until the end.
    pub keep_daemons: bool,
    /// A file to which the whole record is written after every run.
    pub record: Option<PathBuf>,
    /// How the commands are run.
    pub terms: RunTerms,
    /// How delays become a slope, if the targets are one command with several delays.
    pub slope: Option<Slopes>,
}

impl BenchPlan {
    /// Returns the plan of the rounds.
    pub fn rounds(&self) -> Plan {
        Plan {
            benchmarks: self.targets.len(),
            warmup: self.warmup,
            seed: self.seed,
            order: self.order,
            stop: self.stop_rule(),
            question: Question {
                names: self
                    .targets
                    .iter()
                    .map(|target| target.benchmark.name.clone())
                    .collect(),
                against: self.against,
                metrics: self.metrics.clone(),
                margin: self.margin,
                alpha: self.alpha,
            },
            ignore_failure: self.ignore_failure.clone(),
        }
    }

    /// Reports whether only counts are compared.
    fn is_counted(&self) -> bool {
        !self.metrics.is_empty() && self.metrics.iter().all(|one| one.metric.is_exact())
    }

    /// Returns the rule that ends the measurement. The verdicts are first checked as soon as one can be
    /// reached; a smaller error rate requires more rounds before that.
    fn stop_rule(&self) -> StopRule {
        let rule = self.amount.stop_rule(self.targets.len());
        let StopRule::Answer(limits) = rule else {
            return rule;
        };
        // Other processes don't change how much a program reads and writes, so more rounds add nothing. With
        // more rounds, a search by bytes over nine revisions took 7.2 s, of which 5 s were spent here.
        let limits = match self.is_counted() {
            true => Limits {
                at_least: Duration::ZERO,
                ..limits
            },
            false => limits,
        };
        let deciding = fathom_stats::fewest_rounds(1.0 - sequential::early(1, self.alpha).claim);
        StopRule::Answer(match self.amount.min_runs {
            Some(_) => limits,
            None => Limits {
                minimum: limits
                    .minimum
                    .max(u32::try_from(deciding).unwrap_or(u32::MAX))
                    .min(limits.maximum.unwrap_or(u32::MAX)),
                ..limits
            },
        })
    }

    /// Returns the number of rounds requested and the number that a claim needs, if fewer are requested than
    /// needed: with so few rounds, no difference can be shown, however large.
    pub fn too_few_rounds(&self) -> Option<(u32, usize)> {
        let asked = self.amount.runs.or(self.amount.max_runs)?;
        let fewest = match self.is_counted() {
            true => fathom_stats::FEWEST_OF_COUNTS,
            false => fathom_stats::fewest_rounds(1.0 - sequential::last(self.alpha, &[]).claim),
        };
        (self.targets.len() > 1 && (asked as usize) < fewest).then_some((asked, fewest))
    }

    fn empty_record(&self, started_at: String) -> BenchRecord {
        BenchRecord {
            schema_version: SCHEMA_VERSION,
            kind: "bench".to_string(),
            fathom_version: env!("CARGO_PKG_VERSION").to_string(),
            started_at,
            jobs: fathom_fleet::of_this_process(),
            environment: fingerprint::environment(),
            conditions: Conditions {
                seed: self.seed,
                order: self.order,
                warmup_runs: self.warmup,
                pinned_cpus: self.terms.pinned_cpus(),
                timeout_seconds: self.terms.timeout_seconds(),
                margin: self.margin,
                metrics: self.metrics.clone(),
                environment_size_randomised: self.vary_environment_size,
            },
            benchmarks: self
                .targets
                .iter()
                .map(|one| one.benchmark.clone())
                .collect(),
            runs: Vec::new(),
            complete: false,
            outcome: None,
        }
    }
}

/// Measures in rounds until there are enough, and judges.
///
/// # Errors
/// If nothing can be measured at all. A failing run ends the measurement; the record then holds what was
/// measured before it.
pub fn bench(
    plan: &BenchPlan,
    observer: &mut dyn Observer,
) -> Result<Conducted<BenchRecord>, ConductError> {
    let _limit = interrupt::until(plan.terms.deadline);
    let started_at = now_rfc3339();
    if let Some(patience) = plan.require_quiet {
        wait_until_quiet(patience, observer)?;
    }
    match plan.require_quiet {
        _ if !plan.canaries => (),
        Some(_) => fingerprint::take_all(observer),
        None => fingerprint::take(observer),
    }
    let mut record = plan.empty_record(started_at);
    let earlier = earlier::record(plan.record.as_deref(), &record);
    let earlier = earlier.map_or_else(Vec::new, |earlier| {
        record.started_at = earlier.started_at;
        earlier.runs
    });
    let mut journal = match &plan.record {
        Some(path) => Some(Journal::create(path, Frame::of_bench(&record))?),
        None => None,
    };
    for run in &earlier {
        journal
            .as_mut()
            .map_or(Ok(()), |journal| journal.append(run))?;
    }
    let commands = plan.targets.iter();
    let mut executor = ProcessExecutor::recording(
        commands
            .map(|target| (target.command.clone(), target.hooks.clone()))
            .collect(),
        ProcessOptions {
            vary_environment_size: plan.vary_environment_size,
            keep_daemons: plan.keep_daemons,
            ..plan.terms.process_options(plan.seed)
        },
        journal.as_ref().map(Journal::file),
    )?
    .piping_warmup(plan.warmup.checked_sub(1))
    .after(&earlier);
    let rounds = plan.rounds();
    let mut recorder = Recorder {
        journal,
        observer,
        hopeless: (plan.ignore_failure == IgnoreFailure::All)
            .then(|| Hopeless::new(&record.benchmarks)),
    };
    let session = go_on(&rounds, earlier, &mut executor, &mut recorder);
    // End every process left over from the commands before doing anything else.
    drop(executor);

    let mut outcome = assess(
        &session.runs,
        &record.benchmarks,
        &rounds.question,
        session.allowance,
        session.stop,
        &session.floor_ns,
    );
    let metric = outcome.comparisons.first().map(|first| first.metric);
    let slope = plan.slope.as_ref();
    outcome.slope = slope.zip(metric).and_then(|(slope, metric)| {
        let of = |metric| slope.of(&session.runs, metric);
        of(metric).or_else(|| of(Metric::Wall))
    });
    let throttled: Vec<_> = session.runs.iter().map(|run| run.throttled_ns).collect();
    outcome.warnings.extend(throttling::warning(&throttled));
    let (warmups, runs) = (&session.warmups, &session.runs);
    let conditions = (0..record.benchmarks.len()).filter_map(|index| {
        // A program that does less work when its output is /dev/null is faster there; this warning covers
        // that.
        null_output::warning(index, warmups, runs)
            .or_else(|| warm_up::warning(index, warmups, runs))
    });
    // These come first: they mean that the other runs don't measure what the user expects.
    outcome.warnings.splice(0..0, conditions);
    outcome.warmups = session.warmups.into_iter().map(|one| one.run).collect();
    record.complete = session.failure.is_none() && session.stop != StopReason::Interrupted;
    record.runs = session.runs;
    record.outcome = Some(outcome);
    if let Some(journal) = recorder.journal.take() {
        journal.finish(|out| write_bench(&record, out))?;
    }
    if session.failure.is_none() && record.runs.is_empty() {
        return Err(MeasureError::Interrupted.into());
    }
    let failure = match session.failure {
        None if record.complete && plan.ignore_failure == IgnoreFailure::All => {
            no_good_round(&record)
        }
        failure => failure,
    };
    Ok(Conducted { record, failure })
}

/// Returns an error if all failures are ignored and there is no round in which every command succeeded,
/// because then nothing can be said about the commands. Ignoring only named exit codes is a different case.
fn no_good_round(record: &BenchRecord) -> Option<MeasureError> {
    let rounds = record.runs.iter().map(|run| run.round as usize + 1).max()?;
    let mut is_good = vec![true; rounds];
    let mut failures = vec![0; record.benchmarks.len()];
    for run in record.runs.iter().filter(|run| !run.exit.is_success()) {
        is_good[run.round as usize] = false;
        failures[run.benchmark] += 1;
    }
    let failed = failures.iter().zip(&record.benchmarks);
    let failed = failed.filter(|(count, _)| **count > 0);
    let name = |(count, one): (&usize, &Benchmark)| format!("{}: {count} of {rounds}", one.name);
    (!is_good.contains(&true)).then(|| MeasureError::NoGoodRound {
        rounds,
        failed: failed.map(name).collect(),
    })
}

/// Counts the failed runs of each command before its first success. If a command has failed in every one of
/// the first rounds, it isn't expected to ever complete a round.
struct Hopeless {
    /// The name and the number of failures of each command; `None` after a successful run.
    commands: Vec<(String, Option<usize>)>,
}

impl Hopeless {
    /// The number of failed rounds after which Fathom gives up on a command.
    const ROUNDS: usize = 10;

    fn new(benchmarks: &[Benchmark]) -> Hopeless {
        let names = benchmarks.iter().map(|one| one.name.clone());
        Hopeless {
            commands: names.map(|name| (name, Some(0))).collect(),
        }
    }

    fn ran(&mut self, run: &Run) -> Result<(), MeasureError> {
        let (name, failed) = &mut self.commands[run.benchmark];
        *failed = failed
            .filter(|_| !run.exit.is_success())
            .map(|count| count + 1);
        match *failed {
            Some(Hopeless::ROUNDS) => Err(MeasureError::NoGoodRound {
                rounds: Hopeless::ROUNDS,
                failed: vec![format!("{name}: {0} of {0}", Hopeless::ROUNDS)],
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the given metric, or the clock if it is `None`.
pub(crate) fn asked(metric: Option<Metric>, margin: f64) -> Vec<AskedMetric> {
    let one = metric.map(|metric| AskedMetric { metric, margin });
    one.into_iter().collect()
}

/// Estimates while the measurement is running.
#[derive(Debug, Clone, Default)]
pub struct SoFar {
    /// The metric compared first; `None` before anything is known.
    pub metric: Option<Metric>,
    /// The median of each command in that metric.
    pub medians: Vec<Option<Estimate>>,
    /// The first comparison: the index of the command, and its ratio to the reference.
    pub ratio: Option<(usize, Estimate)>,
}

impl SoFar {
    /// Computes the estimates from these runs; this takes noticeable time.
    pub fn of(runs: &[Run], question: &Question) -> SoFar {
        let recent = &runs[runs.len().saturating_sub(RECENT_RUNS)..];
        let now = verdicts(recent, question, sequential::last(question.alpha, &[]));
        SoFar {
            metric: Some(now.metric),
            ratio: now.comparisons.first().map(|one| (one.subject, one.ratio)),
            medians: now.medians,
        }
    }
}

/// Writes each run to the file and reports to the observer.
struct Recorder<'o> {
    journal: Option<Journal>,
    observer: &'o mut dyn Observer,
    hopeless: Option<Hopeless>,
}

impl fathom_measure::Observer for Recorder<'_> {
    fn round(&mut self, round: u32, warmup: bool) {
        self.observer.on(Event::Round { round, warmup });
    }

    fn starts(&mut self, benchmark: usize) {
        self.observer.on(Event::RunStarts(benchmark));
    }

    fn ran(&mut self, run: &Run) -> Result<(), MeasureError> {
        self.hopeless.as_mut().map_or(Ok(()), |all| all.ran(run))
    }

    fn record(&mut self, run: &Run) -> Result<(), MeasureError> {
        self.journal
            .as_mut()
            .map_or(Ok(()), |journal| journal.append(run))
    }

    fn round_done(&mut self, runs: &[Run], _round: u32, _elapsed: Duration) {
        self.observer.on(Event::RoundDone(runs));
    }
}
