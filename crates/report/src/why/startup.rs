//! The start of the command.

use fathom_model::Explanation;

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
            format!("{name} at {}", quote.show(phase.at_ns)).replace(' ', &JOIN.to_string())
        })
        .collect();
    page.gap();
    page.field("phases", Tone::Plain, &parts.join(", "));
}

/// `first_output` as people write it; names of programs stay as they are.
pub(super) fn words(name: &str) -> String {
    match name {
        "first_output" => "first output".to_owned(),
        name => name.to_owned(),
    }
}
