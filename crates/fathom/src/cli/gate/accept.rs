//! `fathom gate accept`: accepts a known change until a given day.

use std::path::{Path, PathBuf};

use fathom_experiment::file::is_date;
use fathom_experiment::waiver::without;
use fathom_experiment::{Experiment, did_you_mean, gate};

use super::arguments::Accept;
use super::today;
use crate::cli::failure::{Failure, usage};
use crate::cli::versions::here;
use crate::cli::write;

/// Appends a waiver to the project's file. Returns the exit code.
///
/// # Errors
/// If the day has passed, or the benchmark doesn't exist.
pub(super) fn accept(accept: &Accept) -> Result<i32, Failure> {
    check(accept)?;
    let file = suite_file()?;
    let experiment = fathom_experiment::read(&file).or_else(|error| usage(error.to_string()))?;
    is_in(accept, &experiment, &file)?;
    let known = experiment
        .gate
        .waivers
        .iter()
        .any(|waiver| waiver.benchmark == accept.name && waiver.metric == accept.metric);
    let failed = |error| Failure::Write {
        path: file.clone(),
        error,
    };
    let before = std::fs::read_to_string(&file).map_err(failed)?;
    let after = match known {
        // Each change has at most one waiver, the newest one.
        true => without(&before, &accept.name, &accept.metric),
        false => before,
    };
    let after = format!("{}\n\n{}", after.trim_end(), waiver(accept));
    // If the file is a link, its target is written, not the link itself.
    let target = file.canonicalize().map_err(failed)?;
    write::export(&target, after.into_bytes())?;
    let by = match &accept.at_most {
        Some(share) => format!(" by at most {share}"),
        None => String::new(),
    };
    let instead = if known {
        ", replacing the previous one"
    } else {
        ""
    };
    write::print(&format!(
        "{} may be worse{by} until {}: the waiver is in {}{instead}. It takes effect once it is in base; commit \
         it.\n",
        fathom_report::escape(&accept.name),
        accept.until,
        file.display()
    ))?;
    Ok(0)
}

/// Refuses a day that has passed, and a waiver without a reason.
fn check(accept: &Accept) -> Result<(), Failure> {
    let (until, today) = (&accept.until, today());
    if !is_date(until) {
        return usage(format!(
            "--until {until:?} is not a date; write one such as 2027-01-31"
        ));
    }
    if *until < today {
        return usage(format!("--until {until} has passed: today is {today}"));
    }
    if accept.reason.trim().is_empty() {
        return usage(
            "--reason is empty: give the reason, for whoever reviews the waiver when it expires",
        );
    }
    Ok(())
}

/// Returns the suite file of the current project.
fn suite_file() -> Result<PathBuf, Failure> {
    let here = here()?;
    let root = fathom_store::git::state(&here).map_or_else(|_| here.clone(), |state| state.root);
    gate::project_file(&here, &root).map_or_else(
        || {
            usage(format!(
                "no fathom.toml in {} or any folder above it; fathom init writes one",
                here.display()
            ))
        },
        Ok,
    )
}

/// Refuses a benchmark that isn't in the suite.
fn is_in(accept: &Accept, experiment: &Experiment, file: &Path) -> Result<(), Failure> {
    let subject = accept.name.split('[').next().unwrap_or(&accept.name);
    let subjects = experiment.subjects.iter();
    let names: Vec<&str> = subjects.map(|one| one.name.value.as_str()).collect();
    if names.contains(&subject) {
        return Ok(());
    }
    let meant = did_you_mean(subject, names.iter().copied());
    let meant = meant.map_or_else(
        || format!("it has {}", names.join(", ")),
        |meant| format!("did you mean {meant}?"),
    );
    usage(format!(
        "{} has no benchmark {:?}; {meant}",
        file.display(),
        accept.name
    ))
}

/// Formats the waiver as written in the file.
fn waiver(accept: &Accept) -> String {
    let ceiling = match &accept.at_most {
        Some(share) => format!("at_most = {}\n", toml_text(share)),
        None => String::new(),
    };
    format!(
        "[[gate.waivers]]\nbenchmark = {}\nmetric = {}\nuntil = {}\n{ceiling}reason = {}\n",
        toml_text(&accept.name),
        toml_text(&accept.metric),
        accept.until,
        toml_text(&accept.reason),
    )
}

/// Formats a text as a TOML basic string.
fn toml_text(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control.is_control() => {
                out.push_str(&format!("\\u{:04X}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out + "\""
}
