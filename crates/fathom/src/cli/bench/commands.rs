//! From arguments to benchmarks: words, parameters, and what belongs to each command.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fathom_measure::{CommandLine, Hook, Hooks, Input, MeasureError, lookup};
use fathom_model::{Benchmark, InputFrom, OutputTo};

use super::arguments::Arguments;
use super::expectation;
use crate::cli::command_words;
use crate::cli::failure::Failure;
use crate::cli::parameters::{self, Assignment, Parameter};
use crate::cli::run_options::{self, for_command};

/// A benchmark as it is recorded, and as it is run.
pub struct Prepared {
    /// For the record.
    pub benchmark: Benchmark,
    /// For the executor.
    pub command: CommandLine,
    /// What is run around it.
    pub hooks: Hooks,
}

/// A command before parameters are filled in.
enum Source {
    /// In quotes.
    Line(String),
    /// Word by word, any bytes.
    Words(Vec<OsString>),
}

/// All benchmarks, and the index of the one that is compared with.
///
/// # Errors
/// Usage errors, and [`MeasureError`]s for programs and inputs that aren't there.
pub fn prepare(arguments: &Arguments) -> Result<(Vec<Prepared>, usize), Failure> {
    let (sources, reference) = sources(arguments)?;
    let assignments =
        parameters::combinations(&given_parameters(arguments)?).map_err(Failure::Usage)?;
    let mut all = Vec::new();
    // All values of one command together, so that -n and the per-command options count commands.
    for (index, source) in sources.iter().enumerate() {
        for assignment in &assignments {
            all.push(one(arguments, source, index, sources.len(), assignment)?);
        }
    }
    name_them(arguments, &mut all, sources.len())?;
    Ok((all, reference * assignments.len()))
}

fn sources(arguments: &Arguments) -> Result<(Vec<Source>, usize), Failure> {
    let mut sources = Vec::new();
    for command in &arguments.commands {
        sources.push(line(command)?);
    }
    if !arguments.words.is_empty() {
        if !sources.is_empty() {
            return Err(Failure::Usage(
                "commands in quotes and a command after -- can't be mixed: give all of them in quotes".into(),
            ));
        }
        sources.push(Source::Words(arguments.words.clone()));
    }
    if sources.is_empty() {
        return Err(Failure::Usage(
            "there is no command; try: fathom bench 'gzip -k -c FILE' 'zstd -c FILE'".into(),
        ));
    }
    let mut reference = 0;
    if let Some(command) = &arguments.reference {
        reference = match arguments.commands.iter().position(|other| other == command) {
            Some(index) => index,
            None => {
                sources.insert(0, line(command)?);
                0
            }
        };
    }
    Ok((sources, reference))
}

fn line(command: &OsStr) -> Result<Source, Failure> {
    command
        .to_str()
        .map(|text| Source::Line(text.to_string()))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "the command {:?} isn't UTF-8; give it word by word after --",
                command.to_string_lossy()
            ))
        })
}

fn given_parameters(arguments: &Arguments) -> Result<Vec<Parameter>, Failure> {
    let scans = arguments.parameter_scan.chunks(3);
    let steps = &arguments.parameter_step_size;
    if steps.len() > scans.len() {
        return Err(Failure::Usage(
            "-D is the step of a -P scan, and there is none for it".into(),
        ));
    }
    let mut all = Vec::new();
    for (index, scan) in scans.enumerate() {
        let step = steps.get(index).map(String::as_str);
        all.push(parameters::scan(&scan[0], &scan[1], &scan[2], step).map_err(Failure::Usage)?);
    }
    for list in arguments.parameter_list.chunks(2) {
        all.push(parameters::list(&list[0], &list[1]).map_err(Failure::Usage)?);
    }
    Ok(all)
}

