//! Answers what a word means.

use fathom_report::{explain_word, known_words, similar_words};
use serde::Serialize;

use super::Answer;
use crate::bounded::{bare_name, name, text};

/// Number of columns, more than any line has.
const WIDTH: usize = 10_000;
/// Maximum number of words listed if the name is unknown.
const LISTED: usize = 200;
/// Maximum number of words in the text.
const TOLD: usize = 60;

/// The result of `explain`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Explain {
    /// The meaning of the word, or a message that it is not one of Fathom's.
    answer: String,
    /// Whether it is one of Fathom's words.
    known: bool,
    /// Words that were probably meant; all words if none is similar. Empty if the word is known.
    words: Vec<String>,
}

/// Returns the answer to a word.
///
/// # Errors
/// If the answer can't be written.
pub(crate) fn explain(word: &str) -> Result<Answer, String> {
    let entry = explain_word(word, WIDTH);
    let words = match (&entry, similar_words(word)) {
        (Some(_), _) => Vec::new(),
        (None, similar) if similar.is_empty() => known_words(),
        (None, similar) => similar,
    };
    let known = entry.is_some();
    let answer =
        entry.unwrap_or_else(|| format!("{} is not a term that Fathom prints.", name(word)));
    let words: Vec<String> = words
        .iter()
        .take(LISTED)
        .map(|word| bare_name(word))
        .collect();
    let mut lines: Vec<String> = answer.lines().map(str::to_owned).collect();
    if !known {
        let told = &words[..words.len().min(TOLD)];
        lines.push(format!("Terms: {}", told.join(", ")));
    }
    Answer::new(
        text(&lines, ""),
        &Explain {
            answer,
            known,
            words,
        },
    )
}
