//! Shared by the rules on lookups and on loops: which paths does somebody ask for until they are there?

use std::collections::HashMap;

use fathom_trace::LookupRow;

use crate::thresholds as t;
use crate::view::View;

/// The path isn't there.
pub(super) const ENOENT: i32 = 2;

/// A path that is asked for until it is there.
pub(super) struct Awaited<'a> {
    /// The lookups in vain.
    pub lookups: &'a LookupRow,
    /// How long it took from the first until somebody had opened the path, or made it, ns.
    pub ns: u64,
}

/// Paths that were opened, or made, by one of the tree after lookups in vain, of which there were so many that it
/// isn't a check or two.
pub(super) fn awaited<'a>(view: &View<'a>) -> Vec<Awaited<'a>> {
    let mut opened: HashMap<&str, u64> = HashMap::new();
    for file in view.trace.files.iter().filter(|file| file.opens > 0) {
        let last = opened.entry(file.name.as_str()).or_default();
        *last = file.first_ns.max(*last);
    }
    let later = |row: &'a LookupRow| {
        let opened = opened.get(row.path.as_str());
        let ns = opened.and_then(|opened| opened.checked_sub(row.first_ns))?;
        Some(Awaited { lookups: row, ns }).filter(|it| it.ns > 0)
    };
    let lookups = view.trace.failed_lookups.iter();
    let often = lookups.filter(|row| row.errno == ENOENT && row.calls >= t::LOOKUPS_OF_A_WAIT);
    often.filter_map(later).collect()
}
