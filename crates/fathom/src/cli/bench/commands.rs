//! Builds benchmarks from the arguments: every command with every combination of parameters, and the commands
//! that are run around each of them.

use fathom_conduct::Target;
use fathom_measure::{Hook, Hooks};
use fathom_model::{listed, pairs};

use super::arguments::Arguments;
use super::expectation;
use crate::cli::failure::{Failure, usage};
use crate::cli::parameters::{self, Assignment, Parameter};
use crate::cli::run_options::for_command;
use crate::cli::suite_name;
use crate::cli::target::{self, Source, line, target};

/// Returns all benchmarks, and the index of the reference.
///
/// # Errors
/// Usage errors, and errors for programs and inputs that are missing.
pub(super) fn prepare(arguments: &Arguments) -> Result<(Vec<Target>, usize), Failure> {
    // This must come first; otherwise, a command that was parsed as a parameter's value would be reported as
    // missing.
    let parameters = given_parameters(arguments)?;
    let (sources, reference) = sources(arguments)?;
    check_parameters_are_used(arguments)?;
    let assignments = parameters::combinations(&parameters).map_err(Failure::Usage)?;
    let mut all = Vec::new();
    // All values of one command are kept together, so that -n and the per-command options count commands.
    for (index, source) in sources.iter().enumerate() {
        for assignment in &assignments {
            let one = one(arguments, source, index, sources.len(), assignment);
            all.push(one.map_err(|failure| arguments.given.explain("bench", failure))?);
        }
    }
    name_them(arguments, &mut all, sources.len())?;
    Ok((all, reference * assignments.len()))
}

fn sources(arguments: &Arguments) -> Result<(Vec<Source>, usize), Failure> {
    let mut sources = arguments
        .given
        .sources("fathom bench 'gzip -k -c FILE' 'zstd -c FILE'")?;
    let mut reference = 0;
    if let Some(command) = &arguments.reference {
        reference = match arguments
            .given
            .commands
            .iter()
            .position(|other| other == command)
        {
            Some(index) => index,
            None => {
                sources.insert(0, line(command)?);
                0
            }
        };
    }
    Ok((sources, reference))
}

fn given_parameters(arguments: &Arguments) -> Result<Vec<Parameter>, Failure> {
    let scans = arguments.parameter_scan.chunks(3);
    let steps = &arguments.parameter_step_size;
    if steps.len() > scans.len() {
        return usage("-D sets the step of a -P scan, but -P is not given");
    }
    let mut all = Vec::new();
    for (index, scan) in scans.enumerate() {
        let step = steps.get(index).map(String::as_str);
        parameters::holds_no_command("-P", &scan[0], &scan[2]).map_err(Failure::Usage)?;
        all.push(parameters::scan(&scan[0], &scan[1], &scan[2], step).map_err(Failure::Usage)?);
    }
    for list in arguments.parameter_list.chunks(2) {
        parameters::holds_no_command("-L", &list[0], &list[1]).map_err(Failure::Usage)?;
        all.push(parameters::list(&list[0], &list[1]).map_err(Failure::Usage)?);
    }
    Ok(all)
}

/// Refuses a parameter that isn't used, because its benchmarks would be identical.
fn check_parameters_are_used(arguments: &Arguments) -> Result<(), Failure> {
    let options = &arguments.run_options;
    let given = &arguments.given;
    let words = given
        .commands
        .iter()
        .chain(&given.words)
        .chain(&arguments.reference);
    let texts: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .chain(
            [
                &options.input,
                &options.output,
                &options.env,
                &options.cwd,
                &options.prepare,
                &arguments.setup,
                &arguments.conclude,
                &arguments.cleanup,
                &arguments.expect_stdout,
            ]
            .into_iter()
            .flatten()
            .cloned(),
        )
        .collect();
    for parameter in given_parameters(arguments)? {
        let place = format!("{{{}}}", parameter.name);
        if !texts.iter().any(|text| text.contains(&place)) {
            return usage(format!(
                "the parameter {0} is never used: write {{{0}}} where its value goes",
                parameter.name
            ));
        }
    }
    Ok(())
}

fn one(
    arguments: &Arguments,
    source: &Source,
    index: usize,
    commands: usize,
    assignment: &Assignment,
) -> Result<Target, Failure> {
    let options = &arguments.run_options;
    let value = |option: &str, values: &[String]| -> Result<Option<String>, Failure> {
        let value = for_command(option, values, index, commands).map_err(Failure::Usage)?;
        Ok(value.map(|text| parameters::fill(text, assignment)))
    };
    let expect = match value("--expect-stdout", &arguments.expect_stdout)? {
        Some(given) => Some(expectation::read(&given)?),
        None => None,
    };
    let mut target = target(options, expect, source, index, commands, assignment)?;
    let hook = |role: &'static str, values: &[String]| -> Result<Option<Hook>, Failure> {
        match value(role, values)? {
            Some(text) => {
                let (directory, variables) = target::around(&target.command);
                target::hook(role, text, directory, variables, options).map(Some)
            }
            None => Ok(None),
        }
    };
    let setup = hook("--setup", &arguments.setup)?;
    let conclude = hook("--conclude", &arguments.conclude)?;
    let cleanup = hook("--cleanup", &arguments.cleanup)?;
    target.hooks = Hooks {
        setup,
        conclude,
        cleanup,
        ..target.hooks
    };
    Ok(target)
}

/// Names every benchmark, by `-n` or else by its command; the parameters are added if the command alone isn't
/// unique.
fn name_them(arguments: &Arguments, all: &mut [Target], commands: usize) -> Result<(), Failure> {
    let names = &arguments.command_name;
    if names.len() > commands && names.len() > all.len() {
        return usage(format!(
            "-n was given {} times for {commands} command{}",
            names.len(),
            if commands == 1 { "" } else { "s" }
        ));
    }
    let per_benchmark = names.len() > commands;
    let count = all.len() / commands;
    for (index, target) in all.iter_mut().enumerate() {
        let place = if per_benchmark { index } else { index / count };
        if let Some(name) = names.get(place) {
            target.benchmark.name = parameters::fill(name, &target.benchmark.parameters);
        } else if let Some(name) = suite_name::of(&target.benchmark.command) {
            target.benchmark.name = name;
        }
    }
    let plain: Vec<String> = all.iter().map(|one| one.benchmark.name.clone()).collect();
    for (index, target) in all.iter_mut().enumerate() {
        let twin = plain
            .iter()
            .enumerate()
            .any(|(i, name)| i != index && *name == plain[index]);
        if twin && !target.benchmark.parameters.is_empty() {
            let shown = pairs(listed(&target.benchmark.parameters), ", ");
            target.benchmark.name.push_str(&format!(" ({shown})"));
        }
    }
    Ok(())
}
