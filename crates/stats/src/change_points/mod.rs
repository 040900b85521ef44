//! Where did a series change its level for good?
//!
//! `search` says where it may have, `keep` which of those hold and where exactly they lie, `slope`
//! which of them are one slow drift, `spikes` which points lie alone, and `warning` whether the
//! newest points, too few for a change point, have left their segment. [`change_points`] puts them
//! together; [`follow`](follow()) does so for a series that grew.

mod follow;
mod keep;
mod levels;
mod rank_test;
mod scores;
mod search;
mod shift_test;
mod slope;
mod spikes;
mod warning;

use fathom_model::Changes;
pub use follow::follow;

/// The change points of a series, in its order, with segments, spikes and an early warning.
///
/// Ranks within windows find candidates; each must then differ from its own two neighbours at a
/// p-value of 1e-6 by Mann and Whitney's test, and at 1e-5 by one that allows for values that
/// resemble their neighbours, so that a series without change gets one in less than 1 of 4,000
/// points. A step can be found from four points on if they all lie beyond the hundred before; single
/// outliers are [`Changes::spikes`]. Where a slope explains steps in one direction better than the
/// steps do, they are one drift. 10,000 points take 20 ms.
///
/// ```
/// use fathom_model::ChangeKind;
/// let values: Vec<f64> = (0..80)
///     .map(|i| if i < 50 { 10.0 } else { 10.8 } + f64::from(i * 7 % 11) / 50.0)
///     .collect();
/// let changes = fathom_stats::change_points(&values);
/// assert_eq!(changes.change_points.len(), 1);
/// assert_eq!(changes.change_points[0].index, 50);
/// assert_eq!(changes.change_points[0].kind, ChangeKind::Step);
/// ```
///
/// # Panics
/// When a value is not finite: then it can't be part of a series.
pub fn change_points(values: &[f64]) -> Changes {
    follow(&Changes::default(), 0, values)
}
