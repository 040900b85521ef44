//! `fathom startup`: from exec to the first byte of output, warm and cold.

mod arguments;
mod show;
mod targets;

pub(super) use arguments::Arguments;
use fathom_conduct::{Event, StartupPlan, fresh_seed};
use fathom_measure::interrupt;
use fathom_model::{ColdBy, StartupRecord, StopReason};
use fathom_trace::Tier;

use crate::cli::bench::ignored;
use crate::cli::failure::{COMMAND_FAILED, Failure};
use crate::cli::{machine_changed, path_conflicts, rights, write};

/// Exit code when a budget is exceeded.
const OVER_BUDGET: i32 = 1;

/// Measures, observes, prints, writes. Returns the exit code.
///
/// # Errors
/// Everything that keeps a result from being printed.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    let plan = plan(&arguments)?;
    let files = [&arguments.html, &arguments.json];
    let written = || files.into_iter().filter_map(|path| path.as_deref());
    write::check(written())?;
    path_conflicts::check(plan.targets.iter().map(|t| &t.command), written())?;
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    let measured = fathom_conduct::startup(&plan, &mut |event: Event<'_>| {
        if let Event::MachineChanged(changes) = event {
            machine_changed::note(changes, arguments.verbose);
        }
    })?;
    if let Some(error) = measured.failure {
        // What was measured before is kept.
        show::write_json(&arguments, &measured.record)?;
        return Err(error.into());
    }
    let shown = show::show(&arguments, &measured.record);
    saver.save(&measured.record, measured.record.complete);
    shown?;
    Ok(exit_code(&measured.record))
}

fn plan(arguments: &Arguments) -> Result<StartupPlan, Failure> {
    Ok(StartupPlan {
        targets: targets::prepare(arguments)?,
        rounds: arguments.rounds,
        time: arguments.time,
        warmup: arguments.warmup,
        margin: arguments.margin,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
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
        // Failures were to be let pass, but nothing else came.
        Some(_) if failed => COMMAND_FAILED,
        _ => {
            let traces = record.traces.iter();
            rights::withheld(traces.flat_map(|trace| &trace.not_visible)).unwrap_or(0)
        }
    }
}
