//! The command to run, and its conditions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::call_filter::CallFilter;
use crate::delay::{Delay, ThreadName};
use crate::mounts::Mount;

/// The source of standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// A file, opened again for each run.
    File(PathBuf),
}

/// The destination of standard output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Output {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that Fathom drains.
    Pipe,
    /// A file, truncated before each run.
    File(PathBuf),
    /// Fathom's own standard output.
    Inherit,
}

/// The expected standard output, by length and SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The SHA-256 of the whole output.
    pub sha256: [u8; 32],
    /// The length in bytes, if known (a file was given, not only its hash).
    pub length: Option<u64>,
    /// The user's input, for messages.
    pub given: String,
}

/// One command, ready to execute without a shell in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and its arguments; never empty. May contain any bytes.
    pub arguments: Vec<OsString>,
    /// The path of the program, found by [`crate::lookup::find`].
    pub program: PathBuf,
    /// The working directory; Fathom's own if absent.
    pub directory: Option<PathBuf>,
    /// Variables to add to Fathom's own environment.
    pub variables: Vec<(OsString, OsString)>,
    /// The source of standard input.
    pub input: Input,
    /// The destination of standard output.
    pub output: Output,
    /// The expected standard output; if set, it goes to a pipe.
    pub expect: Option<Expectation>,
    /// What to take away from the command, to see what it costs.
    pub without: Without,
}

/// What is taken away from a command, or added so that both variants cost the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Without {
    /// Variables to remove.
    pub variables: Vec<OsString>,
    /// A filter for calls that do nothing.
    pub calls: Option<CallFilter>,
    /// The CPUs that the command must not use; if empty, it may use all of them.
    pub other_cpus: Vec<usize>,
    /// A delay, added to measure how much of it appears in the total time.
    pub delay: Option<Delay>,
    /// Mounts that only the command sees.
    pub mounts: Vec<Mount>,
    /// The folders of control groups to which the command moves; it stays in Fathom's own groups otherwise.
    pub groups: Vec<PathBuf>,
    /// Other threads, which are stopped for this many thousandths of the time that they run.
    pub held_back: Vec<(ThreadName, u32)>,
}

impl CommandLine {
    /// Returns the command's working directory relative to Fathom's own; empty if they are the same.
    pub fn folder(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new(""))
    }
}
