//! `startup`: measures the time from exec to the first byte of output, both warm and cold.

mod cold;
mod journal;
mod observe;
mod warnings;

use std::path::PathBuf;
use std::time::Duration;

use fathom_diagnose::startup::{budget, compare_with_timed, comparisons, summaries};
use fathom_measure::startup::{self, Chill, Evictor, Rounds, StartupSession, Subject};
use fathom_measure::{IgnoreFailure, MeasureError, ProcessOptions, interrupt, now_rfc3339};
use fathom_model::{
    ColdBy, SCHEMA_VERSION, StartupConditions, StartupMetric, StartupProgram, StartupRecord,
    StopReason,
};
use fathom_trace::Tier;
use journal::Recorder;
use observe::Observations;

use crate::bench::ALPHA;
use crate::{ConductError, Conducted, Observer, RunTerms, Target, fingerprint, throttling};

/// The maximum number of rounds; this is enough for a p99 that isn't the maximum.
const MOST_ROUNDS: u32 = 200;
/// The minimum number of rounds; this is enough for a median and a p90.
const LEAST_ROUNDS: u32 = 20;
/// The default time limit, which is enough for 200 rounds of four small programs, or for fewer rounds that
/// include a Java program.
const TIME: Duration = Duration::from_secs(10);

/// The default number of warm-up rounds.
pub const WARMUP_ROUNDS: u32 = 3;
/// The default number of observed runs of each program.
pub const OBSERVED_RUNS: u32 = 5;

/// Which programs to start, and how often.
#[derive(Debug, Clone)]
pub struct StartupPlan {
    /// The programs. The standard output of each is a pipe; only standard output is watched.
    pub targets: Vec<Target>,
    /// The number of rounds; if absent, as many as fit into `time`, but at least 20 and at most 200.
    pub rounds: Option<u32>,
    /// The time after which no further round begins, once 20 rounds are complete; 10 s if absent.
    pub time: Option<Duration>,
    /// The number of warm-up rounds.
    pub warmup: u32,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// The seed of the run order.
    pub seed: u64,
    /// Failures that are counted instead of ending the measurement.
    pub ignore_failure: IgnoreFailure,
    /// The method by which to make runs cold; if absent, there are no cold runs.
    pub cold: Option<ColdBy>,
    /// The number of observed runs of each program; 0 for none.
    pub observed_runs: u32,
    /// The tier; if absent, the best one permitted.
    pub tier: Option<Tier>,
    /// The maximum time to the first byte, and the quantile it applies to.
    pub budget: Option<(Duration, &'static str)>,
    /// A file to which the whole record is written after every run.
    pub record: Option<PathBuf>,
    /// How the programs are run.
    pub terms: RunTerms,
}

impl StartupPlan {
    fn rounds(&self) -> Rounds {
        Rounds {
            warmup: self.warmup,
            most: self.rounds.unwrap_or(MOST_ROUNDS),
            least: LEAST_ROUNDS,
            time: match self.rounds {
                Some(_) => None,
                None => Some(self.time.unwrap_or(TIME)),
            },
            seed: self.seed,
            ignore_failure: self.ignore_failure.clone(),
        }
    }

    fn subjects(&self) -> Vec<Subject> {
        let subject = |target: &Target| Subject {
            name: target.benchmark.name.clone(),
            command: target.command.clone(),
            prepare: target.hooks.prepare.clone(),
        };
        self.targets.iter().map(subject).collect()
    }

    fn options(&self) -> ProcessOptions {
        ProcessOptions {
            show_output: false,
            ..self.terms.process_options(self.seed)
        }
    }

