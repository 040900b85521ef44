//! One command with everything that belongs to it: words, shell, files, variables, directory.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fathom_measure::{CommandLine, Expectation, Hook, Input, MeasureError, lookup};
use fathom_model::{Benchmark, InputFrom, OutputTo};

use crate::cli::command_words;
use crate::cli::failure::Failure;
use crate::cli::parameters::{self, Assignment};
use crate::cli::run_options::{self, RunOptions, for_command};

/// A command before parameters are filled in.
pub enum Source {
    /// In quotes.
    Line(String),
    /// Word by word, any bytes.
    Words(Vec<OsString>),
}

/// A command that is ready to be run.
pub struct Target {
    /// For the record.
    pub benchmark: Benchmark,
    /// For the executor.
    pub command: CommandLine,
    /// The shell that interprets it, if any.
    pub shell: Option<Vec<String>>,
    /// `--prepare`.
    pub prepare: Option<Hook>,
}

impl Target {
    /// A command around the runs of this one, with its shell, directory and variables.
    pub fn hook(&self, role: &'static str, text: String, options: &RunOptions) -> Hook {
        let (directory, variables) = (&self.command.directory, &self.command.variables);
        hook(
            role,
            text,
            self.shell.as_deref(),
            directory,
            variables,
            options,
        )
    }
}

fn hook(
    role: &'static str,
    text: String,
    shell: Option<&[String]>,
    directory: &Option<PathBuf>,
    variables: &[(OsString, OsString)],
    options: &RunOptions,
) -> Hook {
    Hook {
        role,
        arguments: through(shell.unwrap_or(&["/bin/sh".to_string()]), &text),
        text,
        directory: directory.clone(),
        variables: variables.to_vec(),
        show_output: options.show_output,
    }
}

/// A command in quotes.
///
/// # Errors
/// When it isn't UTF-8: quotes can't be told then.
pub fn line(command: &OsStr) -> Result<Source, Failure> {
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

/// Whether a file can be input. A named pipe without a writer is opened when the command begins, after
/// `--prepare`, which may start one.
fn readable(path: &Path) -> std::io::Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_fifo() {
        std::fs::File::open(path)?;
    }
    Ok(())
}

/// Everything about one command, its program found and its files there.
///
/// # Errors
/// Usage errors, and [`MeasureError`]s for programs and inputs that aren't there.
pub fn target(
    options: &RunOptions,
    expect: Option<Expectation>,
    source: &Source,
    index: usize,
    commands: usize,
    assignment: &Assignment,
) -> Result<Target, Failure> {
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
        readable(path).map_err(|error| MeasureError::Input {
            path: path.clone(),
            error,
        })?;
    }
    let output = run_options::output(value("--output", &options.output)?.as_deref());
    let search_path = variables
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.clone())
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let program = lookup::find(&words[0], &search_path, directory.as_deref())
        .map_err(|error| looked_for_in(error, &variables))?;

    let prepare = value("--prepare", &options.prepare)?.map(|text| {
        hook(
            "--prepare",
            text,
            shell.as_deref(),
            &directory,
            &variables,
            options,
        )
    });
    let benchmark = Benchmark {
        name: text.clone(),
        command: text,
        arguments: words
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect(),
        arguments_bytes: bytes_if_lossy(&words),
        shell: shell.as_ref().map(|words| words.join(" ")),
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
    Ok(Target {
        benchmark,
        command,
        shell,
        prepare,
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
pub fn through(shell: &[String], line: &str) -> Vec<OsString> {
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

/// As a shell would take it; bytes that are not UTF-8 are written as `\xff`.
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

/// The words as bytes, if text would lose something of them.
fn bytes_if_lossy(words: &[OsString]) -> Option<Vec<Vec<u8>>> {
    let is_lossy = words.iter().any(|word| word.to_str().is_none());
    is_lossy.then(|| words.iter().map(|word| word.as_bytes().to_vec()).collect())
}

/// Says of a program that isn't found that it was looked for in a PATH of the user's own.
fn looked_for_in(error: MeasureError, variables: &[(OsString, OsString)]) -> MeasureError {
    let path = variables.iter().find(|(name, _)| name == "PATH");
    match (error, path) {
        (MeasureError::NoSuchProgram { name, hint }, Some((_, path))) if !name.contains('/') => {
            let hint = hint.unwrap_or_default();
            let path = path.to_string_lossy();
            MeasureError::NoSuchProgram {
                name,
                hint: Some(format!(
                    "{hint}; it was looked for in the PATH of --env, {path:?}"
                )),
            }
        }
        (error, _) => error,
    }
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
