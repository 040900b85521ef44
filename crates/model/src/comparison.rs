//! The ratio of two benchmarks with its interval and a verdict.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Metric};

/// What a comparison says of the subject against the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The subject takes less, at the level of claims, and the interval is not wholly within the
    /// margin.
    Faster,
    /// The subject takes more, at the level of claims, and the interval is not wholly within the
    /// margin.
    Slower,
    /// The whole interval lies within the margin: if there is a difference, it is too small to
    /// matter.
    Same,
    /// None of these: more rounds are needed.
    Undecided,
}

impl Verdict {
    /// The word for it, as in the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        }
    }

    /// What a verdict by values alone, where less is better, is of a metric of this direction.
    pub fn toward(self, higher_is_better: Option<bool>) -> Verdict {
        match (self, higher_is_better) {
            (Verdict::Faster, Some(true)) => Verdict::Slower,
            (Verdict::Slower, Some(true)) => Verdict::Faster,
            (verdict, _) => verdict,
        }
    }

    /// The word for it where it may not be known whether more is better: then one that doesn't judge.
    pub fn word_for(self, higher_is_better: Option<bool>) -> &'static str {
        match (self, higher_is_better) {
            (Verdict::Faster, None) => "less",
            (Verdict::Slower, None) => "more",
            (verdict, _) => verdict.word(),
        }
    }
}

/// Ratios subject / reference at three quantiles: says whether the whole distribution moved or a
/// tail.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shift {
    /// Ratio of the 10th percentiles.
    pub p10: f64,
    /// Ratio of the medians.
    pub p50: f64,
    /// Ratio of the 90th percentiles.
    pub p90: f64,
}

/// How many more rounds would decide an undecided comparison, if the spread stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MoreRounds(pub u64);

/// One metric of two benchmarks, compared round by round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Index of the benchmark that is compared with.
    pub reference: usize,
    /// Index of the benchmark that is compared.
    pub subject: usize,
    /// Which metric.
    pub metric: Metric,
    /// Number of rounds in which both have a value.
    pub rounds: usize,
    /// Hodges-Lehmann estimate of the ratio subject / reference with its interval.
    pub ratio: Estimate,
    /// Ratios at p10, p50 and p90.
    pub shift: Shift,
    /// Two-sided p-value of 'no difference' (Wilcoxon signed-rank on the paired log ratios), before
    /// the correction for several comparisons and interim analyses.
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub p_value: f64,
    /// Level (0 to 1) at which `faster` and `slower` are claimed, higher than that of the interval:
    /// the p-value must be at most 1 less this. Several comparisons and interim analyses are
    /// allowed for.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0.0, max = 1.0)))]
    pub claim_level: f64,
    /// The margin within which two programs count as the same, as a share (0.01 is 1 %).
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
    /// What follows.
    pub verdict: Verdict,
    /// For an undecided comparison: how many more rounds would decide it.
    pub more_rounds: Option<MoreRounds>,
}
