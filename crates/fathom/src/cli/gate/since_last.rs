//! Without a base: measures the suite of the working tree and judges it against its last stored run.

use fathom_experiment::session::{self, Options};
use fathom_measure::interrupt;

use super::suite::HeadAlone;
use super::{Arguments, INTERRUPTED, exit_code, show, stored};
use crate::cli::failure::{COMMAND_FAILED, Failure, usage};
use crate::cli::out::say;
use crate::cli::saving::Saver;
use crate::cli::screen;

/// Measures, saves, judges and prints. Returns the exit code.
///
/// # Errors
/// If the suite can't be run, or if nothing is to be saved, because only stored measurements are judged.
pub(super) fn gate(
    arguments: &Arguments,
    alone: &HeadAlone,
    saver: &mut Saver,
) -> Result<i32, Failure> {
    let experiment = &alone.experiment;
    let options = Options {
        work: session::default_work(&experiment.path),
        quick: false,
        install: false,
        resume: false,
        machine_check: None,
        only: arguments.only.clone(),
        time: Some(arguments.time),
        deadline: None,
    };
    screen::redraw(screen::can_draw(), "measuring the suite ...");
    let end = session::run(experiment, &options, &mut |_| {});
    screen::redraw(screen::can_draw(), "");
    let end = end.map_err(|error| Failure::Usage(error.to_string()))?;
    saver.save(&end.record, !end.interrupted);
    if end.interrupted || interrupt::received().is_some() {
        return Ok(INTERRUPTED);
    }
    if end.failed {
        for warning in &end.record.warnings {
            say!("{}", fathom_report::escape(warning));
        }
        return Ok(COMMAND_FAILED);
    }
    let Some(saved) = saver.last().map(str::to_owned) else {
        return usage(format!(
            "{}; the suite can be compared with {}, but only if the new run is also saved: add --save",
            alone.why, alone.last.called
        ));
    };
    let mut record = stored::judge(arguments, &alone.last.id, &saved)?;
    // For example, this applies to the number of failures, which is 0 and so has no ratio.
    let judged = |name: &String| record.benchmarks.iter().any(|row| row.name == *name);
    record.left_out.retain(|one| !judged(&one.name));
    record.base.name.clone_from(&alone.last.called);
    "working tree".clone_into(&mut record.head.name);
    record.notes.insert(
        0,
        format!(
            "{}. So the suite was measured now and compared with {}; separate measurements differ more than those \
             made in the same rounds. Once fathom.toml is in base, both are measured together.",
            alone.why, alone.last.called
        ),
    );
    show::show(arguments, &record)?;
    Ok(exit_code(&record))
}
