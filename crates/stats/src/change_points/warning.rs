//! Detects whether the newest points, too few for a change point, have left their segment.

use super::keep::{REACH, median, p_value};

/// How many of the newest points to test: each number in this range is tried. A single point may be a spike, and `keep` handles more.
const NEWEST: std::ops::RangeInclusive<usize> = 2..=12;
/// The minimum number of points that the segment has before the newest ones.
const FEWEST_BEFORE: usize = 10;
/// The rate of false warnings per newest point, shared by the eleven numbers of points that are tested.
const P_VALUE: f64 = 0.005;

/// The evidence that the newest points differ from the rest of the last segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Left {
    /// The number of newest points.
    pub(super) points: usize,
    /// The median of the newest points minus the median of the points before, on the scale of the values.
    pub(super) difference: f64,
    /// The p-value, corrected for all tested numbers of points.
    pub(super) p_value: f64,
}

/// Returns the strongest evidence that the end of the last segment is on another level.
pub(super) fn warning(segment: &[f64]) -> Option<Left> {
    let tried = *NEWEST.end() - *NEWEST.start() + 1;
    let mut strongest: Option<Left> = None;
    for points in NEWEST {
        let Some(split) = segment.len().checked_sub(points) else {
            break;
        };
        if split < FEWEST_BEFORE {
            break;
        }
        let before = &segment[split.saturating_sub(REACH)..split];
        let newest = &segment[split..];
        let p_value = (p_value(before, newest) * tried as f64).min(1.0);
        if p_value <= P_VALUE && strongest.is_none_or(|other| p_value < other.p_value) {
            let difference = median(newest) - median(before);
            strongest = Some(Left {
                points,
                difference,
                p_value,
            });
        }
    }
    strongest
}
