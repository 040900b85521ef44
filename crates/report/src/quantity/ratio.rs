//! A ratio of two values, in words and with a sign: the same notation in all verbs.
//!
//! A change below a factor of 2 is a percentage of the reference (`1.8 % slower`, `-20 %`), and from there on
//! a factor (`2.31x faster`, `2.31x`, `0.43x`). Words and signs show the same number.

use fathom_model::quantity::{decimals_for, supported_decimals};
use fathom_model::{Estimate, Metric, Unit, Verdict};

use super::apart::{apart, decimals_where, differ};
use super::percent::format_level;
use crate::text::JOIN;

/// Two changes may print the same if their difference is below this part of both their intervals, since it
/// isn't known whether they differ.
const OF_INTERVAL: f64 = 1e-3;
/// The factor from which on `x` is easier to read than a percentage.
const FACTOR_FROM: f64 = 2.0;
/// The factor from which on the end of an interval around a percentage is itself written as a factor.
const FAR: f64 = 10.0;

/// The two words for the directions of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    /// The word for ratios below 1.
    pub(crate) less: &'static str,
    /// The word for ratios above 1.
    pub(crate) more: &'static str,
}

impl Words {
    /// Returns `faster` and `slower` for the clocks, `less` and `more` for everything else.
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

    /// Returns the word for a verdict.
    pub(crate) fn word(self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Faster => self.less,
            Verdict::Slower => self.more,
            Verdict::Same | Verdict::Undecided => verdict.word(),
        }
    }

    fn for_ratio(self, ratio: f64) -> &'static str {
        if ratio < 1.0 { self.less } else { self.more }
    }
}

/// Formats `ratio` (subject / reference) alone, for example `1.2 % faster`, with two or three digits.
pub(crate) fn change(ratio: f64, words: Words) -> String {
    let word = words.for_ratio(ratio);
    if is_factor(ratio) {
        return format!("{}x{JOIN}{word}", number(factor_of(ratio), 3));
    }
    let percent = percent(ratio).abs();
    let decimals = decimals_for(percent, 2).min(2);
    format!("{percent:.decimals$}{JOIN}%{JOIN}{word}")
}

/// Formats `ratio` alone with its sign: `+1.2 %`, `-34 %`, `2.31x`, `0.43x`.
pub(crate) fn signed(ratio: f64) -> String {
    signed_with(ratio, decimals_of(ratio))
}

/// Formats several ratios, such as those of a column, like [`signed`], so that different ratios don't print
/// the same.
pub(crate) fn signed_apart(ratios: &[f64]) -> Vec<String> {
    apart(ratios, &|row, more| {
        signed_with(ratios[row], decimals_of(ratios[row]) + more)
    })
}

/// Formats [`signed_interval`] as one text: `+8.1 % (+7.2 to +9.0)`.
pub(crate) fn signed_with_interval(ratio: &Estimate) -> String {
    match signed_interval(ratio) {
        (value, None) => value,
        (value, Some(interval)) if is_far(ratio) => format!("{value} ({interval})"),
        (value, Some(interval)) => {
            format!("{value} ({})", interval.trim_end_matches([' ', '%', 'x']))
        }
    }
}

/// Formats an estimate like [`signed`] and its interval with the same unit and decimals: `+8.1 %` and `+7.2
/// to +9.0 %`. An exact count has no interval.
pub(crate) fn signed_interval(ratio: &Estimate) -> (String, Option<String>) {
    with_interval(ratio, 0)
}

/// Like [`signed_interval`] for a column: different ratios don't print the same if their intervals can tell
/// them apart.
pub(crate) fn signed_intervals(ratios: &[Estimate]) -> Vec<(String, Option<String>)> {
    let wide = |row: usize| ratios[row].high - ratios[row].low;
    let apart = |a: usize, b: usize| {
        let (of_a, of_b) = (ratios[a].value, ratios[b].value);
        differ(of_a, of_b) && (of_a - of_b).abs() >= OF_INTERVAL * wide(a).min(wide(b))
    };
    let more = decimals_where(ratios.len(), &apart, &|row, more| {
        with_interval(&ratios[row], more).0
    });
    let rows = ratios.iter().zip(more);
    rows.map(|(ratio, more)| with_interval(ratio, more))
        .collect()
}

