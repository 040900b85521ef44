//! A place in the source, as an agent opens it.

use fathom_model::CodePlace;
use serde::Serialize;

use crate::bounded::{bare_name, name};

/// A place in a program's code. All texts come from the program.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Place {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl From<&CodePlace> for Place {
    fn from(place: &CodePlace) -> Self {
        Self {
            function: place.function.as_deref().map(bare_name),
            file: place.source_file.as_deref().map(bare_name),
            line: place.line,
        }
    }
}

/// Returns `"parse" (src/p.c:7) <- "main" (src/m.c:3)`: the function and its callers, as far as known.
pub(super) fn in_words(place: &CodePlace, callers: &[CodePlace]) -> Option<String> {
    let own = one(place);
    let named = |caller: &&CodePlace| caller.source_file.is_some();
    let caller = callers.iter().find(named).or(callers.first());
    let caller = caller.and_then(one).map(|caller| format!("<- {caller}"));
    let parts: Vec<String> = own.into_iter().chain(caller).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn one(place: &CodePlace) -> Option<String> {
    let function = place.function.as_deref().map(name);
    let at = match (&place.source_file, place.line) {
        (Some(file), Some(line)) => Some(format!("{}:{line}", bare_name(file))),
        _ => None,
    };
    match (function, at) {
        (Some(function), Some(at)) => Some(format!("{function} ({at})")),
        (None, Some(at)) => Some(at),
        (function, None) => function.or_else(|| place.binary.as_deref().map(name)),
    }
}
