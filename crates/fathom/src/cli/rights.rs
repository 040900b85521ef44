//! Warns if an observed run differed from the timed ones because privileges were withheld from it.

use fathom_report::escape;

use crate::cli::failure::UNTRUSTED;
use crate::cli::out::say;

/// Prints a warning on standard error and returns the exit code; `None` if all programs had their privileges.
/// `not_visible`: what the observed runs could not see.
pub(super) fn withheld<'a>(not_visible: impl IntoIterator<Item = &'a String>) -> Option<i32> {
    let mut said: Vec<&String> = Vec::new();
    for sentence in not_visible {
        if fathom_trace::is_of_withheld_rights(sentence) && !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    for sentence in &said {
        say!(
            "warning: the observed run is not the timed one. Not seen: {}",
            escape(sentence)
        );
    }
    (!said.is_empty()).then_some(UNTRUSTED)
}
