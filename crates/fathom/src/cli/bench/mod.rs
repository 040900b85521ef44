//! `fathom bench`: time commands and compare them.

mod arguments;
mod commands;
mod expectation;
mod longer;
mod output;
mod progress;

pub(super) use arguments::Arguments;
use arguments::Style;
use fathom_conduct::bench::{ALPHA, Amount};
use fathom_conduct::{BenchPlan, Target, fresh_seed};
use fathom_measure::{Against, IgnoreFailure, Plan, StopRule, interrupt};
use fathom_model::{Outcome, StopReason};
use progress::Line;

use crate::cli::failure::Failure;
use crate::cli::out::say;
use crate::cli::{path_conflicts, write};

/// Measures, prints, writes. Returns the exit code.
///
/// # Errors
/// Everything that keeps a result from being printed.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    let (targets, reference) = commands::prepare(&arguments)?;
    let plan = plan(&arguments, targets, reference)?;
    output::check_targets(&arguments)?;
    path_conflicts::check(
        plan.targets.iter().map(|target| &target.command),
        output::targets(&arguments),
    )?;
    let mut saver = (arguments.saving.saver()?).quiet(arguments.style == Style::None);
    interrupt::catch();
    let shows = output::Shows::new(&arguments);
    let rounds = plan.rounds();
    if !shows.progress
        && let Some(text) = announced(&arguments, &rounds)
    {
        say!("{text}");
    }
    if let Some(text) = too_few(&arguments, &plan) {
        say!("{text}");
    }
    let mut line = Line::new(&rounds, shows.progress, shows.progress_width);
    let measured = fathom_conduct::bench(&plan, &mut line);
    line.clear();
    let measured = measured?;
    if let Some(error) = measured.failure {
        return Err(error.into());
    }
    let written = output::write(&arguments, &measured.record, &shows);
    saver.save(&measured.record, measured.record.complete);
    written?;
    Ok(exit_code(measured.record.outcome.as_ref()))
}

fn exit_code(outcome: Option<&Outcome>) -> i32 {
    match outcome.map(|outcome| outcome.stop) {
        Some(StopReason::Interrupted) => 130,
        _ => 0,
    }
}

fn plan(
    arguments: &Arguments,
    targets: Vec<Target>,
    reference: usize,
) -> Result<BenchPlan, Failure> {
    let usage = |text: &str| Err(Failure::Usage(text.to_string()));
    if arguments.runs == Some(0) || arguments.max_runs == Some(0) {
        return usage("zero runs measure nothing; give at least 1");
    }
    if let (Some(min), Some(max)) = (arguments.min_runs, arguments.max_runs)
        && min > max
    {
        return usage(&format!("--min-runs {min} is more than --max-runs {max}"));
    }
    let options = &arguments.run_options;
    Ok(BenchPlan {
        targets,
        against: Against::One(reference),
        metric: None,
        alpha: ALPHA,
        amount: Amount {
            runs: arguments.runs,
            min_runs: arguments.min_runs,
            max_runs: arguments.max_runs,
            time: arguments.time,
            precision: arguments.precision,
        },
        warmup: arguments.warmup,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        margin: arguments.margin,
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
        require_quiet: arguments.require_quiet,
        canaries: !arguments.no_canaries,
        vary_environment_size: !arguments.fixed_environment_size,
        keep_daemons: arguments.keep_daemons,
        record: arguments
            .json
            .clone()
            .filter(|path| !write::is_stdout(path)),
        terms: options.terms(),
    })
}

/// That so few rounds can show nothing, before any is made.
fn too_few(arguments: &Arguments, plan: &BenchPlan) -> Option<String> {
    let (asked, fewest) = plan.too_few_rounds()?;
    let option = if arguments.runs.is_some() { "-r" } else { "-M" };
    (arguments.style != Style::None).then(|| {
        format!("warning: {option} {asked}: too few rounds for a verdict ({asked} of {fewest})")
    })
}

/// How long it may take where no limit was given, and how to make it longer.
fn announced(arguments: &Arguments, plan: &Plan) -> Option<String> {
    let StopRule::Answer(limits) = plan.stop else {
        return None;
    };
    let chosen = arguments.time.is_some() || limits.maximum.is_some();
    (plan.benchmarks > 1 && !chosen && arguments.style != Style::None).then(|| {
        format!(
            "{} commands, measured until decided, at most {} s, at least {} rounds (longer: --time 5m)",
            plan.benchmarks,
            limits.soft.as_secs(),
            limits.minimum
        )
    })
}

/// From the value of `-i`.
///
/// # Errors
/// When it is no list of exit codes.
pub(super) fn ignored(text: Option<&str>) -> Result<IgnoreFailure, Failure> {
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
