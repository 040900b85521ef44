//! `fathom completions`: shell completion.

use std::path::Path;

use clap::{Args, Command, ValueEnum};
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{CompleteEnv, Shells};
use fathom_conduct::history::{HistoryPlan, history};
use fathom_report::escape;

use crate::cli::failure::Failure;
use crate::cli::write;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom completions bash > ~/.local/share/bash-completion/completions/fathom
  fathom completions zsh > ~/.zfunc/_fathom        with ~/.zfunc in fpath
  fathom completions fish > ~/.config/fish/completions/fathom.fish

Options and verbs are completed, names of benchmarks from the store of the folder, and the words that \
'fathom explain' knows.")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Supported shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

/// The variable with which a shell's completion script asks this program for candidates. Its value is the
/// name of the shell.
const VARIABLE: &str = "FATHOM_COMPLETE";

/// Prints the script for a shell. Returns the exit code.
///
/// # Errors
/// If it can't be written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let name = match arguments.shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
    };
    let mut script = Vec::new();
    let shells = Shells::builtins();
    if let Some(shell) = shells.completer(name) {
        shell
            .write_registration(VARIABLE, "fathom", "fathom", "fathom", &mut script)
            .map_err(write::to_stdout)?;
    }
    write::export(Path::new("-"), &script)?;
    Ok(0)
}

/// Answers a completion request and exits, if a shell's completion script started the program.
pub(super) fn answer(command: fn() -> Command) {
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .bin("fathom")
        .complete();
}

/// Returns the names of the benchmarks in the store of this folder; empty if it can't be read. Names with
/// characters that a terminal would interpret are skipped.
pub(super) fn benchmarks() -> Vec<CompletionCandidate> {
    let plan = HistoryPlan {
        main_only: true,
        newest: Some(1),
        read: Some(0),
        ..HistoryPlan::default()
    };
    let here = std::env::current_dir().unwrap_or_default();
    let found = history(&plan, &here).map(|found| found.record.series);
    let mut names: Vec<String> = found
        .unwrap_or_default()
        .into_iter()
        .map(|series| series.benchmark)
        .filter(|name| escape(name) == *name)
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// Returns the words that can be explained.
pub(super) fn words() -> Vec<CompletionCandidate> {
    let words = fathom_report::known_words();
    words.into_iter().map(CompletionCandidate::new).collect()
}
