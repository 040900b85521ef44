//! From arguments to the programs that are started.

use fathom_measure::Output;
use fathom_measure::startup::Subject;
use fathom_model::StartupProgram;

use super::Arguments;
use crate::cli::failure::Failure;
use crate::cli::target::{Target, target};

/// A program as it is recorded, and as it is run.
pub struct Prepared {
    /// For the record.
    pub program: StartupProgram,
    /// What is run.
    pub target: Target,
}

/// All programs, found and with their files there.
///
/// # Errors
/// Usage errors, and errors for programs and inputs that aren't there.
pub fn prepare(arguments: &Arguments) -> Result<Vec<Prepared>, Failure> {
    let usage = |text: &str| Err(Failure::Usage(text.to_string()));
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
    sources
        .iter()
        .enumerate()
        .map(|(index, source)| {
            let mut target = target(options, None, source, index, count, &Vec::new())
                .map_err(|failure| arguments.given.explain(failure))?;
            target.command.output = Output::Pipe;
            Ok(Prepared {
                program: StartupProgram {
                    name: target.benchmark.name.clone(),
                    command: target.benchmark.command.clone(),
                    arguments: target.benchmark.arguments.clone(),
                    ran: Vec::new(),
                },
                target,
            })
        })
        .collect()
}

/// What the rounds are made of.
pub fn subjects(prepared: &[Prepared]) -> Vec<Subject> {
    prepared
        .iter()
        .map(|one| Subject {
            name: one.program.name.clone(),
            command: one.target.command.clone(),
            prepare: one.target.prepare.clone(),
        })
        .collect()
}
