//! What is changed of a command: then there are two, and each runs as the other but for that.

use std::ffi::OsString;
use std::path::PathBuf;

use fathom_measure::{Answered, CallFilter};

use crate::Target;

/// What is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Variables that it gets.
    pub set: Vec<(OsString, OsString)>,
    /// Variables that it doesn't get.
    pub unset: Vec<OsString>,
    /// Calls that do nothing.
    pub calls: Option<&'static [Answered]>,
    /// The CPUs that it may use, if not all.
    pub cpus: Vec<usize>,
    /// The program's file, in the place of its own.
    pub program: Option<PathBuf>,
    /// Arguments, the program first, in the place of its own.
    pub words: Option<Vec<OsString>>,
    /// A command line that is run before each run, after what the user has run there.
    pub before: Option<String>,
}

impl Change {
    /// A variable is set.
    pub(crate) fn setting(name: &str, value: impl Into<OsString>) -> Change {
        Change::default().and(name, value)
    }

    /// One more is set.
    pub(crate) fn and(mut self, name: &str, value: impl Into<OsString>) -> Change {
        self.set.push((name.into(), value.into()));
        self
    }

    /// The command as it is, and without the cause, with the name of what is taken away.
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
