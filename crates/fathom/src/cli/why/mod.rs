//! `fathom why`: accounts for a program's time and names the cause of what is slow; for two programs, the
//! cause of the difference.

mod arguments;
mod difference;
mod tiers;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

pub(super) use arguments::Arguments;
use arguments::Prove;
use fathom_conduct::interventions::{self, ProvePlan};
use fathom_conduct::{AttachPlan, Event, Explained, Observer, Target, WhyPlan, fresh_seed};
use fathom_diagnose::Observation;
use fathom_measure::interrupt;
use fathom_model::Explanation;
use fathom_report as report;

use crate::cli::failure::{Failure, usage};
use crate::cli::out::say;
use crate::cli::target::{Source, target};
use crate::cli::{machine_changed, mistakes, path_conflicts, rights, screen, write};

/// How long a running process is observed.
const OBSERVED: Duration = Duration::from_secs(5);
/// Total time for proving all findings.
const PROVED: Duration = Duration::from_secs(60);

/// Times and observes the command, and explains and prints the result. Returns the exit code.
///
/// # Errors
/// Any error that keeps an explanation from being printed.
pub(super) fn run(arguments: Arguments) -> Result<i32, Failure> {
    if arguments.tiers {
        return tiers::print();
    }
    let files = [
        &arguments.html,
        &arguments.json,
        &arguments.export_markdown,
        &arguments.save_observation,
        &arguments.profile,
        &arguments.sarif,
    ];
    write::check(&files)?;
    if let Some(pid) = arguments.pid {
        return observe(&arguments, pid);
    }
    if arguments.time.is_some() && arguments.prove.is_none() {
        return usage("--time needs --pid or --prove: for a command, --runs determines the time");
    }
    let targets = targets(&arguments)?;
    let targets = match <[Target; 2]>::try_from(targets) {
        Ok(both) => return difference::run(&arguments, both),
        Err(one) => one,
    };
    let plan = plan(&arguments, targets)?;
    path_conflicts::check([&plan.target.command], &files)?;
    interrupt::catch();
    let draws = screen::can_draw() && !arguments.run_options.show_output;
    let mut observer = |event: Event<'_>| show_event(draws, arguments.verbose, event);
    let explained = fathom_conduct::why(&plan, &mut observer);
    screen::redraw(draws, "");
    let mut explained = explained?;
    if let Some(how) = arguments.prove
        && interrupt::received().is_none()
    {
        let proving = ProvePlan {
            why: plan,
            all: how == Prove::All,
            time: arguments.time.unwrap_or(PROVED),
            seed: fresh_seed(),
        };
        prove(&proving, &mut explained, draws, &mut observer)?;
    }
    finish(&arguments, &explained)
}

/// Announces how often the command will be run again, and tests its findings.
fn prove(
    plan: &ProvePlan,
    explained: &mut Explained,
    draws: bool,
    observer: &mut dyn Observer,
) -> Result<(), Failure> {
    let tries = interventions::tries(plan, explained)?;
    if let Some(text) = tries.announcement() {
        say!("{text}");
    }
    let proved = interventions::prove(plan, tries, explained, observer);
    screen::redraw(draws, "");
    Ok(proved?)
}

/// Observes a running process, and explains and prints the result. Returns the exit code.
fn observe(arguments: &Arguments, pid: u32) -> Result<i32, Failure> {
    let plan = AttachPlan {
        pid,
        time: arguments.time.unwrap_or(OBSERVED),
        tier: arguments.tier.map(Into::into),
        measure_limits: arguments.limits,
    };
    interrupt::catch();
    let draws = screen::can_draw();
    let observed = fathom_conduct::attached(&plan, &mut |event: Event<'_>| {
        show_event(draws, arguments.verbose, event);
    });
    screen::redraw(draws, "");
    finish(arguments, &observed?)
}

