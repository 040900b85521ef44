//! Prepares a benchmark before its first run.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::variables::environment_of;
use super::{Hooks, ProcessOptions, cpu_mask};
use crate::launcher::{Block, Order, fd};
use crate::{CommandLine, Input, MeasureError, Output, mounts};

/// A benchmark, with everything that can be prepared for the launcher.
pub(super) struct Benchmark {
    pub(super) command: CommandLine,
    pub(super) hooks: Hooks,
    pub(super) directory: PathBuf,
    pub(super) input: Option<PathBuf>,
    pub(super) output: Option<PathBuf>,
    pub(super) arguments: Block,
    pub(super) environment: Block,
    /// The CPUs it may use, if set for this benchmark alone.
    own_cpu_mask: Vec<u8>,
    mounts: Vec<u8>,
    groups: Vec<u8>,
    /// Whether its last run wrote to standard error. Such runs are passed one by one, so that the tail can be
    /// attributed to one of them.
    pub(super) complains: bool,
}

/// A block without variables.
pub(super) static NOTHING: Block = Block::EMPTY;

impl Benchmark {
    /// Returns the command as text.
    pub(super) fn words(&self) -> String {
        let words = self.command.arguments.iter();
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    /// Returns an order with the parts that are the same for all runs of the benchmark.
    pub(super) fn order<'a>(&'a self, options: &ProcessOptions, cpu_mask: &'a [u8]) -> Order<'a> {
        let show = options.show_output;
        Order {
            benchmark: 0,
            program: &self.command.program,
            arguments: &self.arguments,
            environment: &self.environment,
            own_environment: &NOTHING,
            directory: &self.directory,
            input: self.input.as_deref(),
            output: self.output.as_deref(),
            output_fd: match self.command.output {
                _ if self.command.expect.is_some() => fd::OUTPUT_PIPE,
                Output::Pipe => fd::OUTPUT_PIPE,
                Output::Inherit => fd::OUTPUT,
                _ if show => fd::OUTPUT,
                _ => fd::NULL,
            },
            error_fd: if show { fd::ERROR } else { fd::ERROR_PIPE },
            cpu_mask: match &self.own_cpu_mask[..] {
                [] => cpu_mask,
                own => own,
            },
            filter: self.command.without.calls.as_ref(),
            mounts: &self.mounts,
            groups: &self.groups,
            record_head: "",
            ends_round: true,
        }
    }
}

pub(super) fn prepare(
    command: CommandLine,
    hooks: Hooks,
    here: &Path,
) -> Result<Benchmark, MeasureError> {
    let refused = |error| MeasureError::Spawn {
        name: command.arguments[0].to_string_lossy().into_owned(),
        error: match error {
            io::ErrorKind::InvalidInput => io::Error::new(
                error,
                "an argument or environment variable contains a NUL byte",
            ),
            other => other.into(),
        },
    };
    let environment = environment_of(&command);
    Ok(Benchmark {
        directory: here.join(command.folder()),
        input: match &command.input {
            Input::Null => None,
            Input::File(path) => Some(here.join(path)),
        },
        output: match &command.output {
            Output::File(path) => Some(here.join(path)),
            _ => None,
        },
        arguments: Block::new(command.arguments.iter().map(|a| a.as_bytes()))
            .map_err(|error| refused(error.kind()))?,
        environment: Block::new(environment.iter().map(Vec::as_slice))
            .map_err(|error| refused(error.kind()))?,
        own_cpu_mask: cpu_mask(&command.without.other_cpus),
        mounts: mounts::strings(&command.without.mounts, &here.join(command.folder()))
            .map_err(|error| refused(error.kind()))?,
        groups: mounts::groups(&command.without.groups),
        command,
        hooks,
        complains: false,
    })
}
