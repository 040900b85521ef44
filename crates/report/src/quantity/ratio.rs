//! A ratio of two benchmarks in words.
//!
//! A change is written as a factor from 1.5 on (`2.31x faster`) and as a percentage below
//! (`1.8 % slower`). Both say by how much the larger is larger: `25 % faster` takes 1/1.25 of the
//! time, as `2x faster` takes half. So faster and slower are measured with the same yardstick.

use fathom_model::quantity::decimals_for;
use fathom_model::{Estimate, Metric, Unit};
use fathom_stats::supported_decimals;

use super::percent::format_level;
use crate::text::JOIN;

/// From this factor on, `x` is easier to read than a percentage.
const FACTOR_FROM: f64 = 1.5;

/// The two words of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    /// For ratios below 1.
    pub(crate) less: &'static str,
    /// For ratios above 1.
    pub(crate) more: &'static str,
}

impl Words {
    /// `faster` and `slower` for the clocks, `less` and `more` for everything else.
    pub(crate) fn of(metric: Metric) -> Words {
        match (metric.unit(), metric) {
            (Unit::Seconds, Metric::Wall | Metric::Undisturbed) => Words {
                less: "faster",
                more: "slower",
            },
            _ => Words {
                less: "less",
                more: "more",
            },
        }
    }

    fn for_ratio(self, ratio: f64) -> &'static str {
        if ratio < 1.0 { self.less } else { self.more }
    }
}

/// `ratio` (subject / reference) alone, for example `1.2 % faster`, with two or three digits.
pub(crate) fn change(ratio: f64, words: Words) -> String {
    let factor = factor_of(ratio);
    if factor >= FACTOR_FROM {
        return format!("{}x{JOIN}{}", number(factor, 3), words.for_ratio(ratio));
    }
    format!("{}{JOIN}%{JOIN}{}", percent(factor), words.for_ratio(ratio))
}

/// `ratio` with its interval and level: `2.31x faster, 95 % interval 2.27 to 2.36`.
pub(crate) fn change_with_interval(ratio: &Estimate, words: Words) -> String {
    let (change, interval) = change_and_interval(ratio, words);
    format!("{change}, {interval}")
}

/// The same in two: `2.31x faster` and `95 % interval 2.27 to 2.36`.
pub(crate) fn change_and_interval(ratio: &Estimate, words: Words) -> (String, String) {
    let level = format_level(ratio.level);
    if ratio.low <= 1.0 && ratio.high >= 1.0 {
        let (low, high) = (change(ratio.low, words), change(ratio.high, words));
        let interval = format!("{level} interval {low} to {high}");
        return (change(ratio.value, words), interval);
    }
    let near = factor_of(ratio.low).min(factor_of(ratio.high));
    let far = factor_of(ratio.low).max(factor_of(ratio.high));
    let word = words.for_ratio(ratio.value);
    let factor = factor_of(ratio.value);
    let is_factor = factor >= FACTOR_FROM;
    let (shift, unit) = if is_factor { (0.0, 1.0) } else { (1.0, 0.01) };
    let estimate = Estimate {
        value: factor - shift,
        low: near - shift,
        high: far - shift,
        level: ratio.level,
    };
    let most = if is_factor { 9 } else { 3 };
    let decimals = supported_decimals(&estimate, unit).min(most);
    let write = |x: f64| format!("{:.decimals$}", x / unit);
    let (value, low, high) = (
        write(estimate.value),
        write(estimate.low),
        write(estimate.high),
    );
    let interval = format!("{level} interval {low} to {high}");
    match is_factor {
        true => (format!("{value}x{JOIN}{word}"), interval),
        false => (
            format!("{value}{JOIN}%{JOIN}{word}"),
            format!("{interval}{JOIN}%"),
        ),
    }
}

/// The largest difference that the interval allows, in either direction, rounded up: `0.8 %`.
pub(crate) fn bound(ratio: &Estimate) -> String {
    let far = factor_of(ratio.low).max(factor_of(ratio.high));
    if far >= FACTOR_FROM {
        return format!("{}x", number(far, 3));
    }
    let percent = (far - 1.0) * 100.0;
    let decimals = decimals_for(percent, 1).clamp(1, 3);
    let step = 10f64.powi(decimals as i32);
    // The small allowance keeps 0.8 from becoming 0.9 by the last bit of a double.
    let up = ((percent * step) - 1e-6).ceil() / step;
    format!("{up:.decimals$}{JOIN}%")
}

/// How many times the larger is larger: at least 1.
fn factor_of(ratio: f64) -> f64 {
    if ratio < 1.0 { 1.0 / ratio } else { ratio }
}

fn percent(factor: f64) -> String {
    let percent = (factor - 1.0) * 100.0;
    let decimals = decimals_for(percent, 2).min(2);
    format!("{percent:.decimals$}")
}

fn number(factor: f64, digits: i32) -> String {
    if !factor.is_finite() {
        return "?".to_owned();
    }
    let decimals = decimals_for(factor, digits);
    format!("{factor:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            value,
            low,
            high,
            level: 0.95,
        }
    }

    fn words() -> Words {
        Words::of(Metric::Wall)
    }

    fn plain(text: String) -> String {
        text.replace(JOIN, " ")
    }

    #[test]
    fn large_changes_are_factors() {
        let ratio = estimate(1.0 / 2.31, 1.0 / 2.36, 1.0 / 2.27);
        assert_eq!(
            plain(change_with_interval(&ratio, words())),
            "2.31x faster, 95 % interval 2.27 to 2.36"
        );
    }

    #[test]
    fn small_changes_are_percentages() {
        let ratio = estimate(1.018, 1.015, 1.022);
        assert_eq!(
            plain(change_with_interval(&ratio, words())),
            "1.8 % slower, 95 % interval 1.5 to 2.2 %"
        );
    }

    #[test]
    fn faster_and_slower_use_the_same_yardstick() {
        assert_eq!(plain(change(1.25, words())), "25 % slower");
        assert_eq!(plain(change(0.8, words())), "25 % faster");
        assert_eq!(plain(change(0.5, words())), "2.00x faster");
    }

    #[test]
    fn other_metrics_take_less_or_more() {
        assert_eq!(
            plain(change(2.0, Words::of(Metric::PeakMemory))),
            "2.00x more"
        );
    }

    #[test]
    fn a_bound_is_rounded_up_in_either_direction() {
        assert_eq!(plain(bound(&estimate(1.001, 0.9961, 1.0072))), "0.8 %");
        assert_eq!(plain(bound(&estimate(1.0, 0.991, 1.001))), "1.0 %");
        assert_eq!(plain(bound(&estimate(1.0, 1.0, 1.008))), "0.8 %");
    }

    #[test]
    fn an_interval_across_one_names_both_directions() {
        let ratio = estimate(1.01, 0.988, 1.03);
        assert_eq!(
            plain(change_with_interval(&ratio, words())),
            "1.0 % slower, 95 % interval 1.2 % faster to 3.0 % slower"
        );
    }
}
