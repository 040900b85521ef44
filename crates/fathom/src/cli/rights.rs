//! Where an observed run was another than the timed ones, since it was given no rights.

use fathom_report::escape;

use crate::cli::failure::UNTRUSTED;
use crate::cli::out::say;

/// Says so on standard error; the exit code then, `None` if all programs had their rights.
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
            "warning: the observed run is not the timed one. Not seen is {}",
            escape(sentence)
        );
    }
    (!said.is_empty()).then_some(UNTRUSTED)
}
