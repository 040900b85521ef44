//! The command that a job's script calls on the node: one attempt.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use fathom_conduct::{CheckPlan, ConductError};
use fathom_fleet::{ATTEMPT, RECORD, Step, Unfit};
use fathom_machine::Fitness;
use fathom_model::CheckState;
use fathom_report::escape;

use crate::cli::failure::Failure;
use crate::cli::machine;
use crate::cli::out::say;

/// Runs one attempt. The exit code is only for the engine, because the result is in the job's folder.
///
/// # Errors
/// Everything that prevents the attempt from producing a result. Another attempt may follow.
pub(super) fn run(group: &Path, job: usize, token: u32) -> Result<i32, Failure> {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // These are Slurm's variables; an engine that doesn't have them sets its own.
    let of_array = of("SLURM_ARRAY_JOB_ID").zip(of("SLURM_ARRAY_TASK_ID"));
    let id = of_array.map(|(id, number)| format!("{id}_{number}"));
    let id = id
        .or_else(|| of("SLURM_JOB_ID"))
        .or_else(|| of("FATHOM_JOB_ID"));
    let node = of("SLURMD_NODENAME").or_else(|| of("FATHOM_NODE"));
    let node = node.or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok());
    let node = node.unwrap_or_default().trim().to_owned();
    let step = Step::begin(group, job, token, &id.unwrap_or_default(), &node);
    let Some(step) = step.map_err(ConductError::from)? else {
        say!("this job was abandoned or already has its result, so there is nothing to do");
        return Ok(0);
    };
    let checks = step.asked.engine.check;
    let unfit = match checks {
        true => unfit()?,
        false => None,
    };
    let outcome = match unfit {
        Some(why) => Err(Unfit(why)),
        None => {
            let exit = measured(&step)?;
            let changed = changed(&step.folder.join(RECORD)).filter(|_| checks);
            changed.map_or(Ok(exit), |why| Err(Unfit(why)))
        }
    };
    step.end(outcome).map_err(ConductError::from)?;
    Ok(0)
}

/// Returns the objections that `fathom machine --check` has to the node.
fn unfit() -> Result<Option<String>, Failure> {
    let plan = CheckPlan {
        directory: None,
        work: machine::own_work()?,
    };
    let report = fathom_conduct::check(&plan).record.report;
    if report.fitness != Fitness::Unfit {
        return Ok(None);
    }
    let bad = report
        .items
        .iter()
        .filter(|item| item.state == CheckState::Bad);
    let bad: Vec<String> = bad
        .map(|item| format!("{} {}", item.id.replace('_', " "), item.found))
        .collect();
    Ok(Some(match bad.is_empty() {
        true => format!(
            "other programs took {:.1} % of a spinning core's time",
            report.noise.gaps.lost.percent()
        ),
        false => bad.join("; "),
    }))
}

/// Returns how the node differs from its profile according to the record's canaries, if it does.
fn changed(record: &Path) -> Option<String> {
    let text = std::fs::read(record).ok()?;
    let record: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let changed = record.pointer("/environment/fingerprint/changed")?;
    let changed: Vec<_> = changed
        .as_array()?
        .iter()
        .filter_map(|id| id.as_str())
        .collect();
    (!changed.is_empty()).then(|| {
        let changed = changed.join(", ");
        format!("it has changed since its profile was taken ({changed}); fathom machine --quick takes a new one")
    })
}

/// Runs the verb; its output goes to the attempt's folder.
fn measured(step: &Step) -> Result<i32, Failure> {
    let file = |name: &str| {
        let path = step.folder.join(name);
        File::create(&path).map_err(|error| Failure::Write { path, error })
    };
    let status = Command::new(&step.asked.program)
        .args(&step.asked.arguments)
        .current_dir(&step.asked.folder)
        .env(ATTEMPT, &step.folder)
        .stdin(Stdio::null())
        .stdout(file("stdout")?)
        .stderr(file("stderr")?)
        .status()
        .map_err(|error| Failure::Failed(error.to_string()))?;
    // If there is no exit code, a signal ended the verb, so the attempt was cut short. An interrupt isn't a
    // result either.
    match status.code() {
        Some(code) if code != 130 => Ok(code),
        _ => Err(Failure::Failed(format!(
            "the measurement was cut short: {}",
            escape(&status.to_string())
        ))),
    }
}
