//! The change that turns one command into two that are run identically except for the change.

use std::ffi::OsString;
use std::path::PathBuf;

use fathom_measure::{Answered, CallFilter};

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
    /// The CPUs that the command may use; all if empty.
    pub cpus: Vec<usize>,
    /// The program file to run instead of the command's own.
    pub program: Option<PathBuf>,
    /// The arguments to use instead of the command's own, starting with the program.
    pub words: Option<Vec<OsString>>,
    /// A command line to run before each run, after the user's own.
    pub before: Option<String>,
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
        command
            .variables
            .retain(|(name, _)| !self.set.iter().any(|(set, _)| set == name));
        command.variables.extend(self.set);
        command
            .variables
            .retain(|(name, _)| !self.unset.contains(name));
        command.without.variables = self.unset;
        command.without.other_cpus = self.cpus;
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
