//! What is run, and under which conditions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::call_filter::CallFilter;
use crate::delay::Delay;

/// Where standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A file, opened anew for each run.
    File(PathBuf),
}

/// Where standard output goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Output {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that Fathom drains.
    Pipe,
    /// A file, emptied before each run.
    File(PathBuf),
    /// Fathom's own standard output.
    Inherit,
}

/// What standard output must be: its length and SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// SHA-256 of the whole output.
    pub sha256: [u8; 32],
    /// Length in bytes, where it is known (a file was given and not just its hash).
    pub length: Option<u64>,
    /// What the user gave, for messages.
    pub given: String,
}

/// One command, ready to be executed without a shell in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// Program and arguments. Never empty. Any bytes.
    pub arguments: Vec<OsString>,
    /// Path of the program, found by [`crate::lookup::find`].
    pub program: PathBuf,
    /// Working directory; Fathom's own if absent.
    pub directory: Option<PathBuf>,
    /// Variables that are added to Fathom's own environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Standard input.
    pub input: Input,
    /// Standard output.
    pub output: Output,
    /// What standard output must be; makes it a pipe.
    pub expect: Option<Expectation>,
    /// What it is run without, to see what that costs.
    pub without: Without,
}

/// What a command is run without, or what it is run with so that both ways cost the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Without {
    /// Variables that it doesn't get.
    pub variables: Vec<OsString>,
    /// Calls that do nothing.
    pub calls: Option<CallFilter>,
    /// All CPUs but these, if there are any.
    pub other_cpus: Vec<usize>,
    /// What is delayed, to see how much of that comes out at the end.
    pub delay: Option<Delay>,
}

impl CommandLine {
    /// Where it runs, as seen from Fathom's own directory, for which it is empty.
    pub fn folder(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new(""))
    }
}