fn one(
    arguments: &Arguments,
    source: &Source,
    index: usize,
    commands: usize,
    assignment: &Assignment,
) -> Result<Prepared, Failure> {
    let options = &arguments.run_options;
    let usage = Failure::Usage;
    let value = |option: &str, values: &[String]| -> Result<Option<String>, Failure> {
        let value = for_command(option, values, index, commands).map_err(usage)?;
        Ok(value.map(|text| parameters::fill(text, assignment)))
    };
    let shell = options.shell_words().map_err(usage)?;
    let (text, words) = match source {
        Source::Line(text) => {
            let text = parameters::fill(text, assignment);
            let words = match &shell {
                Some(shell) => through(shell, &text),
                None => words_of(&text)?,
            };
            (text, words)
        }
        Source::Words(words) => {
            let words: Vec<OsString> = words.iter().map(|w| fill_word(w, assignment)).collect();
            let text = words
                .iter()
                .map(|w| quoted(w))
                .collect::<Vec<_>>()
                .join(" ");
            match &shell {
                Some(shell) => {
                    let line = words
                        .iter()
                        .map(|w| w.to_string_lossy())
                        .collect::<Vec<_>>();
                    let line = line.join(" ");
                    (line.clone(), through(shell, &line))
                }
                None => (text, words),
            }
        }
    };

    let directory = value("--cwd", &options.cwd)?.map(PathBuf::from);
    if let Some(directory) = &directory
        && !directory.is_dir()
    {
        return Err(usage(format!(
            "--cwd: {} is not a directory",
            directory.display()
        )));
    }
    let variables = assignments_of(value("--env", &options.env)?.as_deref())?;
    let input = run_options::input(value("--input", &options.input)?.as_deref());
    if let Input::File(path) = &input {
        std::fs::File::open(path)
            .and_then(|file| file.metadata())
            .and_then(|metadata| match metadata.is_dir() {
                true => Err(std::io::ErrorKind::IsADirectory.into()),
                false => Ok(()),
            })
            .map_err(|error| MeasureError::Input {
                path: path.clone(),
                error,
            })?;
    }
    let output = run_options::output(value("--output", &options.output)?.as_deref());
    let expect = match value("--expect-stdout", &arguments.expect_stdout)? {
        Some(given) => Some(expectation::read(&given)?),
        None => None,
    };
    let search_path = variables
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.clone())
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let program = lookup::find(&words[0], &search_path, directory.as_deref())?;

    let hook = |role: &'static str, values: &[String]| -> Result<Option<Hook>, Failure> {
        Ok(value(role, values)?.map(|text| Hook {
            role,
            arguments: through(shell.as_deref().unwrap_or(&["/bin/sh".to_string()]), &text),
            text,
            directory: directory.clone(),
            variables: variables.clone(),
            show_output: options.show_output,
        }))
    };
    let hooks = Hooks {
        setup: hook("--setup", &arguments.setup)?,
        prepare: hook("--prepare", &options.prepare)?,
        conclude: hook("--conclude", &arguments.conclude)?,
        cleanup: hook("--cleanup", &arguments.cleanup)?,
    };
    let benchmark = Benchmark {
        name: text.clone(),
        command: text,
        arguments: words
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect(),
        shell: shell.map(|words| words.join(" ")),
        parameters: assignment.clone(),
        input: match &input {
            Input::Null => InputFrom::Null,
            Input::File(path) => InputFrom::File(path.display().to_string()),
        },
        output: recorded_output(&output, options.show_output, expect.is_some()),
        working_directory: directory.as_ref().map(|d| d.display().to_string()),
        environment_variables: variables
            .iter()
            .map(|(n, v)| {
                (
                    n.to_string_lossy().into_owned(),
                    v.to_string_lossy().into_owned(),
                )
            })
            .collect(),
    };
    let command = CommandLine {
        arguments: words,
        program,
        directory,
        variables,
        input,
        output,
        expect,
    };
    Ok(Prepared {
        benchmark,
        command,
        hooks,
    })
}

fn words_of(text: &str) -> Result<Vec<OsString>, Failure> {
    let words = command_words::split(text).map_err(Failure::Usage)?;
    // `NAME=value program` is a shell's way to set a variable.
    if let Some((name, _)) = words[0].split_once('=') {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !name.is_empty() && words.len() > 1 {
            return Err(Failure::Usage(format!(
                "{:?} before the program needs a shell: use --env {:?}, or -S",
                words[0], words[0]
            )));
        }
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// The words that hand `line` to a shell.
fn through(shell: &[String], line: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = shell.iter().map(OsString::from).collect();
    words.push("-c".into());
    words.push(line.into());
    words
}

fn fill_word(word: &OsStr, assignment: &Assignment) -> OsString {
    match word.to_str() {
        Some(text) => parameters::fill(text, assignment).into(),
        None => word.to_os_string(),
    }
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    shell_words::quote(&text).into_owned()
}

fn assignments_of(text: Option<&str>) -> Result<Vec<(OsString, OsString)>, Failure> {
    let text = text.unwrap_or("");
    let words = shell_words::split(text)
        .map_err(|_| Failure::Usage(format!("a quote in --env {text:?} is not closed")))?;
    words
        .into_iter()
        .map(|word| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
            _ => Err(Failure::Usage(format!(
                "--env takes NAME=VALUE, not {word:?}"
            ))),
        })
        .collect()
}

fn recorded_output(output: &fathom_measure::Output, show: bool, checked: bool) -> OutputTo {
    use fathom_measure::Output;
    match output {
        _ if checked => OutputTo::Pipe,
        _ if show => OutputTo::Inherit,
        Output::Null => OutputTo::Null,
        Output::Pipe => OutputTo::Pipe,
        Output::Inherit => OutputTo::Inherit,
        Output::File(path) => OutputTo::File(path.display().to_string()),
    }
}

/// Gives every benchmark its name: from `-n`, else the command, with its parameters where the
/// command alone doesn't tell them apart.
fn name_them(arguments: &Arguments, all: &mut [Prepared], commands: usize) -> Result<(), Failure> {
    let names = &arguments.command_name;
    if names.len() > commands && names.len() > all.len() {
        return Err(Failure::Usage(format!(
            "-n was given {} times for {commands} command{}",
            names.len(),
            if commands == 1 { "" } else { "s" }
        )));
    }
    let per_benchmark = names.len() > commands;
    let count = all.len() / commands;
    for (index, prepared) in all.iter_mut().enumerate() {
        let place = if per_benchmark { index } else { index / count };
        if let Some(name) = names.get(place) {
            prepared.benchmark.name = parameters::fill(name, &prepared.benchmark.parameters);
        }
    }
    let plain: Vec<String> = all.iter().map(|p| p.benchmark.name.clone()).collect();
    for (index, prepared) in all.iter_mut().enumerate() {
        let twin = plain
            .iter()
            .enumerate()
            .any(|(i, name)| i != index && *name == plain[index]);
        if twin && !prepared.benchmark.parameters.is_empty() {
            let shown: Vec<String> = prepared
                .benchmark
                .parameters
                .iter()
                .map(|(n, v)| format!("{n}={v}"))
                .collect();
            prepared
                .benchmark
                .name
                .push_str(&format!(" ({})", shown.join(", ")));
        }
    }
    Ok(())
}
