//! Estimates and summaries of one metric over the runs of one benchmark.

use serde::{Deserialize, Serialize};

use crate::Metric;

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// The confidence level of the interval, 0 to 1. It is what the sample supports: five runs can't give 95
    /// %, so their actual level is stored.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub level: f64,
}

impl Estimate {
    /// Returns half the width of the interval as a share of the value; infinite if the value is 0.
    pub fn relative_half_width(&self) -> f64 {
        if self.value == 0.0 {
            return f64::INFINITY;
        }
        (self.high - self.low) / 2.0 / self.value.abs()
    }
}

/// The summary of one metric of one benchmark, in the metric's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// The metric.
    pub metric: Metric,
    /// The number of runs that had a value.
    pub runs: usize,
    /// Median with its distribution-free interval.
    pub median: Estimate,
    /// Smallest value.
    pub min: f64,
    /// 10th percentile.
    pub p10: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean: for exports, never shown alone.
    pub mean: f64,
    /// Sample standard deviation (n - 1): for exports, never shown alone.
    pub standard_deviation: f64,
}
