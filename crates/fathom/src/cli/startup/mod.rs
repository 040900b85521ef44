//! `fathom startup`: from exec to the first byte of output, warm and cold.

mod arguments;
mod cold;
mod keeping;
mod observing;
mod show;
mod subjects;
mod warnings;

use std::time::Duration;

pub use arguments::Arguments;
use fathom_diagnose::startup::{budget, compare_with_timed, comparisons, summaries};
use fathom_measure::startup::{self, Chill, Evictor, Rounds, StartupSession, Subject};
use fathom_measure::{MeasureError, ProcessOptions, interrupt, now_rfc3339};
use fathom_model::{
    ColdBy, SCHEMA_VERSION, StartupConditions, StartupMetric, StartupRecord, StopReason,
};
use keeping::Keeper;
use observing::Observations;
use subjects::Prepared;

use crate::cli::bench::{fresh_seed, ignored};
use crate::cli::failure::{COMMAND_FAILED, Failure};
use crate::cli::{apart, fingerprint, write};

/// How often identical programs may be called different.
const ALPHA: f64 = 0.05;
/// Enough for a p99 that isn't the maximum.
const MOST_ROUNDS: u32 = 200;
/// Enough for a median and a p90.
const LEAST_ROUNDS: u32 = 20;
/// 200 rounds of four hellos, with room for a Java.
const TIME: Duration = Duration::from_secs(10);
/// Exit code when a budget is exceeded.
const OVER_BUDGET: i32 = 1;

/// Measures, observes, prints, writes. Returns the exit code.
///
/// # Errors
/// Everything that keeps a result from being printed.
pub fn run(arguments: Arguments) -> Result<i32, Failure> {
    let prepared = subjects::prepare(&arguments)?;
    let rounds = rounds(&arguments)?;
    let files = [&arguments.html, &arguments.json];
    let written = || files.into_iter().filter_map(|path| path.as_deref());
    write::check(written())?;
    apart::check(prepared.iter().map(|p| &p.target.command), written())?;
    if arguments.drop_caches && !Evictor::may_drop_caches() {
        return Err(Failure::Usage(
            "--drop-caches needs root; --cold evicts the programs' own files and needs no privilege"
                .to_string(),
        ));
    }
    interrupt::catch();
    fingerprint::take();
    let started_at = now_rfc3339();
    let subjects = subjects::subjects(&prepared);
    let is_cold = arguments.cold || arguments.drop_caches;
    let options = || ProcessOptions {
        timeout: arguments.run_options.timeout,
        pin: arguments.run_options.pin.clone().unwrap_or_default(),
        vary_environment_size: true,
        show_output: false,
        keep_daemons: false,
        seed: rounds.seed,
    };
    let begun = record(
        &arguments,
        &prepared,
        &rounds,
        started_at.clone(),
        StartupSession::begun(),
    );
    let mut keeper = Keeper::new(arguments.json.as_deref(), begun)?;
    // The files that cold runs need are found by observing; else observing comes last, since it
    // slows the whole machine. What an earlier session evicted is read again before.
    let first = match is_cold {
        true => {
            startup::warm_up(&subjects, options())?;
            Some(observe(&arguments, &subjects, &mut keeper)?)
        }
        false => None,
    };
    let mut evictor = first
        .as_ref()
        .map(|seen| Evictor::new(cold::files(&prepared, seen), arguments.drop_caches));
    let mut session = startup::measure(
        &subjects,
        &rounds,
        options(),
        evictor.as_mut().map(|evictor| evictor as &mut dyn Chill),
        &fathom_machine::cycles_per_addition,
        &mut keeper,
    )?;
    if let Some(error) = session.failure.take() {
        // What was measured before is kept.
        if !session.runs.is_empty() {
            let record = record(&arguments, &prepared, &rounds, started_at, session);
            show::write_json(&arguments, &record)?;
        }
        return Err(error.into());
    }
    if session.runs.is_empty() {
        return Err(MeasureError::Interrupted.into());
    }
    let observations = match first {
        Some(seen) => seen,
        None => observe(&arguments, &subjects, &mut keeper)?,
    };
    let mut record = record(&arguments, &prepared, &rounds, started_at, session);
    record.cold = evictor.map_or_else(Vec::new, Evictor::evidence);
    add(&mut record, observations);
    ask_a_terminal(&mut record, &subjects);
    show::show(&arguments, &record)?;
    Ok(exit_code(&record))
}

