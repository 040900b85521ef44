//! `fathom explain`: explains a word used in the output.

use clap::Args;
use clap_complete::ArgValueCandidates;

use crate::cli::failure::Failure;
use crate::cli::{completions, screen, write};

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom explain unbuffered-output        a finding
  fathom explain wall                     a metric
  fathom explain ptrace                   a tier
  fathom explain noisy                    a warning

The same texts are in docs/words.md and docs/findings.md.")]
pub(super) struct Arguments {
    /// The word; without one, all words are listed
    #[arg(value_name = "WORD", add = ArgValueCandidates::new(completions::words))]
    pub words: Vec<String>,
}

/// Prints the entry of a word, or all words. Returns the exit code.
///
/// # Errors
/// If the word doesn't exist.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let width = screen::stdout_width();
    let text = match arguments.words.join(" ") {
        word if word.is_empty() => fathom_report::all_words(width),
        word => fathom_report::explain_word(&word, width).ok_or_else(|| unknown(&word))?,
    };
    write::print(&text)?;
    Ok(0)
}

fn unknown(word: &str) -> Failure {
    let meant = match fathom_report::similar_words(word) {
        similar if similar.is_empty() => String::new(),
        similar => format!("did you mean {}? ", similar.join(", ")),
    };
    Failure::Usage(format!(
        "{word:?} is not a term that Fathom prints; {meant}'fathom explain' lists all terms"
    ))
}
