//! Finds where a series changed its level permanently.
//!
//! `search` finds candidates, `keep` decides which of them hold and their exact positions, and `slope`
//! decides which of them are one slow drift. `spikes` finds isolated points. `warning` detects whether the
//! newest points, too few for a change point, have left their segment. [`change_points`] combines them;
//! [`follow`](follow()) does the same for a series that has grown.

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

/// Returns the change points of a series, in its order, with segments, spikes and an early warning.
///
/// Ranks within windows yield candidates. Each must then differ from its own two neighbours at a p-value of
/// 1e-6 by Mann and Whitney's test, and at 1e-5 by one that allows for values that resemble their neighbours.
/// A series without changes gets fewer than one change point per 4,000 points. A step can be found from four
/// points on if all of them are beyond the hundred before; single outliers are [`Changes::spikes`]. If a
/// slope explains steps in one direction better than the steps do, they are one drift. 10,000 points take 20
/// ms.
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
/// If a value is not finite, since it can't be part of a series.
pub fn change_points(values: &[f64]) -> Changes {
    follow(&Changes::default(), 0, values)
}
