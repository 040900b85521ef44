//! The change that turns one command into two that are run identically except for the change.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use fathom_measure::{Answered, CallFilter, Delay, Input, Mount, Output};

use crate::Target;

/// The change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Variables to set.
    pub set: Vec<(OsString, OsString)>,
    /// Variables to remove.
    pub unset: Vec<OsString>,
    /// System calls that are answered without doing anything.
    pub calls: Option<&'static [Answered]>,
    /// A system call by its number, and how long each call of it is held.
    pub held: Option<(u32, Duration)>,
    /// The CPUs that the command may use; all if empty.
    pub cpus: Vec<usize>,
    /// The program file to run instead of the command's own.
    pub program: Option<PathBuf>,
    /// The arguments to use instead of the command's own, starting with the program.
    pub words: Option<Vec<OsString>>,
    /// A command line to run before each run, after the user's own.
    pub before: Option<String>,
    /// What only the command sees.
    pub mounts: Vec<Mount>,
    /// Mounts of the same number that change nothing, for the command as it is.
    pub idle_mounts: Vec<Mount>,
    /// The control groups of the command as it is, and those that it is moved to.
    pub groups: [Vec<PathBuf>; 2],
    /// The source of standard input.
    pub input: Option<Input>,
    /// The destination of standard output.
    pub output: Option<Output>,
    /// Folders in which the command writes, with the folders in which its files are then.
    pub written: Vec<(PathBuf, PathBuf)>,
}

impl Change {
    /// Returns a change that sets a variable.
    pub(crate) fn setting(name: &str, value: impl Into<OsString>) -> Change {
        Change::default().and(name, value)
    }

    /// Adds a variable to set.
    pub(crate) fn and(mut self, name: &str, value: impl Into<OsString>) -> Change {
        self.set.push((name.into(), value.into()));
        self
    }

    /// Returns the command as it is and the command without the cause. The latter is labelled with the
    /// intervention's name.
    pub(crate) fn arms(self, target: &Target, name: &str) -> [Target; 2] {
        let mut with = target.clone();
        with.benchmark.name = target.benchmark.command.clone();
        let mut without = target.clone();
        without.benchmark.name = format!("{} (--try {name})", target.benchmark.command);
        if let Some(calls) = self.calls {
            with.command.without.calls = Some(CallFilter::letting_through(calls));
            without.command.without.calls = Some(CallFilter::answering(calls));
        }
        let command = &mut without.command;
        if let Some((number, time)) = self.held {
            command.without.calls = Some(CallFilter::asking(&[number]));
            command.without.delay = Some(Delay::Calls(time));
        }
        command
            .variables
            .retain(|(name, _)| !self.set.iter().any(|(set, _)| set == name));
        command.variables.extend(self.set);
        command
            .variables
            .retain(|(name, _)| !self.unset.contains(name));
        command.without.variables = self.unset;
        command.without.other_cpus = self.cpus;
        command.without.mounts = self.mounts;
        with.command.without.mounts = self.idle_mounts;
        [with.command.without.groups, command.without.groups] = self.groups;
        command.input = self.input.unwrap_or_else(|| command.input.clone());
        command.output = self.output.unwrap_or_else(|| command.output.clone());
        if let Some(program) = self.program {
            command.program = program;
        }
        if let Some(words) = self.words {
            without.benchmark.arguments = words
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            command.arguments = words;
        }
        [with, without]
    }
}
