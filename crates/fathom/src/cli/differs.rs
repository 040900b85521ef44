//! Shows what one command takes more than the other, as the last lines of another verb's output.

use fathom_conduct::Differs;
use fathom_report::{difference_parts, difference_whole};

/// The maximum number of parts to name.
const PARTS: usize = 3;

/// Returns the total of the parts and the largest of them, or why they are unknown.
pub(super) fn lines(found: &Differs) -> Vec<String> {
    match found {
        Ok(difference) => {
            let whole = [difference_whole(difference)].into_iter();
            whole.chain(difference_parts(difference, PARTS)).collect()
        }
        Err(error) => vec![format!("can't tell what differs: {error}")],
    }
}
