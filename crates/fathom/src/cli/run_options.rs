//! Options shared by every verb that runs a command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use fathom_conduct::{RunTerms, redaction};
use fathom_measure::{Input, Output};

use crate::cli::quantities;

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What is run, and how")]
pub(super) struct RunOptions {
    /// Source of standard input: 'null' or a file. Once for all commands or once for each
    #[arg(long, value_name = "null|FILE")]
    pub input: Vec<String>,

    /// Destination of standard output: 'null', 'pipe' (drained by Fathom), 'inherit', or a file. Once for all
    /// commands or once for each. It changes how programs behave, so it is part of the result
    #[arg(
        long,
        value_name = "null|pipe|inherit|FILE",
        conflicts_with = "show_output"
    )]
    pub output: Vec<String>,

    /// Let the commands write to the terminal
    #[arg(long)]
    pub show_output: bool,

    /// Environment variables of the command, as 'NAME=VALUE OTHER="a b"'. Once for all commands or once for
    /// each
    #[arg(long, value_name = "ASSIGNMENTS")]
    pub env: Vec<String>,

    /// Working directory. Once for all commands or once for each
    #[arg(long, value_name = "DIR")]
    pub cwd: Vec<String>,

    /// End a run and everything it started after this long (such as 10s)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = quantities::duration)]
    pub timeout: Option<Duration>,

    /// Run this before each run, through a shell. Once for all commands or once for each
    #[arg(short, long, value_name = "COMMAND")]
    pub prepare: Vec<String>,

    /// Run the commands through this shell: a name, a command line, 'default' (sh) or 'none'
    #[arg(long, value_name = "SHELL", overrides_with = "shell")]
    pub shell: Option<String>,

    /// Run the commands through sh, or through the shell named next: -S bash
    #[arg(short = 'S', conflicts_with = "shell")]
    pub default_shell: bool,

    /// Run the commands without a shell (the default)
    #[arg(short = 'N', conflicts_with_all = ["shell", "default_shell"])]
    pub no_shell: bool,

    /// Let the commands use only these CPUs: 1, or 0,2, or 0-3
    #[arg(long, value_name = "CPUS", value_parser = quantities::cpus)]
    pub pin: Option<std::vec::Vec<usize>>,
}

impl RunOptions {
    /// Returns how commands are run.
    pub(super) fn terms(&self) -> RunTerms {
        RunTerms {
            timeout: self.timeout,
            pin: self.pin.clone().unwrap_or_default(),
            show_output: self.show_output,
            deadline: None,
        }
    }

    /// Returns the words of the shell that interprets commands; `None` without a shell.
    ///
    /// # Errors
    /// If the shell's command line can't be split.
    pub(super) fn shell_words(&self) -> Result<Option<Vec<String>>, String> {
        shell(self.default_shell, self.shell.as_deref())
    }
}

/// Returns the words of the shell given by `-S` or `--shell`; `None` without a shell.
///
/// # Errors
/// If the shell's command line can't be split.
pub(super) fn shell(default: bool, named: Option<&str>) -> Result<Option<Vec<String>>, String> {
    if default {
        return Ok(Some(vec!["/bin/sh".to_string()]));
    }
    match named {
        None | Some("none") => Ok(None),
        Some("default") => Ok(Some(vec!["/bin/sh".to_string()])),
        Some(text) => match shell_words::split(text) {
            Ok(words) if !words.is_empty() => Ok(Some(words)),
            _ => Err(format!("--shell={text:?} is not a shell; try --shell=bash")),
        },
    }
}

/// Rewrites `-S bash` as `--shell=bash` in the arguments: if the word after `-S` is the name of a shell, it
/// selects that shell. It can't be the command, because no verb measures a bare shell, which would wait for
/// its input.
pub(super) fn with_named_shells(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    const SHELLS: &[&str] = &["bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];
    let mut written: Vec<OsString> = Vec::new();
    let mut is_ended = false;
    for word in arguments {
        is_ended |= word == "--";
        let name = Path::new(&word).file_name().and_then(OsStr::to_str);
        let is_shell = name.is_some_and(|name| SHELLS.contains(&name));
        match written.last_mut() {
            Some(before) if !is_ended && is_shell && before == "-S" => {
                *before = "--shell=".into();
                before.push(word);
            }
            _ => written.push(word),
        }
    }
    written
}

/// Returns the value for command number `index` of an option that is given once, or once for each command.
///
/// # Errors
/// If the number of values is neither one nor the number of commands.
pub(super) fn for_command<'a>(
    option: &str,
    values: &'a [String],
    index: usize,
    commands: usize,
) -> Result<Option<&'a str>, String> {
    match values.len() {
        0 => Ok(None),
        1 => Ok(Some(&values[0])),
        n if n == commands => Ok(Some(&values[index])),
        // Other tools take one variable per option, so this mistake is common.
        n if option == "--env" => Err(format!(
            "--env was given {n} times for {}: give all variables of a command in one option, {}",
            counted(commands),
            redaction::line(["--env", &redaction::typed_word(&values.join(" "))])
        )),
        n => Err(format!(
            "{option} was given {n} times for {}: give it once for all, or once for each",
            counted(commands)
        )),
    }
}

fn counted(commands: usize) -> String {
    match commands {
        1 => "1 command".to_string(),
        _ => format!("{commands} commands"),
    }
}

/// Parses the value of `--input`.
pub(super) fn input(value: Option<&str>) -> Input {
    match value {
        None | Some("null") => Input::Null,
        Some(path) => Input::File(PathBuf::from(path)),
    }
}

/// Parses the value of `--output`.
pub(super) fn output(value: Option<&str>) -> Output {
    match value {
        None | Some("null") => Output::Null,
        Some("pipe") => Output::Pipe,
        Some("inherit") => Output::Inherit,
        Some(path) => Output::File(PathBuf::from(path)),
    }
}
