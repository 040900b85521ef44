//! `fathom man`: the manual pages.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::cli::failure::Failure;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom man ~/.local/share/man/man1        then: man fathom, man fathom-bench")]
pub(super) struct Arguments {
    /// Folder for the pages; it is created if it doesn't exist
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Writes a page for the command and one for each verb. Returns the exit code.
///
/// # Errors
/// If they can't be written.
pub(super) fn run(arguments: &Arguments, command: Command) -> Result<i32, Failure> {
    let directory = &arguments.directory;
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command.disable_help_subcommand(true), directory));
    match written {
        Ok(()) => Ok(0),
        Err(error) => Err(Failure::Write {
            path: directory.clone(),
            error,
        }),
    }
}
