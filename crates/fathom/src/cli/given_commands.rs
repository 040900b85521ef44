//! The commands of a verb that takes several, as they are given.

use std::ffi::OsString;

use clap::Args;

use crate::cli::failure::Failure;
use crate::cli::target::{Source, line};

/// See the help texts.
#[derive(Debug, Clone, Args)]
pub struct GivenCommands {
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
    pub fn sources(&self, example: &str) -> Result<Vec<Source>, Failure> {
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
}
