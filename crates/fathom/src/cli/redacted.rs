//! A command line of Fathom for display, in which secrets are replaced.

use fathom_conduct::redaction;

/// Returns the words in shell syntax.
pub(super) fn words(typed: &[String]) -> Vec<String> {
    let before = [""].into_iter().chain(typed.iter().map(String::as_str));
    let shown = before.zip(typed).map(|(before, word)| {
        let shown = match may_be_secret(before, word) {
            true => redaction::typed_word(word),
            false => word.clone(),
        };
        redaction::line([shown])
    });
    shown.collect()
}

/// Returns whether a word is the value of an option that may contain secrets. Commands stay as they were
/// typed.
fn may_be_secret(before: &str, word: &str) -> bool {
    ["--env", "--store"].iter().any(|option| {
        before == *option
            || word
                .strip_prefix(option)
                .is_some_and(|rest| rest.starts_with('='))
    })
}
