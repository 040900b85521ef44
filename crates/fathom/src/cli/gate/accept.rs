//! `fathom gate accept`: a known change is let pass until a day.

use fathom_experiment::file::is_date;
use fathom_experiment::waiver::without;
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
    if !is_date(&accept.until) {
        return usage(format!(
            "--until {:?} is not a date; write one such as 2027-01-31",
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
    let ceiling = match &accept.at_most {
        Some(share) => format!("at_most = {}\n", quoted(share)),
        None => String::new(),
    };
    let text = format!(
        "[[gate.waivers]]\nbenchmark = {}\nmetric = {}\nuntil = {}\n{ceiling}reason = {}\n",
        quoted(&accept.name),
        quoted(&accept.metric),
        accept.until,
        quoted(&accept.reason),
    );
    let failed = |error| Failure::Write {
        path: file.clone(),
        error,
    };
    let known = experiment
        .gate
        .waivers
        .iter()
        .any(|waiver| waiver.benchmark == accept.name && waiver.metric == accept.metric);
    let before = std::fs::read_to_string(&file).map_err(failed)?;
    let after = match known {
        // One change has one waiver: the newest.
        true => without(&before, &accept.name, &accept.metric),
        false => before,
    };
    let after = format!("{}\n\n{text}", after.trim_end());
    // What a link leads to is written, not the link.
    let target = file.canonicalize().map_err(failed)?;
    write::export(&target, after.into_bytes())?;
    let by = match &accept.at_most {
        Some(share) => format!(" by at most {share}"),
        None => String::new(),
    };
    let instead = if known {
        ", instead of the one that was there"
    } else {
        ""
    };
    write::print(&format!(
        "{} may be worse{by} until {}: the waiver is in {}{instead}. It applies once it is in base; commit it.\n",
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
