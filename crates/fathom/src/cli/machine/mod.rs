//! `fathom machine`: measures what this machine can do at most, and whether it is quiet enough.

mod arguments;
mod tuning;

use std::ffi::OsString;
use std::time::Duration;

pub(super) use arguments::Arguments;
use fathom_conduct::machine::{Checked, Probes};
use fathom_conduct::{CheckPlan, Event, MachinePlan};
use fathom_experiment::did_you_mean;
use fathom_machine::Fitness;
use fathom_measure::{CommandLine, Input, Output, interrupt};

use crate::cli::failure::{Failure, usage};
use crate::cli::out::say;
use crate::cli::saving::Saver;
use crate::cli::{screen, write};

/// Exit code after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// The duration of the work that `--check` compares with itself, excluding the start of the program.
const WORK: Duration = Duration::from_millis(5);

/// Measures, checks or repairs, and prints. Returns the exit code.
///
/// # Errors
/// If a file can't be written, or a setting can't be changed.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    if let Some(turns) = arguments.work {
        fathom_machine::work(turns);
        return Ok(0);
    }
    let files = [&arguments.json, &arguments.html];
    write::check(&files)?;
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
    check_directory(arguments)?;
    let saver = arguments.saving.saver()?;
    interrupt::catch();
    match arguments.check {
        true => check(arguments, saver),
        false => measure(arguments, saver),
    }
}

fn check_directory(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.directory {
        Some(directory) if !directory.is_dir() => usage(format!(
            "--directory: {} is not a directory",
            directory.display()
        )),
        _ => Ok(()),
    }
}

/// Lists everything that `--only` can name.
fn list() -> Result<i32, Failure> {
    let mut text = String::new();
    for heading in fathom_machine::headings() {
        text.push_str(&format!("{:<28} {}\n", heading.id, heading.title));
    }
    write::print(&text)?;
    Ok(0)
}

fn known(ids: &[String]) -> Result<(), Failure> {
    let headings = fathom_machine::headings();
    let names = || headings.iter().map(|heading| heading.id);
    match ids.iter().find(|id| !names().any(|name| name == *id)) {
        None => Ok(()),
        Some(unknown) => {
            let meant = did_you_mean(unknown, names()).map_or_else(
                || "'fathom machine --only list' lists them".to_owned(),
                |meant| format!("did you mean {meant}?"),
            );
            usage(format!("--only: no figure is named {unknown}; {meant}"))
        }
    }
}

fn measure(arguments: &Arguments, saver: Saver) -> Result<i32, Failure> {
    let plan = MachinePlan {
        probes: match (arguments.quick, arguments.full) {
            (true, _) => Probes::Quick,
            (_, patient) if !arguments.only.is_empty() => {
                Probes::Only(arguments.only.clone(), patient)
            }
            (_, true) => Probes::Full,
            _ => Probes::Default,
        },
        directory: arguments.directory.clone(),
        deadline: None,
    };
    let draws = screen::can_draw();
    let record = fathom_conduct::machine(&plan, &mut |event: Event<'_>| {
        if let Event::Probes(what) = event {
            screen::redraw(draws, &format!("{what} …"));
        }
    });
    screen::redraw(draws, "");
    let page = || {
        let origin = fathom_report::Origin {
            environment: &record.head.environment,
            started_at: &record.head.written_at,
            fathom_version: &record.head.fathom_version,
        };
        fathom_report::machine_html(&record.results, record.complete, origin)
    };
    let shown = fathom_report::MachineOptions {
        methods: arguments.methods,
        curves: arguments.curves,
    };
    let text = fathom_report::machine_terminal(&record.results, shown, &screen::of_stdout(false));
    finish(arguments, saver, &record, text, &page, record.complete)?;
    if !record.complete {
        say!("interrupted: only the figures measured so far are shown");
        return Ok(INTERRUPTED);
    }
    Ok(0)
}

fn check(arguments: &Arguments, saver: Saver) -> Result<i32, Failure> {
    let plan = CheckPlan {
        directory: arguments.directory.clone(),
        work: own_work()?,
    };
    let draws = screen::can_draw();
    screen::redraw(
        draws,
        "checking the machine, then comparing a program with itself …",
    );
    let Checked { record, failure } = fathom_conduct::check(&plan);
    screen::redraw(draws, "");
    if let Some(failure) = failure {
        say!("warning: a program could not be compared with itself: {failure}");
    }
    finish(
        arguments,
        saver,
        &record,
        fathom_report::machine_check_terminal(
            &record.report,
            &screen::of_stdout(arguments.verbose),
        ),
        &String::new,
        record.complete,
    )?;
    if !record.complete {
        say!("interrupted: no program was compared with itself for long enough");
        return Ok(INTERRUPTED);
    }
    Ok(i32::from(record.report.fitness == Fitness::Unfit))
}

/// Returns the command line with which this program only does fixed work.
pub(super) fn own_work() -> Result<CommandLine, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::Untrusted(format!(
            "can't find this program's own executable, so can't run it: {error}"
        ))
    })?;
    let turns = fathom_machine::work_turns(WORK);
    let words = ["machine", "--work", &turns.to_string()].map(OsString::from);
    Ok(CommandLine {
        arguments: std::iter::once(own.clone().into_os_string())
            .chain(words)
            .collect(),
        program: own,
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
        without: fathom_measure::Without::default(),
    })
}

/// Prints, writes and saves the record.
fn finish(
    arguments: &Arguments,
    mut saver: Saver,
    record: &impl serde::Serialize,
    text: String,
    page: &dyn Fn() -> String,
    whole: bool,
) -> Result<(), Failure> {
    let json = || fathom_report::json(record);
    let shown = write::results(
        || text,
        &[
            (arguments.json.as_deref(), &json),
            (arguments.html.as_deref(), page),
        ],
    );
    saver.save(record, whole);
    shown
}
