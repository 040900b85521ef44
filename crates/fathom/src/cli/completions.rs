//! `fathom completions`: what a shell completes.

use std::path::Path;

use clap::{Args, Command, ValueEnum};

use crate::cli::failure::Failure;
use crate::cli::write;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom completions bash > ~/.local/share/bash-completion/completions/fathom
  fathom completions zsh > ~/.zfunc/_fathom        with ~/.zfunc in fpath
  fathom completions fish > ~/.config/fish/completions/fathom.fish")]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Shells that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

/// Prints the script for a shell. Returns the exit code.
///
/// # Errors
/// When it can't be written.
pub(super) fn run(arguments: &Arguments, mut command: Command) -> Result<i32, Failure> {
    let shell = match arguments.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "fathom", &mut script);
    write::export(Path::new("-"), &script)?;
    Ok(0)
}
