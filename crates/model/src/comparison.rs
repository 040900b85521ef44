//! The ratio of two benchmarks with its interval and a verdict.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Metric};

/// The verdict on the subject compared with the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The subject takes less, at the confidence level for claims, and the interval is not entirely within
    /// the margin.
    Faster,
    /// The subject takes more, at the confidence level for claims, and the interval is not entirely within
    /// the margin.
    Slower,
    /// The whole interval is within the margin: any difference is too small to matter.
    Same,
    /// None of these applies: more rounds are needed.
    Undecided,
}

impl Verdict {
    /// Returns the word for it, as in the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        }
    }

    /// Converts a verdict for which lower values are better to a metric with this direction.
    pub fn toward(self, higher_is_better: Option<bool>) -> Verdict {
        match (self, higher_is_better) {
            (Verdict::Faster, Some(true)) => Verdict::Slower,
            (Verdict::Slower, Some(true)) => Verdict::Faster,
            (verdict, _) => verdict,
        }
    }

    /// Returns the word for it; a neutral one if it is unknown whether higher values are better.
    pub fn word_for(self, higher_is_better: Option<bool>) -> &'static str {
        match (self, higher_is_better) {
            (Verdict::Faster, None) => "less",
            (Verdict::Slower, None) => "more",
            (verdict, _) => verdict.word(),
        }
    }
}

/// Ratios subject / reference at three quantiles: shows whether the whole distribution moved or only a tail.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shift {
    /// The ratio of the 10th percentiles.
    pub p10: f64,
    /// The ratio of the medians.
    pub p50: f64,
    /// The ratio of the 90th percentiles.
    pub p90: f64,
}

/// How many more rounds would decide an undecided comparison, if the spread stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MoreRounds(pub u64);

/// One metric of two benchmarks, compared round by round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The index of the reference benchmark.
    pub reference: usize,
    /// The index of the subject benchmark.
    pub subject: usize,
    /// The metric.
    pub metric: Metric,
    /// The number of rounds in which both have a value.
    pub rounds: usize,
    /// The Hodges-Lehmann estimate of the ratio subject / reference, with its interval.
    pub ratio: Estimate,
    /// Ratios at p10, p50 and p90.
    pub shift: Shift,
    /// The two-sided p-value of 'no difference' (Wilcoxon signed-rank on the paired log ratios), before the
    /// correction for multiple comparisons and interim analyses.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
    /// The level (0 to 1) at which `faster` and `slower` are claimed, higher than that of the interval: the
    /// p-value must be at most 1 minus this. It allows for multiple comparisons and interim analyses.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub claim_level: f64,
    /// The margin within which two programs count as the same, as a share (0.01 is 1 %).
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
}
