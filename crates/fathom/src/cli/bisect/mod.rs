//! `fathom bisect`: the revision that changed a metric.

mod arguments;

pub(super) use arguments::Arguments;
use fathom_conduct::{BisectPlan, Builds, fresh_seed};
use fathom_measure::interrupt;
use fathom_model::{BisectReason, BisectRecord};
use fathom_report as report;

use crate::cli::bench::ignored;
use crate::cli::failure::Failure;
use crate::cli::revision_progress::RevisionProgress;
use crate::cli::versions::{here, template};
use crate::cli::{differs, screen, write};

const EXAMPLE: &str = "fathom bisect v1.0 HEAD --build 'make' -- ./tool FILE";

/// Searches, prints. Returns the exit code.
///
/// # Errors
/// Everything that keeps a result from being printed.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(arguments.json.as_deref())?;
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
    let shown = show(arguments, record);
    saver.save(record, !interrupted);
    shown?;
    if let Some(error) = searched.failure {
        return Err(error.into());
    }
    Ok(if interrupted { 130 } else { 0 })
}

fn plan(arguments: &Arguments) -> Result<BisectPlan, Failure> {
    let (Some(good), Some(bad)) = (&arguments.good, &arguments.bad) else {
        return Err(Failure::Usage(format!(
            "bisect takes two revisions, GOOD and BAD; try: {EXAMPLE}"
        )));
    };
    Ok(BisectPlan {
        folder: here()?,
        good: good.clone(),
        bad: bad.clone(),
        builds: Builds {
            command: arguments.build.clone(),
            cache_bytes: arguments.cache_size,
            again: arguments.rebuild,
        },
        template: template(
            &arguments.run_options,
            &arguments.words,
            arguments.json.as_deref(),
            EXAMPLE,
        )?,
        metric: arguments.metric,
        time: arguments.time,
        warmup: arguments.warmup,
        seed: arguments.seed.unwrap_or_else(fresh_seed),
        margin: arguments.margin,
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
        require_quiet: arguments.require_quiet,
        terms: arguments.run_options.terms(),
    })
}

fn show(arguments: &Arguments, record: &BisectRecord) -> Result<(), Failure> {
    if !arguments.json.as_deref().is_some_and(write::is_stdout) {
        let screen = screen::of_stdout(arguments.verbose);
        write::print(&report::bisect_terminal(record, &screen))?;
    }
    if let Some(path) = &arguments.json {
        write::export(path, report::json(record))?;
    }
    Ok(())
}
