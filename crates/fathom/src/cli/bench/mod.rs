//! `fathom bench`: time commands and compare them.

mod arguments;
mod commands;
mod expectation;
mod longer;
mod output;
mod progress;

pub(super) use arguments::Arguments;
use arguments::{Order, Style};
use fathom_conduct::bench::{ALPHA, Amount};
use fathom_conduct::interventions::{self, Arms, Intervention};
use fathom_conduct::{BenchPlan, Event, Target};
use fathom_measure::{Against, Plan, StopRule, interrupt};
use fathom_model::{AskedMetric, Outcome, RunOrder, StopReason};
use progress::Line;

use crate::cli::failure::{Failure, usage};
use crate::cli::out::say;
use crate::cli::{path_conflicts, quantities, write};

/// Measures, prints and writes. Returns the exit code.
///
/// # Errors
/// Everything that prevents a result.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    if arguments.r#try.as_deref() == Some("list") {
        return list();
    }
    let (targets, reference) = commands::prepare(&arguments)?;
    let mut plan = plan(&arguments, targets, reference)?;
    let files = output::targets(&arguments);
    write::check(&files)?;
    path_conflicts::check(plan.targets.iter().map(|target| &target.command), &files)?;
    let mut saver = (arguments.saving.saver()?).quiet(arguments.style == Style::None);
    interrupt::catch();
    let arms = without(&arguments, &mut plan)?;
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
    let mut line = Line::new(&rounds, shows.progress);
    let measured = fathom_conduct::bench(&plan, &mut line);
    line.clear();
    drop(arms);
    let measured = measured?;
    if let Some(error) = measured.failure {
        return Err(error.into());
    }
    let written = output::write(&arguments, &measured.record, &shows);
    saver.save(&measured.record, measured.record.complete);
    written?;
    Ok(exit_code(measured.record.outcome.as_ref()))
}

/// Lists the things without which a command can be run.
fn list() -> Result<i32, Failure> {
    let of = |one: &Intervention| {
        format!(
            "{}\n    removes {}\n    needs {}; can break: {}\n",
            one.name, one.takes_away, one.needs, one.can_break
        )
    };
    let all = interventions::ALL.iter().map(of);
    write::print(&all.chain(interventions::slopes()).collect::<String>())?;
    Ok(0)
}

/// Turns one command into two, if it is to be compared with itself without something.
fn without(arguments: &Arguments, plan: &mut BenchPlan) -> Result<Option<Arms>, Failure> {
    let Some(name) = &arguments.r#try else {
        return Ok(None);
    };
    let [_] = &plan.targets[..] else {
        return usage(format!(
            "--try {name} takes one command, not {}",
            plan.targets.len()
        ));
    };
    let mut arms = interventions::by_hand(name, plan, &mut |_: Event<'_>| {})?;
    plan.targets = std::mem::take(&mut arms.targets);
    plan.slope = arms.slope.take();
    plan.amount.runs = plan.amount.runs.or(arms.rounds);
    Ok(Some(arms))
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
    if arguments.runs == Some(0) || arguments.max_runs == Some(0) {
        return usage("zero runs measure nothing; give at least 1");
    }
    if let (Some(min), Some(max)) = (arguments.min_runs, arguments.max_runs)
        && min > max
    {
        return usage(format!("--min-runs {min} is more than --max-runs {max}"));
    }
    let options = &arguments.run_options;
    Ok(BenchPlan {
        targets,
        against: Against::One(reference),
        metrics: asked(arguments)?,
        alpha: ALPHA,
        amount: Amount {
            runs: arguments.runs,
            min_runs: arguments.min_runs,
            max_runs: arguments.max_runs,
            time: arguments.time,
            precision: arguments.precision,
        },
        warmup: arguments.rounds.warmup,
        seed: arguments.rounds.seed.value(),
        order: match arguments.order {
            Order::Random => RunOrder::Random,
            Order::Fixed => RunOrder::Fixed,
        },
        margin: arguments.rounds.margin.margin,
        ignore_failure: arguments.failures.ignored()?,
        require_quiet: arguments.rounds.quiet.require_quiet,
        canaries: !arguments.no_canaries,
        vary_environment_size: !arguments.fixed_environment_size,
        keep_daemons: arguments.keep_daemons,
        record: arguments
            .json
            .clone()
            .filter(|path| !write::is_stdout(path)),
        terms: options.terms(),
        slope: None,
    })
}

/// Returns the metrics with their margins. Counts have no margin unless one is given.
fn asked(arguments: &Arguments) -> Result<Vec<AskedMetric>, Failure> {
    quantities::each_once(&arguments.metric)?;
    let others = arguments.rounds.margin.margin;
    let all = arguments.metric.iter();
    Ok(all
        .map(|one| AskedMetric::new(one.metric, one.margin, others))
        .collect())
}

/// Returns a warning, before any round is run, if the rounds are too few to show anything.
fn too_few(arguments: &Arguments, plan: &BenchPlan) -> Option<String> {
    let (asked, fewest) = plan.too_few_rounds()?;
    let option = if arguments.runs.is_some() { "-r" } else { "-M" };
    (arguments.style != Style::None).then(|| {
        format!("warning: {option} {asked}: too few rounds for a verdict ({asked}, but at least {fewest} are needed)")
    })
}

/// Describes how long measuring may take if no limit was given, and how to extend the limit.
fn announced(arguments: &Arguments, plan: &Plan) -> Option<String> {
    let StopRule::Answer(limits) = plan.stop else {
        return None;
    };
    let chosen = arguments.time.is_some() || limits.maximum.is_some();
    (plan.benchmarks > 1 && !chosen && arguments.style != Style::None).then(|| {
        format!(
            "{} commands: measuring until the comparison is decided, for at most {} s but at least {} rounds \
             (--time 5m allows longer)",
            plan.benchmarks,
            limits.soft.as_secs(),
            limits.minimum
        )
    })
}
