//! Numbers with a suitable number of digits; [`super::supported`] determines how many an interval supports.

/// Returns the number of decimals that shows `value` with `digits` significant digits, 0 to 9.
pub fn decimals_for(value: f64, digits: i32) -> usize {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    (digits - digits_before_point(value)).clamp(0, 9) as usize
}

/// Returns the number of digits before the point: 3 for 123.4, 1 for 1.2, 0 for 0.12, -1 for 0.012.
pub fn digits_before_point(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 1;
    }
    value.abs().log10().floor() as i32 + 1
}

/// Formats `value` with three significant digits, of which at most two are decimals: `0.84`, `1.20`, `83.0`.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    fixed(value, decimals)
}

/// Formats `value` with at most `decimals` decimals, and fewer if that would show more than five significant
/// digits: a maximum far above the median isn't known better than the median.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let decimals = if value == 0.0 {
        decimals
    } else {
        decimals.min(decimals_for(value, 5))
    };
    with_decimals(value, decimals)
}

/// Formats `value` with exactly this many decimals; `?` if it is not a number.
pub(super) fn with_decimals(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    // A tiny negative value must not be printed as -0.
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_values_lose_decimals_and_zero_has_no_sign() {
        assert_eq!(fixed(1.20449, 4), "1.2045");
        assert_eq!(fixed(25_000.123, 4), "25000");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(fixed(f64::NAN, 2), "?");
    }

    #[test]
    fn three_digits_are_never_four() {
        for (value, text) in [(0.0, "0"), (0.84, "0.84"), (9.996, "10.0"), (99.96, "100")] {
            assert_eq!(three_digits(value), text);
        }
    }
}
