//! `fathom gate`: checks whether the suite has become worse.

mod accept;
mod arguments;
mod commands;
mod show;
mod since_last;
mod stored;
mod suite;

use std::path::PathBuf;

use arguments::Action;
pub(super) use arguments::{Arguments, Undecided};
use fathom_conduct::gate::{BestOf, GatePlan, Rule, gate};
use fathom_conduct::stores;
use fathom_measure::interrupt;
use fathom_model::{GateRecord, GateRule, GateVerdict};
use fathom_store::Location;

use crate::cli::differs;
use crate::cli::failure::{Failure, UNTRUSTED, usage};
use crate::cli::revision_progress::RevisionProgress;
use crate::cli::saving::Saver;
use crate::cli::versions::here;

/// Exit code if the suite is worse.
const WORSE: i32 = 1;
/// Exit code after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Measures, judges, prints and writes. Returns the exit code.
///
/// # Errors
/// Everything that prevents a verdict.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    match &arguments.action {
        Some(Action::Accept(accept)) => return accept::accept(accept),
        Some(Action::Render(render)) => return show::render(render),
        None => {}
    }
    show::check(&arguments)?;
    if let [base, head] = &arguments.stored[..] {
        let record = stored::judge(&arguments, base, head)?;
        show::show(&arguments, &record)?;
        return Ok(exit_code(&record));
    }
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    match (&arguments.base_cmd, &arguments.head_cmd) {
        (Some(base), Some(head)) => {
            let plan = commands::plan(&arguments, base, head)?;
            measured(&arguments, &plan, &mut saver)
        }
        // The plan is held while measuring, so that no other process removes the builds.
        _ => match suite::plan(&arguments)? {
            suite::Planned::Both(built) => measured(&arguments, &built.plan, &mut saver),
            suite::Planned::HeadAlone(alone) => since_last::gate(&arguments, &alone, &mut saver),
        },
    }
}

/// Returns the benchmarks that `--spread` turns into jobs. Within such a job, restricts the arguments to the
/// job's benchmark; the other output formats are written once for all jobs.
///
/// # Errors
/// If there is no suite, or it can't be read.
pub(super) fn parts(arguments: &mut Arguments) -> Result<Vec<String>, Failure> {
    if let Some(attempt) = fathom_fleet::attempt() {
        if let Some(part) = &attempt.part.part {
            arguments.only = vec![part.clone()];
            arguments.forms = arguments::Forms::default();
        }
        return Ok(Vec::new());
    }
    match arguments.spread {
        true => suite::names(&arguments.only),
        false => Ok(Vec::new()),
    }
}

impl Arguments {
    /// Sets the output files of the forms. A form without a new file keeps its own.
    pub(super) fn place_forms(&mut self, files: impl Iterator<Item = Option<PathBuf>>) {
        let forms = &mut self.forms;
        let forms = [
            &mut forms.markdown,
            &mut forms.junit,
            &mut forms.github,
            &mut forms.gitlab,
        ];
        for (form, file) in forms.into_iter().zip(files) {
            *form = file.or(form.take());
        }
    }
}

/// Shows what jobs measured of a suite; if `prints` is set, also on standard output. Returns the exit code.
///
/// # Errors
/// If something can't be written.
pub(super) fn collected(
    arguments: &Arguments,
    record: &GateRecord,
    prints: bool,
) -> Result<i32, Failure> {
    show::collected(arguments, record, prints)?;
    Ok(exit_code(record))
}

fn measured(arguments: &Arguments, plan: &GatePlan, saver: &mut Saver) -> Result<i32, Failure> {
    let mut progress = RevisionProgress::new(arguments.verbose);
    let measured = gate(plan, &mut progress);
    progress.clear();
    let mut measured = measured?;
    for (row, found) in &measured.differences {
        measured.record.benchmarks[*row].difference = differs::lines(found);
    }
    let record = &measured.record;
    let shown = show::show(arguments, record);
    match (&arguments.head, &record.head.revision) {
        (Some(_), Some(revision)) => saver.save_revision(revision, record, record.complete),
        _ => saver.save(record, record.complete),
    }
    shown?;
    if let Some(error) = measured.failure {
        return Err(error.into());
    }
    if interrupt::received().is_some() {
        return Ok(INTERRUPTED);
    }
    Ok(exit_code(&measured.record))
}

fn exit_code(record: &GateRecord) -> i32 {
    let passes = match &record.rule {
        GateRule::Paired {
            undecided_passes, ..
        }
        | GateRule::Stored {
            undecided_passes, ..
        } => *undecided_passes,
        GateRule::BestOf { .. } => true,
    };
    match record.verdict {
        _ if record.null_arm.failed => UNTRUSTED,
        GateVerdict::Worse => WORSE,
        GateVerdict::CannotTell if !passes => WORSE,
        _ => 0,
    }
}

/// Returns the requested rule.
fn rule(arguments: &Arguments, undecided_passes: bool) -> Rule {
    match arguments.max_regression {
        Some(max_regression) => Rule::BestOf {
            rule: BestOf {
                max_regression,
                max_geomean: arguments.max_geomean,
                runs: arguments.best_of as usize,
            },
            protected: arguments.protect.clone(),
        },
        None => Rule::Paired {
            undecided_passes: arguments
                .undecided
                .map_or(undecided_passes, |word| word == Undecided::Pass),
        },
    }
}

/// Returns the store with earlier gates, even if this one isn't saved.
fn history(arguments: &Arguments) -> Result<Option<Location>, Failure> {
    let place = stores::place(arguments.saving.store.as_deref(), &here()?);
    match place {
        Ok(place) => Ok(Some(place)),
        // No store was requested, and there is no place for one.
        Err(_) if arguments.saving.store.is_none() => Ok(None),
        Err(error) => usage(error.to_string()),
    }
}

/// Returns today's date in UTC, such as `2026-11-26`.
fn today() -> String {
    fathom_measure::now_rfc3339().chars().take(10).collect()
}
