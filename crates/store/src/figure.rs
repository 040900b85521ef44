//! Figures: the source, a figure of a new record, and a figure of a series.

use serde::{Deserialize, Serialize};

/// State of the measured source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Full id of the commit.
    pub id: String,
    /// The branch; `None` on a detached head.
    pub branch: Option<String>,
    /// Whether tracked files differed from the commit.
    pub dirty: bool,
}

/// A figure for a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewPoint {
    /// Name of the benchmark.
    pub benchmark: String,
    /// The benchmark's parameters: names and values.
    pub parameters: Vec<(String, String)>,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values, as in the record: `seconds`, `bytes`, `count`, `ns`, ...
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, if known.
    pub direction: Option<String>,
    /// Description of the metric.
    pub meaning: String,
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Number of runs that it comes from.
    pub runs: u32,
}

/// A figure of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Start of the measurement, milliseconds since 1970, UTC. If the clock was set back, the start of the
    /// previous measurement.
    pub time: i64,
    /// The record's [`Head::place`](crate::Head).
    pub place: i64,
    /// Number of the record in this store.
    pub record: i64,
    /// Number of the segment in this store.
    pub environment: i64,
    /// Number of runs that it comes from.
    pub runs: u32,
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

impl Point {
    /// Returns the position of the point in its series, which is the position of its record among records
    /// ([`Head::order`](crate::Head::order)).
    pub fn order(&self) -> (i64, i64, i64) {
        (self.place, self.time, self.record)
    }
}
