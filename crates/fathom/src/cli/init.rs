//! `fathom init`: turns this folder into a project.

use clap::Args;
use fathom_conduct::init::{Initialised, SUITE};
use fathom_report::escape;

use crate::cli::failure::Failure;
use crate::cli::out::say;
use crate::cli::write;

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  cd my-project && fathom init

It writes fathom.toml, a suite with an example in it, to be committed, and .fathom/, where measurements are kept, \
which git ignores. What is there already stays as it is. From then on bench, startup, pipe, machine and run \
save what they measure in this project; --no-save leaves it out. docs/history.md says more.

Exit codes: 0 done, 2 it can't be written.")]
pub(crate) struct Arguments {}

/// Writes missing files and prints what to do next. Returns the exit code.
///
/// # Errors
/// If something can't be written.
pub(super) fn run(_: &Arguments) -> Result<i32, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::Usage(format!("the current folder no longer exists: {error}")))?;
    let done = fathom_conduct::init::init(&here)?;
    write::print(&said(&done))?;
    if let Some(root) = &done.repository {
        say!(
            "note: this folder is inside the repository {}; measurements made in the folders above it are not saved \
             here",
            escape(&root.display().to_string())
        );
    }
    Ok(0)
}

fn said(done: &Initialised) -> String {
    let made = |name: &str| done.written.iter().any(|path| path.ends_with(name));
    let line = |name: &str, new: &str| match made(name) {
        true => format!("{name:<13}{new}\n"),
        false => format!("{name:<13}already exists and is left unchanged\n"),
    };
    format!(
        "{}{}\nNext:  fathom run        runs the suite and saves the results\n       fathom history    shows them \
         over time\n",
        line(
            SUITE,
            "the suite, with an example: add your programs, then commit it"
        ),
        line(".fathom", "the store for measurements; git ignores it"),
    )
}
