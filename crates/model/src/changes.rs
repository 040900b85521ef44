//! Where series changed their level for good.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// What `fathom changes` found.
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

/// What is said of one series. Positions count its points from 0, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeriesChanges {
    /// Name of the series.
    pub name: String,
    /// Unit of the values, where it is known.
    pub unit: Option<String>,
    /// Whether more is better, where it is known.
    pub higher_is_better: Option<bool>,
    /// Number of points.
    pub points: usize,
    /// What each point is called: its `index` in the file, or its revision.
    pub labels: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub found: Changes,
}

/// The change points of a series, and what is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changes {
    /// For good, by position.
    pub change_points: Vec<ChangePoint>,
    /// Points that lie far from their neighbours on both sides.
    pub spikes: Vec<usize>,
    /// The stretches between the change points; together they are the whole series.
    pub segments: Vec<ChangeSegment>,
    /// The newest points, if they seem to have left their segment and are too few to say more.
    pub early_warning: Option<EarlyWarning>,
    /// Change points of the previous analysis that the newer points speak against.
    pub withdrawn: Vec<ChangePoint>,
}

/// Where a series changed its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangePoint {
    /// Stays when points are added and it moves: its position when it was first reported.
    pub id: usize,
    /// Position of the first point of the new level; of a drift, of the first point on the slope.
    pub index: usize,
    /// Position from which the new level holds: `index`, or the end of the slope of a drift.
    pub until: usize,
    /// At once, or little by little.
    pub kind: ChangeKind,
    /// Whether the values grew.
    pub direction: ChangeDirection,
    /// 1 less the chance of such a difference somewhere in a series of this length without change.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub confidence: f64,
    /// New level / old level with its interval. None where a value of the series isn't positive.
    pub ratio: Option<Estimate>,
    /// Median before, in the unit of the series.
    pub before: f64,
    /// Median after, in the unit of the series.
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
    /// Little by little, over many points.
    Drift,
}

/// Which way a level changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeDirection {
    /// Values grew.
    Up,
    /// Values fell.
    Down,
}

/// Points between two changes of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeSegment {
    /// Position of the first point.
    pub start: usize,
    /// Position behind the last point.
    pub end: usize,
    /// Median, in the unit of the series.
    pub median: f64,
}

/// The newest points seem to be on a new level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyWarning {
    /// Position of the first of them.
    pub index: usize,
    /// How many there are.
    pub points: usize,
    /// Their median / the segment's median; none where a value isn't positive.
    pub ratio: Option<f64>,
    /// Whether the values grew.
    pub direction: ChangeDirection,
    /// Chance of this without a change, 0 to 1: higher than for a change point.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
}
