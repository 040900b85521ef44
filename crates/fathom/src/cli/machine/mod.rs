//! `fathom machine`: what this machine can do at most, and whether it is quiet enough.

mod against_itself;
mod arguments;
mod record;
mod tuning;

use std::time::Duration;

pub use arguments::Arguments;
use fathom_experiment::did_you_mean;
use fathom_machine::remembered::{self, Profile};
use fathom_machine::{Fitness, Options, ProbeResult};
use fathom_measure::interrupt;

use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// Exit code after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Time of the look at the machine in `--check`.
const CHECKED: Duration = Duration::from_secs(1);

/// Measures, checks or mends, and prints. Returns the exit code.
///
/// # Errors
/// When a file can't be written, or a setting can't be changed.
pub fn run(arguments: &Arguments) -> Result<i32, Failure> {
    if let Some(turns) = arguments.work {
        fathom_machine::work(turns);
        return Ok(0);
    }
    let files = [&arguments.json, &arguments.html];
    write::check(files.into_iter().filter_map(|path| path.as_deref()))?;
    if arguments.fix {
        return tuning::fix();
    }
    if arguments.restore {
        return tuning::restore();
    }
    if arguments.only == ["list"] {
        return list();
    }
    known(&arguments.only)?;
    let options = options(arguments)?;
    interrupt::catch();
    match arguments.check {
        true => check(arguments, &options),
        false => measure(arguments, &options),
    }
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    let mut options = Options {
        stop: Some(|| interrupt::received().is_some()),
        ..Options::default()
    };
    if let Some(directory) = &arguments.directory {
        if !directory.is_dir() {
            return Err(Failure::Usage(format!(
                "--directory: {} is not a directory",
                directory.display()
            )));
        }
        options.directory.clone_from(directory);
    }
    Ok(options)
}

/// All that `--only` can name.
fn list() -> Result<i32, Failure> {
    let mut text = String::new();
    for heading in fathom_machine::headings() {
        text.push_str(&format!("{:<28} {}\n", heading.id, heading.title));
    }
    write::print(text.as_bytes())?;
    Ok(0)
}

fn known(ids: &[String]) -> Result<(), Failure> {
    let headings = fathom_machine::headings();
    let names = || headings.iter().map(|heading| heading.id);
    match ids.iter().find(|id| !names().any(|name| name == *id)) {
        None => Ok(()),
        Some(unknown) => {
            let meant = did_you_mean(unknown, names()).map_or_else(
                || "fathom machine --only list names them".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            Err(Failure::Usage(format!(
                "--only: there is no figure {unknown}; {meant}"
            )))
        }
    }
}

fn measure(arguments: &Arguments, options: &Options) -> Result<i32, Failure> {
    let draws = screen::can_draw();
    let mut progress = |what: &str| screen::redraw(draws, &format!("{what} …"));
    let (name, mut results) = match (arguments.quick, arguments.full) {
        (true, _) => ("quick", fathom_machine::quick(options, &mut progress)),
        (_, patient) if !arguments.only.is_empty() => (
            "only",
            fathom_machine::only(&arguments.only, patient, options, &mut progress),
        ),
        (_, true) => ("full", fathom_machine::full(options, &mut progress)),
        _ => (
            "default",
            fathom_machine::everything(options, &mut progress),
        ),
    };
    screen::redraw(draws, "");
    let complete = interrupt::received().is_none();
    if complete {
        remember(name, &mut results);
    }
    if let Some(path) = &arguments.html {
        let page = fathom_report::machine_html(&results, complete);
        write::export(path, page)?;
    }
    let shown = fathom_report::MachineOptions {
        methods: arguments.methods,
        curves: arguments.curves,
    };
    let text = fathom_report::machine_terminal(&results, shown);
    finish(
        arguments,
        &record::Profile::new(name, complete, &results),
        &text,
    )?;
    if !complete {
        eprintln!("interrupted: what had ended is there; the rest has no figure or is missing");
        return Ok(INTERRUPTED);
    }
    Ok(0)
}

/// Holds the figures against what earlier runs showed, and keeps the fingerprint for `why` and `bench`. A cache
/// that can't be written is no failure.
fn remember(kind: &str, results: &mut [ProbeResult]) {
    let Some(folder) = remembered::default_folder() else {
        return;
    };
    let before = remembered::load(&folder);
    let mut seen = before
        .as_ref()
        .map(|profile| profile.seen.clone())
        .unwrap_or_default();
    // What was measured on some of the CPUs is no measure of what is on others.
    let kind = format!("{kind} on {:?}", fathom_machine::allowed_cpus());
    seen.judge(results, &kind, remembered::seconds_now());
    let now = Profile::now(results.iter().map(without_curve).collect());
    let kept = if now.is_whole() { Some(now) } else { before };
    if let Some(profile) = kept {
        let _ = remembered::save(&folder, &Profile { seen, ..profile });
    }
}

/// Figures are remembered, curves are not.
fn without_curve(result: &ProbeResult) -> ProbeResult {
    ProbeResult {
        points: None,
        points_over: None,
        points_unit: None,
        ..result.clone()
    }
}

fn check(arguments: &Arguments, options: &Options) -> Result<i32, Failure> {
    let draws = screen::can_draw();
    screen::redraw(
        draws,
        "looking at the machine, then a program against itself …",
    );
    let mut failure = None;
    let mut against_itself = || match against_itself::smallest_difference() {
        Ok(told) => Some(told),
        Err(error) => {
            failure = Some(error);
            None
        }
    };
    let report = fathom_machine::check(CHECKED, &options.directory, Some(&mut against_itself));
    screen::redraw(draws, "");
    let complete = interrupt::received().is_none();
    if let Some(failure) = failure.filter(|_| complete) {
        // The rest of the check stands; only its last line is missing.
        eprintln!("warning: a program could not be run against itself: {failure}");
    }
    finish(
        arguments,
        &record::Check::new(complete, &report),
        &fathom_report::machine_check_terminal(&report),
    )?;
    if !complete {
        eprintln!("interrupted: no program was run against itself for as long as it takes");
        return Ok(INTERRUPTED);
    }
    Ok(i32::from(report.fitness == Fitness::Unfit))
}

fn finish(arguments: &Arguments, value: &impl serde::Serialize, text: &str) -> Result<(), Failure> {
    if let Some(path) = &arguments.json {
        let mut json = serde_json::to_vec_pretty(value).map_err(|error| Failure::Write {
            path: path.clone(),
            error: error.into(),
        })?;
        json.push(b'\n');
        write::export(path, json)?;
        if write::is_stdout(path) {
            return Ok(());
        }
    }
    if arguments.html.as_deref().is_some_and(write::is_stdout) {
        return Ok(());
    }
    write::print(text.as_bytes())
}
