//! From arguments to the programs that are started.

use fathom_conduct::Target;
use fathom_measure::Output;

use super::Arguments;
use crate::cli::failure::{Failure, usage};
use crate::cli::target::target;

/// All programs, found and with their files there.
///
/// # Errors
/// Usage errors, and errors for programs and inputs that aren't there.
pub(super) fn prepare(arguments: &Arguments) -> Result<Vec<Target>, Failure> {
    let options = &arguments.run_options;
    if options.show_output || options.output.iter().any(|output| output != "pipe") {
        return usage(
            "startup reads standard output through a pipe, to see its first byte: leave --output \
             and --show-output away",
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
