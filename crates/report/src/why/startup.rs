//! The start of the command.

use fathom_model::{Explanation, Phase};

use super::quote::Quote;
use crate::text::JOIN;

/// Returns when each phase was reached.
pub(super) fn phases(explanation: &Explanation, quote: Quote) -> String {
    let mut phases: Vec<_> = explanation.phases.iter().collect();
    phases.sort_by_key(|phase| phase.at_ns);
    let parts = phases.iter().map(|phase| {
        let (name, at) = (words(&phase.name), quote.show(phase.at_ns));
        format!("{name} at {at}{}", source(phase)).replace(' ', &JOIN.to_string())
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns a note for a phase that was not observed.
pub(super) fn source(phase: &Phase) -> &'static str {
    match phase.modelled {
        true => " (modelled)",
        false => "",
    }
}

/// Returns the display names of `first_output` and `loader_done NAME`; names of programs stay as they are.
pub(super) fn words(name: &str) -> String {
    for (phase, words) in [
        ("first_output", "first output"),
        ("loader_done", "loader done"),
    ] {
        if let Some(program) = name.strip_prefix(phase) {
            return format!("{words}{program}");
        }
    }
    name.to_owned()
}