fn with_interval(ratio: &Estimate, more: usize) -> (String, Option<String>) {
    if ratio.low >= ratio.high || !is_plain(ratio.value) {
        return (
            signed_with(ratio.value, decimals_of(ratio.value) + more),
            None,
        );
    }
    let (shift, unit, most) = match is_factor(ratio.value) {
        true => (0.0, 1.0, 4),
        false => (1.0, 0.01, 3),
    };
    let shifted = Estimate {
        value: ratio.value - shift,
        low: ratio.low - shift,
        high: ratio.high - shift,
        level: ratio.level,
    };
    let decimals = supported_decimals(&shifted, unit).min(most) + more;
    match is_factor(ratio.value) {
        true => {
            let write = |value: f64| format!("{value:.decimals$}");
            let interval = format!("{} to {}x", write(ratio.low), write(ratio.high));
            (format!("{}x", write(ratio.value)), Some(interval))
        }
        false => {
            let write = |value: f64| sign(percent(value), decimals);
            let end = |value: f64| match is_factor(value) {
                true => signed(value),
                false => format!("{} %", write(value)),
            };
            let interval = match is_far(ratio) {
                true => format!("{} to {}", end(ratio.low), end(ratio.high)),
                false => format!("{} to {} %", write(ratio.low), write(ratio.high)),
            };
            (format!("{} %", write(ratio.value)), Some(interval))
        }
    }
}

fn signed_with(ratio: f64, decimals: usize) -> String {
    match ratio {
        r if !r.is_finite() => "?".to_owned(),
        r if !is_plain(r) => format!("{r:.1e}x"),
        r if is_factor(r) => format!("{r:.decimals$}x"),
        r => format!("{} %", sign(percent(r), decimals)),
    }
}

/// Returns the decimals for two or three digits, as in [`change`], and one decimal if a change is below 10 %.
fn decimals_of(ratio: f64) -> usize {
    match is_factor(ratio) {
        true => decimals_for(ratio, if ratio < 1.0 { 2 } else { 3 }),
        false => usize::from(percent(ratio).abs() < 9.95),
    }
}

/// Formats a percentage with its sign; a value that rounds to 0 has none.
fn sign(percent: f64, decimals: usize) -> String {
    let text = format!("{percent:+.decimals$}");
    match text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        true => text,
        false => text[1..].to_owned(),
    }
}

/// Formats `ratio` with its interval and level: `2.31x faster, 95 % interval 2.27 to 2.36`.
pub(crate) fn change_with_interval(ratio: &Estimate, words: Words) -> String {
    let (change, interval) = change_and_interval(ratio, words);
    format!("{change}, {interval}")
}

