//! Finds packages with the symbols of code for which no symbols are installed here.

use std::collections::BTreeMap;

use fathom_model::{CodePlace, Explanation};

/// Adds the packages to each location of an explanation; only the innermost callers are looked up.
pub(super) fn name(explanation: &mut Explanation) {
    const CALLERS: usize = 3;
    let mut known: BTreeMap<String, Option<String>> = BTreeMap::new();
    let rows = explanation.whereabouts.iter_mut();
    let rows = rows.map(|row| (&mut row.place, &mut row.callers));
    let findings = explanation.findings.iter_mut();
    let findings = findings.map(|finding| (&mut finding.code, &mut finding.callers));
    for (place, callers) in rows.chain(findings) {
        for place in std::iter::once(place).chain(callers.iter_mut().take(CALLERS)) {
            place.symbols_in = package_of(place, &mut known);
        }
    }
}

fn package_of(place: &CodePlace, known: &mut BTreeMap<String, Option<String>>) -> Option<String> {
    let binary = place.binary.as_ref().filter(|path| path.starts_with('/'))?;
    if place.function.is_some() {
        return None;
    }
    let of = || fathom_stacks::package_of_symbols(binary);
    known.entry(binary.clone()).or_insert_with(of).clone()
}
