//! What one takes more than the other, in the lines that end another verb's answer.

use fathom_conduct::Differs;
use fathom_report::{difference_parts, difference_whole};

/// Parts that are named.
const PARTS: usize = 3;

/// The first parts of the difference; or why they are not known.
pub(super) fn lines(found: &Differs) -> Vec<String> {
    match found {
        Ok(difference) => difference_parts(difference, PARTS),
        Err(error) => vec![format!("what differs is not known: {error}")],
    }
}

/// The same below what they add up to.
pub(super) fn whole_and_lines(found: &Differs) -> Vec<String> {
    let whole = found.as_ref().ok().map(difference_whole);
    whole.into_iter().chain(lines(found)).collect()
}
