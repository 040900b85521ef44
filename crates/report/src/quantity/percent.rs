//! Shares and confidence levels.

use crate::text::JOIN;

/// Formats a share as a percentage, for example `3.1 %`. There is one decimal below 10 %, and none above or
/// for exactly 1 %.
pub(crate) fn format_share(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return format!("?{JOIN}%");
    }
    let decimals = usize::from(percent.abs() < 9.95 && percent != 1.0);
    format!("{percent:.decimals$}{JOIN}%")
}

/// Formats the level of an interval: `95 %` if it is exactly that, otherwise with one decimal that is never
/// rounded up.
pub(crate) fn format_level(level: f64) -> String {
    let tenths = (level * 1000.0 + 1e-6).floor();
    if tenths % 10.0 == 0.0 {
        format!("{:.0}{JOIN}%", tenths / 10.0)
    } else {
        format!("{:.1}{JOIN}%", tenths / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_never_rounded_up() {
        assert_eq!(format_level(0.95), "95\u{a0}%");
        assert_eq!(format_level(0.9375), "93.7\u{a0}%");
        assert_eq!(format_level(0.9999), "99.9\u{a0}%");
    }

    #[test]
    fn small_shares_keep_a_decimal() {
        assert_eq!(format_share(0.0312), "3.1\u{a0}%");
        assert_eq!(format_share(0.824), "82\u{a0}%");
    }
}
