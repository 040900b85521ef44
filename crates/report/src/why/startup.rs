//! The start of the command.

use fathom_model::{Explanation, Phase};

use super::quote::Quote;
use crate::line::{Page, Tone};
use crate::text::JOIN;

/// When each phase was reached, in one labelled line.
pub(super) fn write(page: &mut Page, explanation: &Explanation, quote: Quote) {
    if explanation.phases.is_empty() {
        return;
    }
    let mut phases: Vec<_> = explanation.phases.iter().collect();
    phases.sort_by_key(|phase| phase.at_ns);
    let parts: Vec<String> = phases
        .iter()
        .map(|phase| {
            let name = words(&page.clean(&phase.name));
            let part = format!("{name} at {}{}", quote.show(phase.at_ns), source(phase));
            part.replace(' ', &JOIN.to_string())
        })
        .collect();
    page.gap();
    page.field("phases", Tone::Plain, &parts.join(", "));
}

/// What is said of a phase that was not seen.
pub(super) fn source(phase: &Phase) -> &'static str {
    match phase.modelled {
        true => " (modelled)",
        false => "",
    }
}

/// `first_output` and `loader_done NAME` as people write them; names of programs stay as they are.
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
