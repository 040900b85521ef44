//! A command with everything that belongs to it: words, shell, files, variables and directory.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fathom_measure::{CommandLine, Expectation, Hooks, Input, MeasureError, Output, lookup};
use fathom_model::{Benchmark, InputFrom, OutputTo};
use fathom_store::variables;

use crate::redaction;

/// The default search path for programs.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A command that is ready to run: its program was found, and its input exists.
#[derive(Debug, Clone)]
pub struct Target {
    /// The description for the record.
    pub benchmark: Benchmark,
    /// The command line for the executor.
    pub command: CommandLine,
    /// Commands to run around it.
    pub hooks: Hooks,
}

impl Target {
    /// Returns the words, with the resolved path of the program; the file that is observed is thus the same
    /// one that was timed.
    pub(crate) fn words_as_found(&self) -> Vec<OsString> {
        let mut words = self.command.arguments.clone();
        words[0] = self.command.program.clone().into_os_string();
        words
    }
}

/// A command whose program hasn't been looked up yet.
#[derive(Debug, Clone)]
pub struct CommandPlan {
    /// The command as given, for display.
    pub text: String,
    /// Program and arguments, including those of the shell; at least one.
    pub words: Vec<OsString>,
    /// The shell that interprets it, if any.
    pub shell: Option<Vec<String>>,
    /// The parameters that were filled in.
    pub parameters: Vec<(String, String)>,
    /// The working directory.
    pub directory: Option<PathBuf>,
    /// Variables to add to the environment.
    pub variables: Vec<(OsString, OsString)>,
    /// The source of standard input.
    pub input: Input,
    /// The destination of standard output.
    pub output: Output,
    /// The required standard output.
    pub expect: Option<Expectation>,
    /// Whether to let the command write to the terminal.
    pub show_output: bool,
}

impl CommandPlan {
    /// Finds the program, and checks that the input exists. The result has no hooks yet.
    ///
    /// # Errors
    /// If the program or the input doesn't exist or may not be used.
    pub fn find(self) -> Result<Target, MeasureError> {
        if let Some(directory) = &self.directory
            && !directory.is_dir()
        {
            return Err(MeasureError::Directory {
                path: directory.clone(),
                error: std::io::ErrorKind::NotADirectory.into(),
            });
        }
        if let Input::File(path) = &self.input {
            readable(path).map_err(|error| MeasureError::Input {
                path: path.clone(),
                error,
            })?;
        }
        let own_path = self.variables.iter().find(|(name, _)| name == "PATH");
        let search = own_path
            .map(|(_, value)| value.clone())
            .or_else(|| std::env::var_os("PATH"))
            .unwrap_or_else(|| USUAL_PATH.into());
        let program = lookup::find(&self.words[0], &search, self.directory.as_deref())
            .map_err(|error| looked_for_in(error, &self.variables))?;
        let benchmark = self.benchmark();
        Ok(Target {
            benchmark,
            command: CommandLine {
                arguments: self.words,
                program,
                directory: self.directory,
                variables: self.variables,
                input: self.input,
                output: self.output,
                expect: self.expect,
                without: fathom_measure::Without::default(),
            },
            hooks: Hooks::default(),
        })
    }

    fn benchmark(&self) -> Benchmark {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        Benchmark {
            name: self.text.clone(),
            command: self.text.clone(),
            arguments: self.words.iter().map(text).collect(),
            arguments_bytes: bytes_if_lossy(&self.words),
            shell: self.shell.as_ref().map(|words| words.join(" ")),
            parameters: self.parameters.clone(),
            input: match &self.input {
                Input::Null => InputFrom::Null,
                Input::File(path) => InputFrom::File(path.display().to_string()),
            },
            output: match &self.output {
                _ if self.expect.is_some() => OutputTo::Pipe,
                _ if self.show_output => OutputTo::Inherit,
                Output::Null => OutputTo::Null,
                Output::Pipe => OutputTo::Pipe,
                Output::Inherit => OutputTo::Inherit,
                Output::File(path) => OutputTo::File(path.display().to_string()),
            },
            working_directory: self.directory.as_ref().map(|d| d.display().to_string()),
            environment_variables: self
                .variables
                .iter()
                .map(|(name, value)| (text(name), text(value)))
                .map(|(name, value)| {
                    let shown = match variables::is_withheld(&name) {
                        // The value may contain a password.
                        true => redaction::whole(&value),
                        false => redaction::value(&name, &value),
                    };
                    (name, shown)
                })
                .collect(),
        }
    }
}

/// Checks that a file can be used as input. A named pipe without a writer is opened when the command starts,
/// after `--prepare`, which may start the writer.
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

/// Returns the words as bytes, if a conversion to text would lose information.
fn bytes_if_lossy(words: &[OsString]) -> Option<Vec<Vec<u8>>> {
    let is_lossy = words.iter().any(|word| word.to_str().is_none());
    is_lossy.then(|| words.iter().map(|word| word.as_bytes().to_vec()).collect())
}

/// Adds to the error of a program that wasn't found that the search used a PATH set by the user.
fn looked_for_in(error: MeasureError, variables: &[(OsString, OsString)]) -> MeasureError {
    let path = variables.iter().find(|(name, _)| name == "PATH");
    match (error, path) {
        (MeasureError::NoSuchProgram { name, hint }, Some((_, path))) if !name.contains('/') => {
            let hint = hint.unwrap_or_default();
            let path = path.to_string_lossy();
            MeasureError::NoSuchProgram {
                name,
                hint: Some(format!(
                    "{hint}; the PATH that was searched is the one given with --env: {path:?}"
                )),
            }
        }
        (error, _) => error,
    }
}