/// The observed runs, each kept as soon as it has ended.
fn observe(
    arguments: &Arguments,
    subjects: &[Subject],
    keeper: &mut Keeper,
) -> Result<Observations, Failure> {
    observing::observe(arguments, subjects, &mut |program, observed| {
        keeper.keep_observed(program, observed)
    })
}

fn rounds(arguments: &Arguments) -> Result<Rounds, Failure> {
    Ok(Rounds {
        warmup: arguments.warmup,
        most: arguments.rounds.unwrap_or(MOST_ROUNDS),
        least: LEAST_ROUNDS,
        time: match arguments.rounds {
            Some(_) => None,
            None => Some(arguments.time.unwrap_or(TIME)),
        },
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
    })
}

fn record(
    arguments: &Arguments,
    prepared: &[Prepared],
    rounds: &Rounds,
    started_at: String,
    session: StartupSession,
) -> StartupRecord {
    let programs = prepared.len();
    let summaries = summaries(&session.runs, programs);
    let budget = arguments.budget.map(|seconds| {
        budget(
            &session.runs,
            programs,
            &summaries,
            seconds.as_secs_f64(),
            arguments.budget_quantile.name(),
        )
    });
    let made = session.runs.iter().map(|run| run.round + 1).max();
    StartupRecord {
        schema_version: SCHEMA_VERSION,
        kind: "startup".to_string(),
        fathom_version: env!("CARGO_PKG_VERSION").to_string(),
        started_at,
        environment: fingerprint::environment(),
        conditions: StartupConditions {
            seed: rounds.seed,
            warmup_rounds: rounds.warmup,
            rounds: made.unwrap_or(0),
            pinned_cpus: arguments.run_options.pin.clone(),
            timeout_seconds: arguments.run_options.timeout.map(|t| t.as_secs_f64()),
            margin: arguments.margin,
            cold_by: match (arguments.drop_caches, arguments.cold) {
                (true, _) => Some(ColdBy::DropCaches),
                (false, true) => Some(ColdBy::Evict),
                (false, false) => None,
            },
            watching_cpus: session.watching_cpus,
        },
        programs: prepared.iter().map(|p| p.program.clone()).collect(),
        complete: !matches!(session.stop, StopReason::Interrupted | StopReason::Failed),
        stop: session.stop,
        comparisons: comparisons(&session.runs, programs, arguments.margin, ALPHA),
        warnings: warnings::of(&session.runs, programs),
        summaries,
        floor: session.floor,
        traces: Vec::new(),
        cold: Vec::new(),
        budget,
        runs: session.runs,
    }
}

/// Says of programs whose output came at their end whether it was held back.
fn ask_a_terminal(record: &mut StartupRecord, subjects: &[Subject]) {
    for (program, subject) in subjects.iter().enumerate() {
        if !warnings::may_be_held_back(&record.runs, program) || interrupt::received().is_some() {
            continue;
        }
        let median = record
            .summaries
            .iter()
            .find(|s| s.program == program && s.metric == StartupMetric::FirstOutput)
            .map_or(0.0, |summary| summary.p50.value);
        let most = Duration::from_secs_f64(median);
        // A program that doesn't run on a terminal has told nothing; its other numbers stand.
        let told = startup::first_output_on_a_terminal(&subject.command, most);
        if let Ok(Some(earlier)) = told {
            let warning = warnings::held_back(program, median * 1e9, earlier);
            record.warnings.extend(warning);
        }
    }
}

/// What was observed, and beside it how much slower that made the programs.
fn add(record: &mut StartupRecord, observations: Observations) {
    for (program, observed) in observations.programs.into_iter().enumerate() {
        let Some(mut observed) = observed else {
            continue;
        };
        compare_with_timed(&mut observed, &record.runs);
        record.programs[program].ran = observed.ran;
        record.traces.push(observed.trace);
    }
    record.warnings.extend(observations.warnings);
}

fn exit_code(record: &StartupRecord) -> i32 {
    let failed = record.runs.iter().all(|run| !run.exit.is_success());
    match &record.budget {
        _ if record.stop == StopReason::Interrupted || interrupt::received().is_some() => 130,
        Some(budget) if !budget.held => OVER_BUDGET,
        // Failures were to be let pass, but nothing else came.
        Some(_) if failed => COMMAND_FAILED,
        _ => 0,
    }
}
