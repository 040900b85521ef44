//! Samples in, estimates and comparisons out: pure functions, without I/O and without a clock.
//!
//! | question | where |
//! |---|---|
//! | What is a typical run, and how well is that known? | [`summarize`], [`median_interval`], [`quantile`], [`percentile_of_steps`], [`quantile_interval`], [`mean_interval`] |
//! | Which of two programs takes longer, and by how much? | [`paired_ratio`], [`paired_difference`], [`mean_difference`], [`judge`] |
//! | The same, if they were not measured together? | [`unpaired_ratio`], [`between_sessions`] |
//! | How much of a known delay shows in the time? | [`slope_in_rounds`] |
//! | Which difference would be detected here? | [`smallest_difference`] |
//! | May measuring stop now? | [`sequential`], [`fewest_rounds`] |
//! | Is a suite worse than before? | [`Gate`], [`best_of`] |
//! | Are the runs comparable with each other? | [`slow_fence`], [`two_modes`], [`is_autocorrelated`] |
//! | Where did a series change its level? | [`change_points`], [`follow`] |
//! | Which revision changed it? | [`Halving`], [`geometric_middle`] |
//! | Which single number summarizes many benchmarks? | [`geometric_mean`] |
//! | What do another tool's figures mean? | [`imported_middle`] |
//! | How is it drawn and printed? | [`histogram`], [`supported_decimals`] |
//!
//! Definitions, reasons and measured error rates of all of them: `docs/statistics.md`.

mod autocorrelation;
mod between_sessions;
mod change_points;
mod detectable;
mod discovery;
mod gate;
mod geometric;
mod halving;
mod histogram;
mod imported;
mod intervals;
mod judge;
mod modes;
mod outliers;
mod paired;
mod quantile;
mod rounds_slope;
pub mod sequential;
mod signed_rank;
mod summary;
mod unpaired;
mod walsh;

pub use autocorrelation::{autocorrelation, is_autocorrelated};
pub use between_sessions::between_sessions;
pub use change_points::{change_points, follow};
pub use detectable::smallest_difference;
pub use discovery::benjamini_hochberg;
pub use fathom_model::quantity::supported_decimals;
pub use gate::{
    BestOf, BestOfVerdict, FalseFailures, Gate, GateAnswer, GateFinding, GateQuestion, GateRound,
    GateRun, best_of, best_of_on_itself,
};
pub use geometric::geometric_mean;
pub use halving::{Halving, geometric_middle, steps};
pub use histogram::{Histogram, histogram};
pub use imported::{IntervalFrom, Middle, imported_middle};
pub use intervals::{mean_difference, mean_interval, normal_half_width, quantile_interval};
pub use judge::{FEWEST_OF_COUNTS, FEWEST_ROUNDS, PairData, fewest_rounds, judge};
pub use modes::{Modes, two_modes};
pub use outliers::slow_fence;
pub use paired::{PairedRatio, paired_difference, paired_ratio};
pub use quantile::{BEYOND_PERCENTILE, percentile_of_steps, quantile};
pub use rounds_slope::slope_in_rounds;
pub use summary::{median_interval, summarize};
pub use unpaired::{BetweenSessions, Measured, UnpairedRatio, judge_unpaired, unpaired_ratio};
