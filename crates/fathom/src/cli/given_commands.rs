//! The commands given to a verb that takes several.

use std::ffi::OsString;

use clap::Args;

use fathom_measure::MeasureError;

use crate::cli::failure::{Failure, usage};
use crate::cli::mistakes;
use crate::cli::target::{Source, line};

/// See the help texts.
#[derive(Debug, Clone, Args)]
pub(super) struct GivenCommands {
    /// Commands, each in quotes; or, after --, one command as separate words
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<OsString>,

    /// One command, word by word: everything after it is passed on unchanged
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<OsString>,
}

impl GivenCommands {
    /// Returns the commands to run, at least one. If there is none, `example` is shown as what to type.
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
                return usage(
                    "commands in quotes and a command after -- can't be mixed: give all of them in quotes",
                );
            }
            sources.push(Source::Words(self.words.clone()));
        }
        if sources.is_empty() {
            return usage(format!("no command; try: {example}"));
        }
        Ok(sources)
    }

    /// Adds to an error what was probably meant, because `./daemon 3` was parsed as two commands.
    pub(super) fn explain(&self, verb: &str, failure: Failure) -> Failure {
        let named = match &failure {
            Failure::Measure(MeasureError::NoSuchProgram { name, .. }) => name.clone(),
            Failure::Measure(MeasureError::NotExecutable { path, .. }) => {
                path.display().to_string()
            }
            _ => return failure,
        };
        let words: Option<Vec<&str>> = self.commands.iter().map(|word| word.to_str()).collect();
        let Some(words) = words else { return failure };
        let is_word = |word: &&str| !word.contains(char::is_whitespace);
        if !words.iter().all(is_word) || !words.iter().skip(1).any(|word| *word == named) {
            return failure;
        }
        Failure::Measure(MeasureError::NoSuchProgram {
            name: named,
            hint: Some(format!(
                "; for one command with arguments, {}",
                mistakes::forms(verb, "", &words)
            )),
        })
    }
}
