//! Determines how many digits of a number are meaningful.

use super::digits::{decimals_for, digits_before_point};
use crate::Estimate;

/// The maximum number of significant digits printed: five distinguish 1 in 100,000.
const MOST_DIGITS: i32 = 6;
/// The minimum number of significant digits printed, so that a wide interval doesn't reduce a value to its
/// magnitude.
const FEWEST_DIGITS: i32 = 2;

/// Returns the number of decimals that the interval of `estimate` supports when it is written in units of
/// `unit` (in the estimate's own unit, for example 0.001 for milliseconds).
///
/// The width of the interval gets two digits if it begins with 1, 2 or 3, otherwise one: the rule by which
/// physicists round uncertainties (Particle Data Group, section 5.3), here with the cut at 3.55.
///
/// ```
/// use fathom_model::Estimate;
/// let estimate = Estimate { value: 0.00120437, low: 0.0012021, high: 0.0012071, level: 0.95 };
/// assert_eq!(fathom_model::quantity::supported_decimals(&estimate, 0.001), 3); // 1.204 ms: width 0.005
/// ```
pub fn supported_decimals(estimate: &Estimate, unit: f64) -> usize {
    let value = (estimate.value / unit).abs();
    let width = ((estimate.high - estimate.low) / unit).abs();
    if !width.is_finite() || !value.is_finite() || width <= 0.0 {
        // A level of 0 means a single run, whose precision is unknown.
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
}
