//! Numbers with as many digits as they deserve; how many, says `fathom_stats`.

pub(crate) use fathom_stats::{decimals_for, supported_decimals};

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
}
