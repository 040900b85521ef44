//! How many digits of an estimate mean something?

use fathom_model::Estimate;

/// Fewest and most significant digits that are printed.
const RANGE: (i32, i32) = (2, 6);
/// Digits of an estimate whose interval says nothing of its precision (a single run).
const UNKNOWN: usize = 3;

/// Significant digits that the interval supports, 2 to 6: the last printed digit is between a tenth
/// of the half-width and the whole of it. Three when the level is 0 (a single run).
///
/// ```
/// use fathom_model::Estimate;
/// let estimate = Estimate { value: 1.20437, low: 1.2021, high: 1.2071, level: 0.95 };
/// assert_eq!(fathom_stats::significant_digits(&estimate), 4); // 1.204: half-width 0.0025
/// ```
pub fn significant_digits(estimate: &Estimate) -> usize {
    let half_width = (estimate.high - estimate.low) / 2.0;
    let value = estimate.value.abs();
    if estimate.level <= 0.0 || !half_width.is_finite() || !value.is_finite() {
        return UNKNOWN;
    }
    if value == 0.0 {
        return RANGE.0 as usize;
    }
    if half_width <= 0.0 {
        return RANGE.1 as usize;
    }
    let digits = exponent(value) - exponent(half_width) + 1;
    digits.clamp(RANGE.0, RANGE.1) as usize
}

/// Power of ten of the first significant digit.
fn exponent(value: f64) -> i32 {
    value.log10().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(value: f64, half_width: f64) -> usize {
        let (low, high) = (value - half_width, value + half_width);
        significant_digits(&Estimate {
            value,
            low,
            high,
            level: 0.95,
        })
    }

    #[test]
    fn the_last_digit_is_a_tenth_to_the_whole_of_the_half_width() {
        assert_eq!(digits(1.204, 0.0025), 4);
        assert_eq!(digits(1.204, 0.009), 4);
        assert_eq!(digits(1.204, 0.011), 3);
        assert_eq!(digits(123.4, 2.0), 3);
        assert_eq!(digits(0.000_567_8, 0.000_001_5), 3);
    }

    #[test]
    fn never_fewer_than_two_nor_more_than_six() {
        assert_eq!(digits(1.0, 5.0), 2);
        assert_eq!(digits(1.0, 1e-12), 6);
        assert_eq!(digits(1.0, 0.0), 6);
        assert_eq!(digits(0.0, 1.0), 2);
        let single = Estimate {
            value: 1.5,
            low: 1.5,
            high: 1.5,
            level: 0.0,
        };
        assert_eq!(significant_digits(&single), 3);
    }
}
