//! The commands of a verb that takes several, as they are given.

use std::ffi::OsString;

use clap::Args;

use fathom_measure::MeasureError;

use crate::cli::failure::Failure;
use crate::cli::target::{Source, line};

/// See the help texts.
#[derive(Debug, Clone, Args)]
pub(super) struct GivenCommands {
    /// Commands, each in quotes; or, after --, one command as separate words
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<OsString>,

    /// One command, word by word: what follows is handed on as it is
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<OsString>,
}

impl GivenCommands {
    /// What is to be run, at least one; `example` is what to type instead of nothing.
    ///
    /// # Errors
    /// Usage errors: no command, both forms at once, or a line that can't be split.
    pub(super) fn sources(&self, example: &str) -> Result<Vec<Source>, Failure> {
        let mut sources = Vec::new();
        for command in &self.commands {
            sources.push(line(command)?);
        }
        if !self.words.is_empty() {
            if !sources.is_empty() {
                return Err(Failure::Usage(
                    "commands in quotes and a command after -- can't be mixed: give all of them in quotes".into(),
                ));
            }
            sources.push(Source::Words(self.words.clone()));
        }
        if sources.is_empty() {
            return Err(Failure::Usage(format!(
                "there is no command; try: {example}"
            )));
        }
        Ok(sources)
    }

    /// Adds to an error what was probably meant: `./daemon 3` are two commands.
    pub(super) fn explain(&self, failure: Failure) -> Failure {
        let Failure::Measure(MeasureError::NoSuchProgram { name, hint: None }) = failure else {
            return failure;
        };
        let is_word = |command: &OsString| !command.to_string_lossy().contains(char::is_whitespace);
        let later = self.commands.iter().skip(1);
        let is_later = later.into_iter().any(|command| *command == *name);
        let hint = (is_later && self.commands.iter().all(is_word)).then(|| {
            let words = self.commands.iter().map(|word| word.to_string_lossy());
            let words = words.collect::<Vec<_>>().join(" ");
            format!("; each word is a command of its own: write -- {words} for one command with arguments")
        });
        Failure::Measure(MeasureError::NoSuchProgram { name, hint })
    }
}
