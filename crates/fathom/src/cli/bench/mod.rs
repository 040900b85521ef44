//! `fathom bench`: time commands and compare them.

mod arguments;
mod commands;
mod expectation;
mod output;
mod progress;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use arguments::Arguments;
use arguments::Style;
use commands::Prepared;
use fathom_measure::{
    Frame, IgnoreFailure, Journal, Limits, Plan, ProcessExecutor, ProcessOptions, Question,
    StopRule, assess, conduct, interrupt, now_rfc3339, write_bench,
};
use fathom_model::{BenchRecord, Conditions, Outcome, SCHEMA_VERSION, StopReason};
use progress::Watcher;

use crate::cli::failure::Failure;
use crate::cli::{apart, fingerprint, null_output, quiet};

/// How often identical programs may be called different.
const ALPHA: f64 = 0.05;
/// One command needs no verdict: this long, or until its median is known well.
const TIME_FOR_ONE: Duration = Duration::from_secs(10);
/// Comparisons are measured until decided, but no longer.
const TIME_FOR_COMPARISONS: Duration = Duration::from_secs(300);
/// A first answer after ten runs of a millisecond is soon wrong about its tail.
const AT_LEAST: Duration = Duration::from_secs(1);
/// How well one command's median is to be known.
const PRECISION_OF_ONE: f64 = 0.005;

/// Measures, prints, writes. Returns the exit code.
///
/// # Errors
/// Everything that keeps a result from being printed.
pub fn run(arguments: Arguments) -> Result<i32, Failure> {
    let (prepared, reference) = commands::prepare(&arguments)?;
    let plan = plan(&arguments, &prepared, reference)?;
    output::check_targets(&arguments)?;
    apart::check(
        prepared.iter().map(|p| &p.command),
        output::targets(&arguments),
    )?;
    let mut record = empty_record(&arguments, &plan, &prepared);
    let commands = prepared.into_iter().map(|p| (p.command, p.hooks)).collect();
    interrupt::catch();
    if let Some(patience) = arguments.require_quiet {
        quiet::wait_until_quiet(patience)?;
    }
    if !arguments.no_canaries {
        fingerprint::take();
        record.environment = fingerprint::environment();
    }
    let journal = match &arguments.json {
        Some(path) if path.as_os_str() != "-" => {
            Some(Journal::create(path, Frame::of_bench(&record))?)
        }
        _ => None,
    };
    let mut executor = ProcessExecutor::recording(
        commands,
        ProcessOptions {
            timeout: arguments.run_options.timeout,
            pin: arguments.run_options.pin.clone().unwrap_or_default(),
            vary_environment_size: !arguments.fixed_environment_size,
            show_output: arguments.run_options.show_output,
            keep_daemons: arguments.keep_daemons,
            seed: plan.seed,
        },
        journal.as_ref().map(Journal::file),
    )?;
    let shows = output::Shows::new(&arguments);
    if !shows.progress
        && let Some(text) = foretold(&arguments, &plan)
    {
        anstream::eprintln!("{text}");
    }
    let mut watcher = Watcher::new(&plan, journal, shows.progress, shows.progress_width);
    let session = conduct(&plan, &mut executor, &mut watcher);
    watcher.clear();
    // Whatever is left of the commands ends before anything is printed.
    drop(executor);

    let mut outcome = assess(
        &session.runs,
        &record.benchmarks,
        &plan.question,
        session.allowance,
        session.stop,
        &session.floor_ns,
    );
    let benchmarks = record.benchmarks.iter().enumerate();
    let silenced = benchmarks.filter_map(|(index, one)| null_output::warning(index, one));
    outcome.warnings.extend(silenced);
    record.complete = session.failure.is_none() && session.stop != StopReason::Interrupted;
    record.runs = session.runs;
    record.outcome = Some(outcome);
    if let Some(journal) = watcher.journal.take() {
        journal.finish(|out| write_bench(&record, out))?;
    }
    if let Some(error) = session.failure {
        return Err(error.into());
    }
    if record.runs.is_empty() {
        return Err(fathom_measure::MeasureError::Interrupted.into());
    }
    output::write(&arguments, &record, &shows)?;
    Ok(exit_code(record.outcome.as_ref()))
}

fn exit_code(outcome: Option<&Outcome>) -> i32 {
    match outcome.map(|outcome| outcome.stop) {
        Some(StopReason::Interrupted) => 130,
        _ => 0,
    }
}

