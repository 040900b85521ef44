//! Turns arguments into the programs to start.

use fathom_conduct::Target;
use fathom_measure::Output;

use super::Arguments;
use crate::cli::failure::{Failure, usage};
use crate::cli::target::target;

/// Finds all programs, checks that their files exist, and returns them.
///
/// # Errors
/// Usage errors, and errors for programs and inputs that don't exist.
pub(super) fn prepare(arguments: &Arguments) -> Result<Vec<Target>, Failure> {
    let options = &arguments.run_options;
    if options.show_output || options.output.iter().any(|output| output != "pipe") {
        return usage(
            "startup reads standard output through a pipe to see its first byte: remove --output and --show-output",
        );
    }
    let sources = arguments
        .given
        .sources("fathom startup ./hello 'python3 hello.py'")?;
    let count = sources.len();
    let sources = sources.iter().enumerate();
    sources
        .map(|(index, source)| {
            let mut target = target(options, None, source, index, count, &Vec::new())
                .map_err(|failure| arguments.given.explain("startup", failure))?;
            target.command.output = Output::Pipe;
            Ok(target)
        })
        .collect()
}