/// Like [`change_with_interval`], but as two texts: `2.31x faster` and `95 % interval 2.27 to 2.36`.
pub(crate) fn change_and_interval(ratio: &Estimate, words: Words) -> (String, String) {
    if is_counted(ratio) {
        return (change(ratio.value, words), COUNTED.to_owned());
    }
    let level = format_level(ratio.level);
    if ratio.low <= 1.0 && ratio.high >= 1.0 {
        let (low, high) = (change(ratio.low, words), change(ratio.high, words));
        let interval = format!("{level} interval {low} to {high}");
        return (change(ratio.value, words), interval);
    }
    let word = words.for_ratio(ratio.value);
    let is_factor = is_factor(ratio.value);
    let (size, unit, most): (fn(f64) -> f64, f64, usize) = match is_factor {
        true => (factor_of, 1.0, 9),
        false => (|ratio| (ratio - 1.0).abs(), 0.01, 3),
    };
    if is_far(ratio) {
        let (low, high) = (signed(ratio.low), signed(ratio.high));
        let interval = format!("{level} interval {low} to {high}");
        return (change(ratio.value, words), interval);
    }
    let ends = (size(ratio.low), size(ratio.high));
    let estimate = Estimate {
        value: size(ratio.value),
        low: ends.0.min(ends.1),
        high: ends.0.max(ends.1),
        level: ratio.level,
    };
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

/// Replaces the interval of an exact count.
const COUNTED: &str = "counted, the same in all runs";

/// Returns whether the ratio is one of counts that never differed between runs.
pub(crate) fn is_counted(ratio: &Estimate) -> bool {
    ratio.low == ratio.high && ratio.level >= 1.0
}

/// Returns the largest difference that the interval allows, in either direction, rounded up: `0.8 %`.
pub(crate) fn bound(ratio: &Estimate) -> String {
    let far = factor_of(ratio.low).max(factor_of(ratio.high));
    if far >= FACTOR_FROM {
        return format!("{}x", number(far, 3));
    }
    let percent = percent(ratio.low).abs().max(percent(ratio.high).abs());
    let decimals = decimals_for(percent, 1).clamp(1, 3);
    let step = 10f64.powi(decimals as i32);
    // The small allowance keeps 0.8 from becoming 0.9 due to a rounding error.
    let up = ((percent * step) - 1e-6).ceil() / step;
    format!("{up:.decimals$}{JOIN}%")
}

/// Returns how many times larger the larger of the two values is: at least 1.
fn factor_of(ratio: f64) -> f64 {
    if ratio < 1.0 { 1.0 / ratio } else { ratio }
}

fn is_factor(ratio: f64) -> bool {
    factor_of(ratio) >= FACTOR_FROM
}

/// Returns whether an interval around a percentage extends so far that its end is a factor: `+40 % (+2 % to
/// 137x)`.
fn is_far(ratio: &Estimate) -> bool {
    !is_factor(ratio.value) && factor_of(ratio.low).max(factor_of(ratio.high)) >= FAR
}

/// Returns whether a ratio can be written without a power of ten.
fn is_plain(ratio: f64) -> bool {
    (1e-6..1e9).contains(&ratio)
}

/// Returns the change as a percentage of the reference.
fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
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
    fn the_far_end_of_an_interval_around_a_percentage_is_a_factor() {
        let wide = estimate(1.4, 1.021, 137.04);
        assert_eq!(signed_with_interval(&wide), "+40 % (+2 % to 137x)");
        assert_eq!(
            plain(change_with_interval(&wide, words())),
            "40 % slower, 95 % interval +2.1 % to 137x"
        );
        let near = estimate(1.9, 1.7, 2.1);
        assert_eq!(signed_with_interval(&near), "+90 % (+70 to +110)");
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
    fn a_percentage_is_of_the_reference_and_a_factor_begins_at_two() {
        let cases = [
            (1.25, "25 % slower", "+25 %"),
            (0.8, "20 % faster", "-20 %"),
            (1.99, "99 % slower", "+99 %"),
            (2.31, "2.31x slower", "2.31x"),
            (0.5, "2.00x faster", "0.50x"),
            (0.919, "8.1 % faster", "-8.1 %"),
            (1.0, "0 % slower", "0.0 %"),
        ];
        for (ratio, in_words, with_sign) in cases {
            assert_eq!(plain(change(ratio, words())), in_words);
            assert_eq!(signed(ratio), with_sign);
        }
    }

    #[test]
    fn an_interval_has_the_unit_and_the_decimals_of_its_estimate() {
        let both = |value, low, high| signed_interval(&estimate(value, low, high));
        assert_eq!(
            both(1.081, 1.072, 1.09),
            ("+8.1 %".into(), Some("+7.2 to +9.0 %".into()))
        );
        assert_eq!(
            both(2.31, 1.9, 2.72),
            ("2.3x".into(), Some("1.9 to 2.7x".into()))
        );
        assert_eq!(
            both(1.9, 1.5, 2.4),
            ("+90 %".into(), Some("+50 to +140 %".into()))
        );
    }

    #[test]
    fn an_exact_change_has_no_interval() {
        let exact = estimate(1.02, 1.02, 1.02);
        assert_eq!(signed_interval(&exact), ("+2.0 %".into(), None));
        assert_eq!(signed_with_interval(&exact), "+2.0 %");
        assert_eq!(signed_with_interval(&estimate(1.0, 1.0, 1.0)), "0.0 %");
    }

    #[test]
    fn ratios_of_a_column_that_differ_print_differently() {
        assert_eq!(signed_apart(&[1.12, 1.12]), ["+12 %", "+12 %"]);
        assert_eq!(signed_apart(&[1.121, 1.124]), ["+12.1 %", "+12.4 %"]);
        assert_eq!(
            signed_apart(&[2.311, 2.314, 1.0]),
            ["2.311x", "2.314x", "0.0 %"]
        );
    }

    #[test]
    fn no_more_digits_are_written_than_intervals_of_a_column_reach() {
        let wide = |value| estimate(value, 0.8, 1.5);
        let all = signed_intervals(&[wide(1.2), wide(1.199_999_96)]);
        let one = ("+20 %".to_owned(), Some("-20 to +50 %".to_owned()));
        assert_eq!(all, [one.clone(), one]);
        let exact = |value| estimate(value, value, value);
        let all = signed_intervals(&[exact(1.2), exact(1.199_999_96)]);
        assert_ne!(all[0], all[1]);
    }

    proptest::proptest! {
        #[test]
        fn every_ratio_has_few_characters(power in -12.0f64..12.0) {
            let ratio = 10f64.powf(power);
            let text = signed(ratio);
            proptest::prop_assert!(text.ends_with('x') || text.ends_with(" %"), "{text}");
            let read: f64 = text.trim_end_matches(['x', '%', ' ']).parse().unwrap();
            let back = if text.ends_with('x') { read } else { read / 100.0 + 1.0 };
            proptest::prop_assert!((back - ratio).abs() <= 0.06 * ratio, "{ratio} {text}");
            proptest::prop_assert!(text.len() <= 12, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_ratio_is_printed_inside_its_interval_and_apart_from_others(
            power in -4.0f64..4.0,
            below in 0.0f64..1.0,
            above in 0.0f64..1.0,
            narrow in 0i32..7,
            by in 1e-5f64..0.5,
        ) {
            let narrow = 10f64.powi(-narrow);
            let one = |value: f64| estimate(value, value * (1.0 - below * narrow), value * (1.0 + above * narrow));
            let value = 10f64.powf(power);
            let written = signed_intervals(&[one(value), one(value * (1.0 + by))]);
            let is_known = by > 2.0 * OF_INTERVAL * narrow * (below + above);
            proptest::prop_assert!(!is_known || written[0].0 != written[1].0, "{written:?}");
            // Parses a text as a ratio. If one end of an interval has no unit, it has the unit of the other
            // end.
            let read = |text: &str, unit: &str| {
                let number: f64 = text.trim_end_matches(['x', '%', ' ']).parse().unwrap();
                match text.ends_with('x') || !text.ends_with('%') && unit.ends_with('x') {
                    true => number,
                    false => 1.0 + number / 100.0,
                }
            };
            for (value, interval) in &written {
                let Some(interval) = interval else { continue };
                let ends: Vec<f64> = interval.split(" to ").map(|end| read(end, interval)).collect();
                let value = read(value, value);
                let is_inside = ends[0] <= value + 1e-12 && value <= ends[1] + 1e-12;
                proptest::prop_assert!(is_inside, "{value} {interval}");
            }
        }
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
        assert_eq!(plain(bound(&estimate(1.0, 0.9905, 1.001))), "1.0 %");
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
