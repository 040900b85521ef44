//! What one command takes more than the other, as the last lines of another verb's answer.

use fathom_conduct::Differs;
use fathom_report::{difference_parts, difference_whole};

/// The most parts that are named.
const PARTS: usize = 3;

/// Returns the total of the parts, and the first of them; or why they are unknown.
pub(super) fn lines(found: &Differs) -> Vec<String> {
    match found {
        Ok(difference) => {
            let whole = [difference_whole(difference)].into_iter();
            whole.chain(difference_parts(difference, PARTS)).collect()
        }
        Err(error) => vec![format!("the difference is not known: {error}")],
    }
}
