//! `fathom startup`: from exec to the first byte of output, warm and cold.

mod arguments;
mod targets;

pub(super) use arguments::Arguments;
use fathom_conduct::{Event, StartupPlan};
use fathom_measure::interrupt;
use fathom_model::{ColdBy, StartupRecord, StopReason};
use fathom_report as report;
use fathom_trace::Tier;

use crate::cli::failure::{COMMAND_FAILED, Failure};
use crate::cli::{machine_changed, path_conflicts, rights, screen, write};

/// Exit code when a budget is exceeded.
const OVER_BUDGET: i32 = 1;

/// Measures and observes the programs, and prints and writes the results. Returns the exit code.
///
/// # Errors
/// Any error that keeps a result from being printed.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    let plan = plan(&arguments)?;
    let files = [&arguments.html, &arguments.json];
    write::check(&files)?;
    path_conflicts::check(plan.targets.iter().map(|t| &t.command), &files)?;
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    let measured = fathom_conduct::startup(&plan, &mut |event: Event<'_>| {
        if let Event::MachineChanged(changes) = event {
            machine_changed::note(changes, arguments.verbose);
        }
    })?;
    let record = &measured.record;
    let text = || report::json(record);
    let json: write::Form = (write::not_grown(arguments.json.as_deref()), &text);
    if let Some(error) = measured.failure {
        // Results measured before the error are kept.
        write::results(String::new, &[json])?;
        return Err(error.into());
    }
    let screen = screen::of_stdout(arguments.verbose);
    let html = arguments.html.as_deref();
    let shown = write::results(
        || report::startup_terminal(record, &screen),
        &[json, (html, &|| report::startup_html(record))],
    );
    write::say_page(html);
    saver.save(record, record.complete);
    shown?;
    Ok(exit_code(record))
}

fn plan(arguments: &Arguments) -> Result<StartupPlan, Failure> {
    Ok(StartupPlan {
        targets: targets::prepare(arguments)?,
        rounds: arguments.rounds,
        time: arguments.time,
        warmup: arguments.warmup,
        margin: arguments.margin.margin,
        seed: arguments.seed.value(),
        ignore_failure: arguments.failures.ignored()?,
        cold: match (arguments.drop_caches, arguments.cold) {
            (true, _) => Some(ColdBy::DropCaches),
            (false, true) => Some(ColdBy::Evict),
            (false, false) => None,
        },
        observed_runs: arguments.traced,
        tier: arguments.tier.map(|tier| match tier {
            arguments::Tier::Kernel => Tier::Kernel,
            arguments::Tier::Ptrace => Tier::Ptrace,
        }),
        budget: arguments
            .budget
            .map(|budget| (budget, arguments.budget_quantile.name())),
        record: write::grows(arguments.json.as_deref()),
        terms: arguments.run_options.terms(),
    })
}

fn exit_code(record: &StartupRecord) -> i32 {
    let failed = record.runs.iter().all(|run| !run.exit.is_success());
    match &record.budget {
        _ if record.stop == StopReason::Interrupted || interrupt::received().is_some() => 130,
        Some(budget) if !budget.held => OVER_BUDGET,
        // The user asked to ignore failures, but every run failed.
        Some(_) if failed => COMMAND_FAILED,
        _ => {
            let traces = record.traces.iter();
            rights::withheld(traces.flat_map(|trace| &trace.not_visible)).unwrap_or(0)
        }
    }
}
