//! What one takes more than the other, in the lines that end another verb's answer.

use fathom_conduct::Differs;
use fathom_report::{difference_parts, difference_whole};

/// Parts that are named.
const PARTS: usize = 3;

/// What the parts add up to, and the first of them; or why they are not known.
pub(super) fn lines(found: &Differs) -> Vec<String> {
    match found {
        Ok(difference) => {
            let whole = [difference_whole(difference)].into_iter();
            whole.chain(difference_parts(difference, PARTS)).collect()
        }
        Err(error) => vec![format!("what differs is not known: {error}")],
    }
}
