//! `fathom bisect`: finds the revision that changed a metric.

mod arguments;

pub(super) use arguments::Arguments;
use fathom_conduct::BisectPlan;
use fathom_measure::interrupt;
use fathom_model::BisectReason;
use fathom_report as report;

use crate::cli::failure::{Failure, usage};
use crate::cli::revision_progress::RevisionProgress;
use crate::cli::versions::{here, template};
use crate::cli::{differs, screen, write};

const EXAMPLE: &str = "fathom bisect v1.0 HEAD --build 'make' -- ./tool FILE";

/// Searches and prints. Returns the exit code.
///
/// # Errors
/// Everything that prevents a result.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(&[&arguments.json])?;
    let plan = plan(arguments)?;
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    let mut progress = RevisionProgress::new(arguments.verbose);
    let searched = fathom_conduct::bisect(&plan, &mut progress);
    progress.clear();
    let mut searched = searched?;
    if let Some(found) = &searched.difference {
        searched.record.why = differs::lines(found);
    }
    let record = &searched.record;
    let interrupted = record.reason == Some(BisectReason::Interrupted);
    let screen = screen::of_stdout(arguments.verbose);
    let shown = write::results(
        || report::bisect_terminal(record, &screen),
        &[(arguments.json.as_deref(), &|| report::json(record))],
    );
    saver.save(record, !interrupted);
    shown?;
    if let Some(error) = searched.failure {
        return Err(error.into());
    }
    Ok(if interrupted { 130 } else { 0 })
}

fn plan(arguments: &Arguments) -> Result<BisectPlan, Failure> {
    let (Some(good), Some(bad)) = (&arguments.good, &arguments.bad) else {
        return usage(format!(
            "bisect takes two revisions, GOOD and BAD; try: {EXAMPLE}"
        ));
    };
    Ok(BisectPlan {
        folder: here()?,
        good: good.clone(),
        bad: bad.clone(),
        builds: arguments.builds.builds(),
        template: template(
            &arguments.run_options,
            &arguments.words,
            &[&arguments.json],
            EXAMPLE,
        )?,
        metric: arguments.metric,
        time: arguments.time,
        warmup: arguments.rounds.warmup,
        seed: arguments.rounds.seed.value(),
        margin: arguments.rounds.margin.margin,
        ignore_failure: arguments.failures.ignored()?,
        require_quiet: arguments.rounds.quiet.require_quiet,
        terms: arguments.run_options.terms(),
    })
}