/// Prints and writes the explanation. Returns the exit code.
fn finish(arguments: &Arguments, explained: &Explained) -> Result<i32, Failure> {
    if let Some(path) = &arguments.save_observation {
        keep(path, &explained.observation)?;
    }
    show(arguments, &explained.explanation)?;
    let withheld = rights::withheld(&explained.observation.trace.not_visible);
    Ok(match interrupt::received() {
        Some(_) => 130,
        None => withheld.unwrap_or(0),
    })
}

fn plan(arguments: &Arguments, mut targets: Vec<Target>) -> Result<WhyPlan, Failure> {
    Ok(WhyPlan {
        target: targets.remove(0),
        runs: arguments.runs,
        ignore_failure: arguments.failures.ignored()?,
        tier: arguments.tier.map(Into::into),
        measure_limits: arguments.limits,
        terms: arguments.run_options.terms(),
    })
}

/// Shows the current step on the terminal, replacing the previous one.
fn show_event(draws: bool, verbose: bool, event: Event<'_>) {
    let what = match event {
        Event::MachineChanged(changes) => return machine_changed::note(changes, verbose),
        Event::Round { warmup: true, .. } => {
            "timing: a warm-up run that doesn't count …".to_owned()
        }
        Event::Round { round, .. } => format!("timing: run {} …", round + 1),
        Event::Observes(tier) => format!("observing: tier {} …", tier.name()),
        _ => return,
    };
    screen::redraw(draws, &what);
}

/// Returns the commands to explain: one or two.
fn targets(arguments: &Arguments) -> Result<Vec<Target>, Failure> {
    let given = &arguments.given;
    let sources = given.sources("fathom why -- python3 script.py")?;
    if sources.len() > 2 {
        return usage(too_many(&given.commands));
    }
    let one = |(index, source): (usize, &Source)| {
        let options = &arguments.run_options;
        target(options, None, source, index, sources.len(), &Vec::new())
    };
    let all = sources.iter().enumerate().map(one);
    let all: Result<Vec<Target>, Failure> = all.collect();
    all.map_err(|failure| given.explain("why", failure))
}

/// Suggests what was meant if more than two words are given.
fn too_many(commands: &[OsString]) -> String {
    let mut text = format!(
        "why takes one command, or two in quotes, not {}",
        commands.len()
    );
    let words: Option<Vec<&str>> = commands.iter().map(|word| word.to_str()).collect();
    let words = words.filter(|words| !words[0].contains(char::is_whitespace));
    match words {
        Some(words) => text.push_str(&format!(
            "; for one command with arguments, {}",
            mistakes::forms("why", "", &words)
        )),
        None => {
            text.push_str("; to compare more, use fathom bench, then fathom why for two of them");
        }
    }
    text
}

/// Writes the data from which the diagnosis is derived.
fn keep(path: &Path, observation: &Observation) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(observation).map_err(|error| Failure::Write {
        path: path.to_path_buf(),
        error: error.into(),
    })?;
    write::export(path, bytes)
}

fn show(arguments: &Arguments, explanation: &Explanation) -> Result<(), Failure> {
    let options = report::WhyOptions {
        screen: screen::of_stdout(arguments.verbose),
        syscalls: arguments.syscalls,
        functions: arguments.functions,
        threads: arguments.threads,
        processes: arguments.processes,
    };
    if let Some(path) = &arguments.profile
        && let Some(form) = report::ProfileForm::of(path)
    {
        write::export(path, report::profile(explanation, form))?;
    }
    let html = arguments.html.as_deref();
    write::results(
        || report::explain_terminal(explanation, &options),
        &[
            (arguments.json.as_deref(), &|| report::json(explanation)),
            (html, &|| report::explain_html(explanation)),
            (arguments.export_markdown.as_deref(), &|| {
                report::explain_markdown(explanation)
            }),
            (arguments.sarif.as_deref(), &|| {
                report::explain_sarif(explanation, &sources())
            }),
        ],
    )?;
    write::say_page(html);
    Ok(())
}

/// Returns the folder that source paths are relative to: the repository, else the current folder; empty if
/// unknown.
fn sources() -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let root = fathom_store::git::state(&here).map_or(here, |state| state.root);
    root.to_string_lossy().into_owned()
}