fn plan(arguments: &Arguments, prepared: &[Prepared], reference: usize) -> Result<Plan, Failure> {
    let usage = |text: &str| Err(Failure::Usage(text.to_string()));
    if arguments.runs == Some(0) || arguments.max_runs == Some(0) {
        return usage("zero runs measure nothing; give at least 1");
    }
    if let (Some(min), Some(max)) = (arguments.min_runs, arguments.max_runs)
        && min > max
    {
        return usage(&format!("--min-runs {min} is more than --max-runs {max}"));
    }
    let one = prepared.len() == 1;
    let stop = match arguments.runs {
        Some(runs) => StopRule::Runs(runs),
        None => {
            let soft = arguments.time.unwrap_or(if one {
                TIME_FOR_ONE
            } else {
                TIME_FOR_COMPARISONS
            });
            let hard = match (arguments.time, arguments.min_runs) {
                // Runs that were asked for are made, however long it takes.
                (_, Some(_)) => Duration::MAX,
                (Some(time), None) => time,
                (None, None) => TIME_FOR_COMPARISONS,
            };
            let minimum = arguments.min_runs.unwrap_or(10);
            StopRule::Answer(Limits {
                minimum: arguments.max_runs.map_or(minimum, |max| minimum.min(max)),
                maximum: arguments.max_runs,
                at_least: AT_LEAST.min(soft),
                soft,
                hard,
                precision: arguments.precision.or(one.then_some(PRECISION_OF_ONE)),
            })
        }
    };
    Ok(Plan {
        benchmarks: prepared.len(),
        warmup: arguments.warmup,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        stop,
        question: Question {
            names: prepared.iter().map(|p| p.benchmark.name.clone()).collect(),
            reference,
            margin: arguments.margin,
            alpha: ALPHA,
        },
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
    })
}

/// How long it may take where nobody said how long it may, and how to make it shorter.
fn foretold(arguments: &Arguments, plan: &Plan) -> Option<String> {
    let StopRule::Answer(limits) = plan.stop else {
        return None;
    };
    let chosen = arguments.time.is_some() || limits.maximum.is_some();
    (plan.benchmarks > 1 && !chosen && arguments.style != Style::None).then(|| {
        format!(
            "{} commands are measured until they are decided, for at most {} minutes: --time 30s or -r 20 makes it shorter",
            plan.benchmarks,
            limits.soft.as_secs() / 60
        )
    })
}

/// From the value of `-i`.
///
/// # Errors
/// When it is no list of exit codes.
pub fn ignored(text: Option<&str>) -> Result<IgnoreFailure, Failure> {
    match text {
        None => Ok(IgnoreFailure::Never),
        Some("all-non-zero") => Ok(IgnoreFailure::All),
        Some(codes) => codes
            .split(',')
            .map(|code| match code.trim().parse() {
                Ok(code @ 1..=255) => Ok(code),
                _ => Err(Failure::Usage(format!(
                    "-i={codes}: {code:?} is no exit code; write -i for all failures, or -i=1,2"
                ))),
            })
            .collect::<Result<_, _>>()
            .map(IgnoreFailure::Codes),
    }
}

/// Different each time; shown and recorded, so that the order can be had again.
pub fn fresh_seed() -> u64 {
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64);
    // Six digits are enough to be different, and short enough to be typed.
    (time ^ u64::from(std::process::id()).rotate_left(40)) % 1_000_000
}

fn empty_record(arguments: &Arguments, plan: &Plan, prepared: &[Prepared]) -> BenchRecord {
    BenchRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bench".to_string(),
        fathom_version: env!("CARGO_PKG_VERSION").to_string(),
        started_at: now_rfc3339(),
        environment: fingerprint::environment(),
        conditions: Conditions {
            seed: plan.seed,
            warmup_runs: plan.warmup,
            pinned_cpus: arguments.run_options.pin.clone(),
            timeout_seconds: arguments.run_options.timeout.map(|t| t.as_secs_f64()),
            margin: arguments.margin,
            environment_size_randomised: !arguments.fixed_environment_size,
        },
        benchmarks: prepared.iter().map(|p| p.benchmark.clone()).collect(),
        runs: Vec::new(),
        complete: false,
        outcome: None,
    }
}
