//! Where series changed their level for good.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// The result of `fathom changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangesRecord {
    /// [`crate::SCHEMA_VERSION`].
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Always `changes`.
    #[cfg_attr(test, schemars(extend("const" = "changes")))]
    pub kind: String,
    /// The file or the store that the series are from.
    pub source: String,
    /// One entry for each series, in the order of the source.
    pub series: Vec<SeriesChanges>,
}

/// The result for one series. Positions count its points from 0, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeriesChanges {
    /// Name of the series.
    pub name: String,
    /// The unit of the values, if known.
    pub unit: Option<String>,
    /// Whether higher values are better, if known.
    pub higher_is_better: Option<bool>,
    /// Number of points.
    pub points: usize,
    /// The label of each point: its `index` in the file, or its revision.
    pub labels: Vec<String>,
    /// The result.
    #[serde(flatten)]
    pub found: Changes,
}

/// The change points of a series, and other anomalies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changes {
    /// Lasting changes, by position.
    pub change_points: Vec<ChangePoint>,
    /// Points that are far from their neighbors on both sides.
    pub spikes: Vec<usize>,
    /// The segments between the change points; together they make up the whole series.
    pub segments: Vec<ChangeSegment>,
    /// The newest points, if they seem to have left their segment but are too few for a conclusion.
    pub early_warning: Option<EarlyWarning>,
    /// Change points of the previous analysis that newer points contradict.
    pub withdrawn: Vec<ChangePoint>,
}

/// Where a series changed its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangePoint {
    /// The position at which the change point was first reported. This id stays the same when points are
    /// added and the change point moves.
    pub id: usize,
    /// The position of the first point of the new level; for a drift, of the first point on the slope.
    pub index: usize,
    /// The position from which the new level holds: `index`, or the end of a drift's slope.
    pub until: usize,
    /// Whether it changed at once or gradually.
    pub kind: ChangeKind,
    /// Whether the values increased.
    pub direction: ChangeDirection,
    /// 1 minus the probability that a series of this length without a change has such a difference somewhere.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub confidence: f64,
    /// New level / old level, with its interval. Absent if a value of the series isn't positive.
    pub ratio: Option<Estimate>,
    /// The median before the change, in the unit of the series.
    pub before: f64,
    /// The median after the change, in the unit of the series.
    pub after: f64,
    /// Its position in the previous analysis, if it moved.
    pub moved_from: Option<usize>,
}

/// How a level changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// From one point to the next.
    Step,
    /// Gradually, over many points.
    Drift,
}

/// The direction in which a level changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeDirection {
    /// Values increased.
    Up,
    /// Values decreased.
    Down,
}

/// Points between two changes of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeSegment {
    /// The position of the first point.
    pub start: usize,
    /// The position after the last point.
    pub end: usize,
    /// The median, in the unit of the series.
    pub median: f64,
}

/// The newest points seem to be on a new level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyWarning {
    /// The position of the first of them.
    pub index: usize,
    /// The number of these points.
    pub points: usize,
    /// Their median / the segment's median; absent if a value isn't positive.
    pub ratio: Option<f64>,
    /// Whether the values increased.
    pub direction: ChangeDirection,
    /// The probability of this in a series without a change, 0 to 1. It is higher than for a change point.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
}
