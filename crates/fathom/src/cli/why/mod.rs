//! `fathom why`: account for a program's time and name the cause of what is slow.

mod arguments;
mod tiers;

use std::path::Path;

pub(super) use arguments::Arguments;
use fathom_conduct::{Event, Target, WhyPlan};
use fathom_diagnose::Observation;
use fathom_measure::interrupt;
use fathom_model::Explanation;
use fathom_report as report;

use crate::cli::bench::ignored;
use crate::cli::failure::Failure;
use crate::cli::target::{Source, line, target};
use crate::cli::{machine_changed, path_conflicts, screen, write};

/// Times, observes, explains, prints. Returns the exit code.
///
/// # Errors
/// Everything that keeps an explanation from being printed.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    if arguments.tiers {
        return tiers::print();
    }
    let files = [
        &arguments.html,
        &arguments.json,
        &arguments.export_markdown,
        &arguments.save_observation,
    ];
    write::check(files.into_iter().filter_map(|path| path.as_deref()))?;
    let plan = plan(&arguments)?;
    let written = files.into_iter().filter_map(|path| path.as_deref());
    path_conflicts::check([&plan.target.command], written)?;
    interrupt::catch();
    let draws = screen::can_draw() && !arguments.run_options.show_output;
    let explained = fathom_conduct::why(&plan, &mut |event: Event<'_>| show_event(draws, event));
    screen::redraw(draws, "");
    let explained = explained?;
    if let Some(path) = &arguments.save_observation {
        keep(path, &explained.observation)?;
    }
    show(&arguments, &explained.explanation)?;
    Ok(match interrupt::received() {
        Some(_) => 130,
        None => 0,
    })
}

fn plan(arguments: &Arguments) -> Result<WhyPlan, Failure> {
    Ok(WhyPlan {
        target: target_of(arguments)?,
        runs: arguments.runs,
        ignore_failure: ignored(arguments.ignore_failure.as_deref())?,
        tier: arguments.tier.map(Into::into),
        measure_limits: arguments.limits,
        terms: arguments.run_options.terms(),
    })
}

/// Says on the terminal what is being done, in the place of what was said before.
fn show_event(draws: bool, event: Event<'_>) {
    let what = match event {
        Event::MachineChanged(changes) => return machine_changed::warn(changes),
        Event::Round { warmup: true, .. } => "timing: a run that doesn't count …".to_owned(),
        Event::Round { round, .. } => format!("timing: run {} …", round + 1),
        Event::Observes(tier) => format!("observing: tier {} …", tier.name()),
        _ => return,
    };
    screen::redraw(draws, &what);
}

fn target_of(arguments: &Arguments) -> Result<Target, Failure> {
    let source = match (&arguments.command, arguments.words.is_empty()) {
        (Some(command), true) => line(command)?,
        (None, false) => Source::Words(arguments.words.clone()),
        (None, true) => {
            return Err(Failure::Usage(
                "there is no command; try: fathom why -- python3 script.py".into(),
            ));
        }
        (Some(_), false) => {
            return Err(Failure::Usage(
                "give the command either in quotes or after --, not both".into(),
            ));
        }
    };
    target(&arguments.run_options, None, &source, 0, 1, &Vec::new())
}

/// Writes what the diagnosis is made from.
fn keep(path: &Path, observation: &Observation) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(observation).map_err(|error| Failure::Write {
        path: path.to_path_buf(),
        error: error.into(),
    })?;
    write::export(path, bytes)
}

fn show(arguments: &Arguments, explanation: &Explanation) -> Result<(), Failure> {
    let json_to_stdout = arguments.json.as_deref().is_some_and(write::is_stdout);
    if !json_to_stdout {
        let options = report::WhyOptions {
            width: screen::stdout_width(),
            color: screen::stdout_has_colour(),
            unicode: screen::speaks_unicode(),
            verbose: arguments.verbose,
            syscalls: arguments.syscalls,
            functions: arguments.functions,
            threads: arguments.threads,
            processes: arguments.processes,
        };
        write::print(report::explain_terminal(explanation, &options).as_bytes())?;
    }
    if let Some(path) = &arguments.json {
        let mut bytes = Vec::new();
        report::explain_json(explanation, &mut bytes).map_err(|error| Failure::Write {
            path: path.clone(),
            error,
        })?;
        write::export(path, bytes)?;
    }
    if let Some(path) = &arguments.html {
        write::export(path, report::explain_html(explanation))?;
        say_where(path);
    }
    if let Some(path) = &arguments.export_markdown {
        write::export(path, report::explain_markdown(explanation))?;
    }
    Ok(())
}

fn say_where(path: &Path) {
    if !write::is_stdout(path) {
        anstream::eprintln!(
            "the picture is in {}",
            report::escape(&path.display().to_string())
        );
    }
}
