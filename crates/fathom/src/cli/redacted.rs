//! A command line of Fathom as it may be shown: typed secrets are replaced.

use fathom_conduct::redaction;

/// The words as a shell takes them.
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

/// Whether it is the value of an option that takes secrets. Commands stay as they were typed.
fn may_be_secret(before: &str, word: &str) -> bool {
    ["--env", "--store"].iter().any(|option| {
        before == *option
            || word
                .strip_prefix(option)
                .is_some_and(|rest| rest.starts_with('='))
    })
}
