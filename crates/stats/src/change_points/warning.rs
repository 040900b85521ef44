//! Detects whether the newest points, too few for a change point, have left their segment.

use super::keep::{REACH, median, p_value};

/// The fewest and most newest points tested: a single one may be a spike, and more are handled by `keep`.
const NEWEST: std::ops::RangeInclusive<usize> = 2..=12;
/// The fewest points that the segment needs before them.
const FEWEST_BEFORE: usize = 10;
/// The rate of false warnings, per newest point: the eleven tested numbers of points share it.
const P_VALUE: f64 = 0.005;

/// The evidence that the newest points differ from the rest of the last segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Left {
    /// The number of newest points.
    pub(super) points: usize,
    /// Their median minus that of the points before, on the scale of the values.
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
