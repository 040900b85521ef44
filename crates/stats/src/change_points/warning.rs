//! Have the newest points, too few for a change point, left their segment?

use super::keep::{REACH, median, p_value};

/// Fewest and most newest points that are asked: one may be a spike, and more are `keep`'s.
const NEWEST: std::ops::RangeInclusive<usize> = 2..=12;
/// The segment needs so many points before them.
const FEWEST_BEFORE: usize = 10;
/// A warning may be wrong once in so many newest points: the eleven numbers of points that are tried
/// share it.
const P_VALUE: f64 = 0.005;

/// What the newest points say against the rest of the last segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Left {
    /// How many of the newest points.
    pub(super) points: usize,
    /// Their median less that of the points before, on the scale of the values.
    pub(super) difference: f64,
    /// For all numbers of points together.
    pub(super) p_value: f64,
}

/// The strongest sign that the end of the last segment is on another level.
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