    /// Returns the record of these runs, without observations.
    fn record(&self, started_at: String, session: StartupSession) -> StartupRecord {
        let programs = self.targets.len();
        let summaries = summaries(&session.runs, programs);
        let budget = self.budget.map(|(limit, quantile)| {
            let seconds = limit.as_secs_f64();
            budget(&session.runs, programs, &summaries, seconds, quantile)
        });
        let made = session.runs.iter().map(|run| run.round + 1).max();
        let throttled: Vec<_> = session.runs.iter().map(|run| run.throttled_ns).collect();
        let mut warnings = warnings::of(&session.runs, programs);
        warnings.extend(throttling::warning(&throttled));
        StartupRecord {
            schema_version: SCHEMA_VERSION,
            kind: "startup".to_string(),
            fathom_version: env!("CARGO_PKG_VERSION").to_string(),
            started_at,
            environment: fingerprint::environment(),
            conditions: StartupConditions {
                seed: self.seed,
                warmup_rounds: self.warmup,
                rounds: made.unwrap_or(0),
                pinned_cpus: self.terms.pinned_cpus(),
                timeout_seconds: self.terms.timeout_seconds(),
                margin: self.margin,
                cold_by: self.cold,
                watching_cpus: session.watching_cpus,
            },
            programs: self.targets.iter().map(program).collect(),
            complete: !matches!(session.stop, StopReason::Interrupted | StopReason::Failed),
            stop: session.stop,
            comparisons: comparisons(&session.runs, programs, self.margin, ALPHA),
            warnings,
            summaries,
            floor: session.floor,
            traces: Vec::new(),
            cold: Vec::new(),
            budget,
            runs: session.runs,
        }
    }
}

fn program(target: &Target) -> StartupProgram {
    StartupProgram {
        name: target.benchmark.name.clone(),
        command: target.benchmark.command.clone(),
        arguments: target.benchmark.arguments.clone(),
        ran: Vec::new(),
    }
}

/// Starts the programs in rounds, and observes additional runs of them.
///
/// # Errors
/// If nothing can be measured at all. A failing run ends the measurement; the record then holds what was
/// measured before it.
pub fn startup(
    plan: &StartupPlan,
    observer: &mut dyn Observer,
) -> Result<Conducted<StartupRecord>, ConductError> {
    if plan.cold == Some(ColdBy::DropCaches) && !Evictor::may_drop_caches() {
        return Err(ConductError::Refused(
            "--drop-caches needs root; --cold evicts only the programs' own files and needs no privilege"
                .to_string(),
        ));
    }
    let _limit = interrupt::until(plan.terms.deadline);
    fingerprint::take(observer);
    let started_at = now_rfc3339();
    let subjects = plan.subjects();
    let begun = plan.record(started_at.clone(), StartupSession::begun());
    let mut recorder = Recorder::new(plan.record.as_deref(), begun)?;
    // Cold runs need the files that are found by observing, so observing comes first for them. Without cold
    // runs, observing comes last, because it slows the whole machine. Files evicted by an earlier session are
    // read again first.
    let first = match plan.cold {
        Some(_) => {
            startup::warm_up(&subjects, plan.options())?;
            Some(observe::observe(plan, &subjects, &mut recorder, observer)?)
        }
        None => None,
    };
    let mut evictor = first.as_ref().map(|observations| {
        let drops = plan.cold == Some(ColdBy::DropCaches);
        Evictor::new(cold::files(&plan.targets, observations), drops)
    });
    let mut session = startup::measure(
        &subjects,
        &plan.rounds(),
        plan.options(),
        evictor.as_mut().map(|evictor| evictor as &mut dyn Chill),
        &fathom_machine::cycles_per_addition,
        &mut recorder,
    )?;
    let failure = session.failure.take();
    if session.runs.is_empty() {
        return Err(failure.unwrap_or(MeasureError::Interrupted).into());
    }
    let mut record = plan.record(started_at, session);
    if failure.is_none() {
        let observations = match first {
            Some(observations) => observations,
            None => observe::observe(plan, &subjects, &mut recorder, observer)?,
        };
        record.cold = evictor.map_or_else(Vec::new, Evictor::evidence);
        add(&mut record, observations);
        ask_a_terminal(&mut record, &subjects);
    }
    recorder.complete(&record)?;
    Ok(Conducted { record, failure })
}

/// For programs whose output came at the end of their run, records whether the output was held back.
fn ask_a_terminal(record: &mut StartupRecord, subjects: &[Subject]) {
    for (program, subject) in subjects.iter().enumerate() {
        if !warnings::may_be_held_back(&record.runs, program) || interrupt::stopped() {
            continue;
        }
        let median = record
            .summaries
            .iter()
            .find(|s| s.program == program && s.metric == StartupMetric::FirstOutput)
            .map_or(0.0, |summary| summary.p50.value);
        let most = Duration::from_secs_f64(median);
        // If a program doesn't run on a terminal, it remains unknown whether its output was held back; the
        // other numbers are valid.
        let on_terminal = startup::first_output_on_a_terminal(&subject.command, most);
        if let Ok(Some(earlier)) = on_terminal {
            let warning = warnings::held_back(program, median * 1e9, earlier);
            record.warnings.extend(warning);
        }
    }
}

/// Adds the observations, and how much they slowed the programs.
fn add(record: &mut StartupRecord, observations: Observations) {
    for (program, observed) in observations.programs.into_iter().enumerate() {
        let Some(mut observed) = observed else {
            continue;
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        compare_with_timed(&mut observed, &record.runs, cpus);
        record.programs[program].ran = observed.ran;
        record.traces.push(observed.trace);
    }
    record.warnings.extend(observations.warnings);
}
