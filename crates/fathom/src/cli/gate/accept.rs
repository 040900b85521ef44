//! `fathom gate accept`: a known change is let pass until a day.

use std::io::Write;

use fathom_experiment::file::parse_gate::is_day;
use fathom_experiment::{did_you_mean, gate};

use super::arguments::Accept;
use super::today;
use crate::cli::failure::Failure;
use crate::cli::versions::here;
use crate::cli::write;

/// Adds a waiver at the end of the project's file. Returns the exit code.
///
/// # Errors
/// When the day has passed, or there is no such benchmark.
pub(super) fn accept(accept: &Accept) -> Result<i32, Failure> {
    let usage = |text: String| Err(Failure::Usage(text));
    if !is_day(&accept.until) {
        return usage(format!(
            "--until {:?} is no day; write one such as 2027-01-31",
            accept.until
        ));
    }
    let today = today();
    if accept.until < today {
        return usage(format!(
            "--until {} has passed: today is {today}",
            accept.until
        ));
    }
    if accept.reason.trim().is_empty() {
        return usage(
            "--reason is empty: say why it is let pass, for who reads it when the day comes"
                .to_owned(),
        );
    }
    let here = here()?;
    let root = fathom_store::git::state(&here).map_or_else(|_| here.clone(), |state| state.root);
    let Some(file) = gate::project_file(&here, &root) else {
        return usage(format!(
            "there is no fathom.toml in {} or above; fathom init writes one",
            here.display()
        ));
    };
    let experiment =
        fathom_experiment::read(&file).map_err(|error| Failure::Usage(error.to_string()))?;
    let subject = accept.name.split('[').next().unwrap_or(&accept.name);
    let names: Vec<&str> = experiment
        .subjects
        .iter()
        .map(|subject| subject.name.value.as_str())
        .collect();
    if !names.contains(&subject) {
        let meant = did_you_mean(subject, names.iter().copied());
        let meant = meant.map_or_else(
            || format!("it has {}", names.join(", ")),
            |meant| format!("did you mean {meant}?"),
        );
        return usage(format!(
            "{} has no benchmark {:?}; {meant}",
            file.display(),
            accept.name
        ));
    }
    let quoted = |text: &str| toml_text(text);
    let text = format!(
        "\n[[gate.waivers]]\nbenchmark = {}\nmetric = {}\nuntil = {}\nreason = {}\n",
        quoted(&accept.name),
        quoted(&accept.metric),
        accept.until,
        quoted(&accept.reason),
    );
    let failed = |error| Failure::Write {
        path: file.clone(),
        error,
    };
    let mut open = std::fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .map_err(failed)?;
    open.write_all(text.as_bytes()).map_err(failed)?;
    write::print(&format!(
        "{} may be worse until {}: the waiver is in {}. It applies once it is in base; commit it.\n",
        fathom_report::escape(&accept.name),
        accept.until,
        file.display()
    ))?;
    Ok(0)
}

/// A basic string of TOML.
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
