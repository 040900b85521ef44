//! `fathom pipe`: shows which stage of a pipeline waits for which.

mod arguments;
mod line;
mod progress;
mod stages;

pub(super) use arguments::Arguments;
use arguments::Tier as Asked;
use fathom_conduct::PipePlan;
use fathom_conduct::pipe::{Inputs, ObserveBy, Stages};
use fathom_measure::interrupt;
use fathom_model::{PipeRecord, StopReason};
use fathom_report as report;
use fathom_trace::Tier;
use progress::Progress;

use crate::cli::failure::{Failure, usage};
use crate::cli::{path_conflicts, rights, screen, write};

/// Measures, observes and prints. Returns the exit code.
///
/// # Errors
/// Everything that prevents a result.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    if arguments.rounds == Some(0) {
        return usage("zero rounds measure nothing; give at least 1");
    }
    let files = [&arguments.html, &arguments.json];
    write::check(&files)?;
    let stages = stages::prepare(arguments)?;
    path_conflicts::check(&stages.commands, &files)?;
    let plan = plan(arguments, stages)?;
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    let mut progress = Progress::new(&plan.stages.described, arguments.verbose);
    let record = fathom_conduct::pipe(&plan, &mut progress);
    progress.clear();
    let record = record?;
    let shown = show(arguments, &record);
    saver.save(&record, record.complete);
    shown?;
    Ok(match record.stop {
        StopReason::Interrupted => 130,
        _ => {
            let observed = record.explaining.iter();
            rights::withheld(observed.flat_map(|one| &one.not_visible)).unwrap_or(0)
        }
    })
}

fn plan(arguments: &Arguments, stages: Stages) -> Result<PipePlan, Failure> {
    if let Some(folder) = &arguments.keep_staged {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::Usage(format!("--keep-staged {}: {error}", folder.display()))
        })?;
    }
    Ok(PipePlan {
        rounds: arguments.rounds,
        observed_rounds: arguments.traced,
        observe_by: match arguments.tier {
            None => ObserveBy::Best,
            Some(Asked::Accounts) => ObserveBy::Accounts,
            Some(Asked::Kernel) => ObserveBy::Tier(Tier::Kernel),
            Some(Asked::Perf) => ObserveBy::Tier(Tier::Perf),
            Some(Asked::Sample) => ObserveBy::Tier(Tier::Sample),
        },
        delays: stages::delays(&arguments.delay, &stages.described)?,
        inputs: (!arguments.no_stage).then(|| Inputs {
            limit_bytes: arguments.stage_limit,
            folder: arguments.keep_staged.clone(),
        }),
        seed: arguments.seed.value(),
        ignore_failure: arguments.ignore_failure,
        record: write::grows(arguments.json.as_deref()),
        terms: arguments.run_options.terms(),
        stages,
    })
}

fn show(arguments: &Arguments, record: &PipeRecord) -> Result<(), Failure> {
    let screen = screen::of_stdout(arguments.verbose);
    write::results(
        || report::pipe_terminal(record, &screen),
        &[
            (write::not_grown(arguments.json.as_deref()), &|| {
                report::json(record)
            }),
            (arguments.html.as_deref(), &|| report::pipe_html(record)),
        ],
    )?;
    write::say_page(arguments.html.as_deref());
    Ok(())
}
