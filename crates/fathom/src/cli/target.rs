//! Turns the options into one command with all its settings.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use fathom_conduct::{CommandPlan, Target, command_words, redaction};
use fathom_measure::{CommandLine, Expectation, Hook, MeasureError};

use crate::cli::failure::{Failure, usage};
use crate::cli::mistakes;
use crate::cli::parameters::{self, Assignment};
use crate::cli::run_options::{self, RunOptions, for_command};
use crate::cli::unused_input;

/// A command before parameters are filled in.
pub(super) enum Source {
    /// As one quoted string.
    Line(String),
    /// As separate words of arbitrary bytes.
    Words(Vec<OsString>),
}

/// Returns a command that runs around another command's runs, with that command's directory and variables
/// (see [`around`]), through its shell.
pub(super) fn hook(
    role: &'static str,
    text: String,
    directory: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    options: &RunOptions,
) -> Result<Hook, Failure> {
    let shell = options.shell_words().map_err(Failure::Usage)?;
    let shell = shell.unwrap_or_else(|| vec!["/bin/sh".to_string()]);
    Ok(Hook {
        role,
        arguments: through(&shell, &text),
        text,
        directory,
        variables,
        show_output: options.show_output,
    })
}

/// Returns the directory and the variables of a command, for the hooks around it.
pub(super) fn around(command: &CommandLine) -> (Option<PathBuf>, Vec<(OsString, OsString)>) {
    (command.directory.clone(), command.variables.clone())
}

/// Takes a command as one quoted string.
///
/// # Errors
/// If it isn't UTF-8, because its quotes can't be located.
pub(super) fn line(command: &OsStr) -> Result<Source, Failure> {
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

/// Finds a command's program, checks that its files exist, and returns the complete command.
///
/// # Errors
/// Usage errors, and errors of [`CommandPlan::find`] for programs and inputs that don't exist.
pub(super) fn target(
    options: &RunOptions,
    expect: Option<Expectation>,
    source: &Source,
    index: usize,
    commands: usize,
    assignment: &Assignment,
) -> Result<Target, Failure> {
    let plan = plan(options, expect, source, index, commands, assignment)?;
    if let Some(directory) = &plan.directory
        && !directory.is_dir()
    {
        return usage(format!("--cwd: {} is not a directory", directory.display()));
    }
    let mut target = plan.find().map_err(|error| builtin(error.into()))?;
    let prepare = for_command("--prepare", &options.prepare, index, commands);
    if let Some(text) = prepare.map_err(Failure::Usage)? {
        let text = parameters::fill(text, assignment);
        let (directory, variables) = around(&target.command);
        let hook = hook("--prepare", text, directory, variables, options)?;
        target.hooks.prepare = Some(hook);
    }
    Ok(target)
}

/// Returns the command before its program is looked up, without the hooks around it.
///
/// # Errors
/// Usage errors.
pub(super) fn plan(
    options: &RunOptions,
    expect: Option<Expectation>,
    source: &Source,
    index: usize,
    commands: usize,
    assignment: &Assignment,
) -> Result<CommandPlan, Failure> {
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
    let input = value("--input", &options.input)?;
    if input.is_none() {
        unused_input::command_without_input();
    }
    Ok(CommandPlan {
        text,
        words,
        shell,
        parameters: assignment.clone(),
        directory,
        variables: assignments_of(value("--env", &options.env)?.as_deref())?,
        input: run_options::input(input.as_deref()),
        output: run_options::output(value("--output", &options.output)?.as_deref()),
        expect,
        show_output: options.show_output,
    })
}

/// Adds a hint if the name that wasn't found is a shell builtin.
fn builtin(failure: Failure) -> Failure {
    match failure {
        Failure::Measure(MeasureError::NoSuchProgram { name, hint }) => {
            let of_shell = mistakes::shell_builtin(&name).map(str::to_owned);
            let hint = of_shell.or(hint);
            Failure::Measure(MeasureError::NoSuchProgram { name, hint })
        }
        other => other,
    }
}

fn words_of(text: &str) -> Result<Vec<OsString>, Failure> {
    let words = command_words::split(text).map_err(Failure::Usage)?;
    // `NAME=value program` is a shell's way to set a variable.
    if let Some((name, _)) = words[0].split_once('=') {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !name.is_empty() && words.len() > 1 {
            let assignment = redaction::line([redaction::typed_word(&words[0])]);
            return usage(format!(
                "the assignment {assignment} needs a shell: use --env {assignment}, or -S"
            ));
        }
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Returns the words that pass `line` to a shell.
pub(super) fn through(shell: &[String], line: &str) -> Vec<OsString> {
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

/// Quotes a word for a shell; bytes that aren't UTF-8 are written as `\xff`.
fn quoted(word: &OsStr) -> String {
    if let Some(text) = word.to_str() {
        return shell_words::quote(text).into_owned();
    }
    let chunks = word.as_bytes().utf8_chunks();
    chunks.fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        let bytes = chunk.invalid().iter();
        text.extend(bytes.map(|byte| format!("\\x{byte:02x}")));
        text
    })
}

fn assignments_of(text: Option<&str>) -> Result<Vec<(OsString, OsString)>, Failure> {
    let text = text.unwrap_or("");
    let words = shell_words::split(text)
        .map_err(|_| Failure::Usage("a quote in --env is not closed".to_string()))?;
    words
        .into_iter()
        .map(|word| {
            match word.split_once('=') {
                Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
                // Don't show the word: it may be the end of a secret.
                _ => {
                    usage("--env takes NAME=VALUE; quote a value that contains spaces: --env 'NAME=\"a b\"'")
                }
            }
        })
        .collect()
}
