//! How many digits a number deserves.

use fathom_model::Estimate;

/// Most significant digits that are ever printed: five tell 1 in 100,000.
const MOST_DIGITS: i32 = 6;
/// Fewest, so that a wide interval doesn't reduce a value to its magnitude.
const FEWEST_DIGITS: i32 = 2;

/// Decimals after the point that the interval of `estimate` supports when it is written in units of
/// `unit` (in the estimate's own unit, for example 0.001 for milliseconds).
///
/// The width of the interval gets two digits if it begins with 1, 2 or 3, else one: the rule by which
/// physicists round uncertainties (Particle Data Group, section 5.3), here with the cut at 3.55.
pub(crate) fn supported_decimals(estimate: &Estimate, unit: f64) -> usize {
    let value = (estimate.value / unit).abs();
    let width = ((estimate.high - estimate.low) / unit).abs();
    if !width.is_finite() || !value.is_finite() || width <= 0.0 {
        // A level of 0 is that of a single run: nothing is known of its precision.
        return decimals_for(value, if estimate.level > 0.0 { 4 } else { 3 });
    }
    let magnitude = width.log10().floor();
    let leading = width / 10f64.powf(magnitude);
    let wanted = if leading < 3.55 {
        1 - magnitude as i32
    } else {
        -magnitude as i32
    };
    let most = MOST_DIGITS - digits_before_point(value);
    let fewest = FEWEST_DIGITS - digits_before_point(value);
    wanted.clamp(fewest, most).clamp(0, 9) as usize
}

/// Decimals that show `value` with `digits` significant digits.
pub(crate) fn decimals_for(value: f64, digits: i32) -> usize {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    (digits - digits_before_point(value)).clamp(0, 9) as usize
}

/// `value` with at most `decimals` decimals, and fewer when that many would show more than five
/// significant digits: a maximum far above the median isn't known better than the median.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let decimals = if value == 0.0 {
        decimals
    } else {
        decimals.min(decimals_for(value, 5))
    };
    // A tiny negative value must not print as -0.
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_owned(),
        _ => text,
    }
}

/// 3 for 123.4, 1 for 1.2, 0 for 0.12, -1 for 0.012.
fn digits_before_point(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 1;
    }
    value.abs().log10().floor() as i32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimals(value: f64, low: f64, high: f64) -> usize {
        supported_decimals(
            &Estimate {
                value,
                low,
                high,
                level: 0.95,
            },
            1.0,
        )
    }

    #[test]
    fn a_narrow_interval_earns_digits() {
        assert_eq!(decimals(1.204, 1.198, 1.211), 3);
        assert_eq!(decimals(12.04, 11.9, 12.2), 2);
        assert_eq!(decimals(12.04, 11.8, 12.3), 1);
        assert_eq!(decimals(1204.0, 1100.0, 1300.0), 0);
    }

    #[test]
    fn an_interval_without_width_gets_four_digits() {
        assert_eq!(decimals(1.5, 1.5, 1.5), 3);
        assert_eq!(decimals(0.0, 0.0, 0.0), 0);
    }

    #[test]
    fn a_wide_interval_still_leaves_two_digits() {
        assert_eq!(decimals(0.3, 0.0, 5.0), 2);
    }

    #[test]
    fn far_values_lose_decimals_and_zero_has_no_sign() {
        assert_eq!(fixed(1.20449, 4), "1.2045");
        assert_eq!(fixed(25_000.123, 4), "25000");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(f64::NAN, 2), "?");
    }
}
