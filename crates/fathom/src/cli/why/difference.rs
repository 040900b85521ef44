//! `fathom why 'A' 'B'`: explains the time that the second takes beyond the first.

use fathom_conduct::{DifferencePlan, Event, Target, fingerprint, fresh_seed};
use fathom_measure::interrupt;
use fathom_report as report;

use super::{Arguments, show_event};
use crate::cli::failure::{Failure, usage};
use crate::cli::{path_conflicts, rights, screen, write};

/// Times and observes both commands and prints the difference. Returns the exit code.
///
/// # Errors
/// Any error that keeps the difference from being printed.
pub(super) fn run(arguments: &Arguments, targets: [Target; 2]) -> Result<i32, Failure> {
    only_for_one(arguments)?;
    let plan = DifferencePlan {
        targets,
        timed: Vec::new(),
        runs: arguments.runs,
        seed: fresh_seed(),
        ignore_failure: arguments.failures.ignored()?,
        tier: arguments.tier.map(Into::into),
        terms: arguments.run_options.terms(),
    };
    let commands = plan.targets.iter().map(|target| &target.command);
    path_conflicts::check(commands, &[&arguments.json, &arguments.html])?;
    interrupt::catch();
    let draws = screen::can_draw() && !arguments.run_options.show_output;
    let mut observer = |event: Event<'_>| show_event(draws, arguments.verbose, event);
    fingerprint::take(&mut observer);
    let record = fathom_conduct::difference(&plan, &mut observer);
    screen::redraw(draws, "");
    let record = record?;
    let screen = screen::of_stdout(arguments.verbose);
    let html = arguments.html.as_deref();
    write::results(
        || report::difference_terminal(&record, &screen),
        &[
            (arguments.json.as_deref(), &|| report::json(&record)),
            (html, &|| report::difference_html(&record)),
        ],
    )?;
    write::say_page(html);
    let observed = record.commands.iter().map(|command| &command.observation);
    let withheld = rights::withheld(observed.flat_map(|one| &one.not_visible));
    Ok(match interrupt::received() {
        Some(_) => 130,
        None => withheld.unwrap_or(0),
    })
}

/// Rejects options that apply to one command only.
fn only_for_one(arguments: &Arguments) -> Result<(), Failure> {
    let given = [
        (arguments.export_markdown.is_some(), "--export-markdown"),
        (arguments.save_observation.is_some(), "--save-observation"),
        (arguments.profile.is_some(), "--profile"),
        (arguments.sarif.is_some(), "--sarif"),
        (arguments.limits, "--limits"),
        (arguments.prove.is_some(), "--prove"),
        (arguments.syscalls, "--syscalls"),
        (arguments.functions, "--functions"),
        (arguments.threads, "--threads"),
        (arguments.processes, "--processes"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => usage(format!(
            "{option} applies only to one command; with two commands, why shows the difference between them: remove \
             it and use -v, --html FILE or --json FILE, or explain each command alone"
        )),
        None => Ok(()),
    }
}
