//! What a figure is of: the source, a figure of a new record, and one of a series.

use serde::{Deserialize, Serialize};

/// The state of the source that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Full id of the commit.
    pub id: String,
    /// Branch; absent on a detached head.
    pub branch: Option<String>,
    /// Tracked files differed from the commit.
    pub dirty: bool,
}

/// One figure for one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewPoint {
    /// Name of the benchmark.
    pub benchmark: String,
    /// Its parameters, names and values.
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values, as in the record: `seconds`, `bytes`, `count`, `ns`, ...
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, where that is known.
    pub direction: Option<String>,
    /// What the metric is, in words.
    pub meaning: String,
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Runs that it comes from.
    pub runs: u32,
}

/// One figure of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Start of the measurement, milliseconds since 1970, UTC; where the clock was set back, that of the
    /// measurement before.
    pub time: i64,
    /// The record's [`Head::place`](crate::Head).
    pub place: i64,
    /// Number of the record in this store.
    pub record: i64,
    /// Number of the segment in this store.
    pub environment: i64,
    /// Runs that it comes from.
    pub runs: u32,
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

impl Point {
    /// Where it stands in its series: as its record does among records ([`Head::order`](crate::Head::order)).
    pub fn order(&self) -> (i64, i64, i64) {
        (self.place, self.time, self.record)
    }
}
