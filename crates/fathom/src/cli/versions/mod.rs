//! `fathom versions`: measures a command over the versions of a program.

mod arguments;

use std::ffi::OsString;
use std::path::PathBuf;

pub(super) use arguments::Arguments;
use fathom_conduct::bench::{Amount, TIME_BESIDE_BUILDS};
use fathom_conduct::versions::{Which, was_interrupted};
use fathom_conduct::{Template, VersionsPlan};
use fathom_measure::{Hooks, interrupt};
use fathom_report as report;

use crate::cli::failure::{Failure, usage};
use crate::cli::revision_progress::RevisionProgress;
use crate::cli::run_options::RunOptions;
use crate::cli::target::{self, Source};
use crate::cli::{path_conflicts, screen, suite_name, write};

const EXAMPLE: &str = "fathom versions v1.0..v2.0 --build 'make' -- ./tool FILE";

/// Measures the versions and prints the results. Returns the exit code.
///
/// # Errors
/// Any error that keeps a result from being printed.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    write::check(&[&arguments.json])?;
    let plan = plan(arguments)?;
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    let mut progress = RevisionProgress::new(arguments.verbose);
    let measured = fathom_conduct::versions(&plan, &mut progress);
    progress.clear();
    let measured = measured?;
    let screen = screen::of_stdout(arguments.verbose);
    let shown = write::results(
        || report::versions_terminal(&measured.record, &screen),
        &[(arguments.json.as_deref(), &|| {
            report::json(&measured.record)
        })],
    );
    let command = &measured.record.command;
    let name = arguments.command_name.clone();
    let name = name.or_else(|| suite_name::of(command));
    saver.save_versions(&measured.record, &name.unwrap_or_else(|| command.clone()));
    shown?;
    if let Some(error) = measured.failure {
        return Err(error.into());
    }
    Ok(match was_interrupted(&measured.record) {
        true => 130,
        false => 0,
    })
}

/// Returns the parts that `--spread` turns into jobs: the names of some versions. A job measures only its own
/// versions.
///
/// # Errors
/// Usage errors, and a range that doesn't exist.
pub(super) fn parts(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    match (arguments.spread, fathom_fleet::attempt()) {
        (Some(most), None) => {
            let ranges = fathom_conduct::versions::ranges(&plan(arguments)?, most as usize)?;
            Ok(ranges.into_iter().map(|names| names.join(" ")).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the versions that this job measures.
fn only() -> Vec<String> {
    let part = fathom_fleet::attempt().and_then(|attempt| attempt.part.part.as_deref());
    let names = part.unwrap_or_default().split_whitespace();
    names.map(str::to_owned).collect()
}

fn plan(arguments: &Arguments) -> Result<VersionsPlan, Failure> {
    let which = which(arguments)?;
    let json = [&arguments.json];
    let template = template(&arguments.run_options, &arguments.words, &json, EXAMPLE)?;
    if let Which::Installed(_) = which {
        varies(&template)?;
    }
    Ok(VersionsPlan {
        which,
        only: only(),
        template,
        metric: arguments.metric,
        amount: Amount {
            runs: arguments.runs,
            time: arguments.time.or(Some(TIME_BESIDE_BUILDS)),
            ..Amount::default()
        },
        warmup: arguments.rounds.warmup,
        seed: arguments.rounds.seed.value(),
        margin: arguments.rounds.margin.margin,
        ignore_failure: arguments.failures.ignored()?,
        require_quiet: arguments.rounds.quiet.require_quiet,
        terms: arguments.run_options.terms(),
    })
}

fn which(arguments: &Arguments) -> Result<Which, Failure> {
    if let Some(of) = &arguments.of {
        let names: Vec<String> = of.split(',').map(|name| name.trim().to_owned()).collect();
        if names.len() < 2 || names.iter().any(String::is_empty) {
            return usage(format!(
                "--of takes two or more versions, separated by commas, such as 0.1.2,0.8.4, not {of:?}"
            ));
        }
        return Ok(Which::Installed(names));
    }
    let Some(range) = &arguments.range else {
        return usage(format!(
            "no range of versions; try: {EXAMPLE}, or --of 1.0,1.1 -- PROGRAM-{{version}} for installed versions"
        ));
    };
    let (from, to) = range_of(range)?;
    Ok(Which::Range {
        folder: here()?,
        from,
        to,
        every: arguments.every.map(|every| every as usize),
        builds: arguments.builds.builds(),
    })
}

/// Returns both ends of FROM..TO; TO defaults to HEAD.
///
/// # Errors
/// If the text is not a range.
pub(super) fn range_of(range: &str) -> Result<(String, String), Failure> {
    let ends = range.split_once("..");
    let ends = ends.filter(|(from, to)| !from.is_empty() && !to.starts_with('.'));
    let Some((from, to)) = ends else {
        return usage(format!(
            "{range:?} is not a range of versions: write FROM..TO, such as v1.0..v2.0, or v1.0.. (up to HEAD)"
        ));
    };
    let to = if to.is_empty() { "HEAD" } else { to };
    Ok((from.to_owned(), to.to_owned()))
}

/// Returns the folder whose repository is used.
///
/// # Errors
/// If it no longer exists.
pub(super) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::Usage(format!("the current folder can't be used: {error}")))
}

/// Returns the command with the placeholders to fill in for each version.
///
/// # Errors
/// Usage errors.
pub(super) fn template(
    options: &RunOptions,
    words: &[OsString],
    written: &[&Option<PathBuf>],
    example: &str,
) -> Result<Template, Failure> {
    if words.is_empty() {
        return usage(format!("no command; write it after --: {example}"));
    }
    let source = Source::Words(words.to_vec());
    let command = target::plan(options, None, &source, 0, 1, &Vec::new())?;
    path_conflicts::check_files([(&command.input, &command.output)], written)?;
    let prepare = match &options.prepare[..] {
        [] => None,
        [text] => {
            let variables = command.variables.clone();
            Some(target::hook(
                "--prepare",
                text.clone(),
                None,
                variables,
                options,
            )?)
        }
        _ => {
            return usage("--prepare was given several times for one command: give it once");
        }
    };
    Ok(Template {
        command,
        hooks: Hooks {
            prepare,
            ..Hooks::default()
        },
    })
}

/// Checks that the command depends on the version: identical commands can't differ.
fn varies(template: &Template) -> Result<(), Failure> {
    let place = "{version}";
    let words = template.command.words.iter();
    let mut texts = words.map(|word| word.to_string_lossy().into_owned());
    if texts.any(|text| text.contains(place)) {
        return Ok(());
    }
    usage(format!(
        "the command is the same for all versions: write {place} where the version goes, such as tool-{place}"
    ))
}
