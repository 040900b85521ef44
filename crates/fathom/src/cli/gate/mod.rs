//! `fathom gate`: is the suite worse than before?

mod accept;
mod arguments;
mod commands;
mod differs;
mod show;
mod stored;
mod suite;

use arguments::Action;
pub(super) use arguments::{Arguments, Undecided};
use fathom_conduct::gate::{BestOf, GatePlan, Rule, gate};
use fathom_measure::interrupt;
use fathom_model::{GateRecord, GateRule, GateVerdict};

use crate::cli::failure::{Failure, UNTRUSTED};
use crate::cli::revision_progress::RevisionProgress;

/// Exit code when the suite is worse.
const WORSE: i32 = 1;
/// Exit code after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Measures, judges, prints, writes. Returns the exit code.
///
/// # Errors
/// Everything that keeps a verdict from being printed.
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
    interrupt::catch();
    match (&arguments.base_cmd, &arguments.head_cmd) {
        (Some(base), Some(head)) => {
            let plan = commands::plan(&arguments, base, head)?;
            measured(&arguments, &plan)
        }
        _ => {
            // Held while it is measured: nobody removes what was built.
            let built = suite::plan(&arguments)?;
            measured(&arguments, &built.plan)
        }
    }
}

fn measured(arguments: &Arguments, plan: &GatePlan) -> Result<i32, Failure> {
    let mut progress = RevisionProgress::new();
    let measured = gate(plan, &mut progress).map(|mut measured| {
        differs::explain(plan, &mut measured.record, &mut progress);
        measured
    });
    progress.clear();
    let measured = measured?;
    show::show(arguments, &measured.record)?;
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

/// The rule that was asked for.
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

/// Today in UTC, `2026-11-26`.
fn today() -> String {
    fathom_measure::now_rfc3339().chars().take(10).collect()
}
