//! Values from the histograms of a record: percentiles, and the curve through all of them.

use fathom_stats::{BEYOND_PERCENTILE, percentile_of_steps};

/// Points of a curve per factor of ten: more can't be distinguished.
const POINTS_A_DECADE: f64 = 40.0;

/// Each step of a histogram in ascending order: its upper end in nanoseconds, and its number of values.
pub(super) type Steps = [(u64, u64)];

/// Returns the number of values.
pub(super) fn count(steps: &Steps) -> u64 {
    steps.iter().map(|(_, values)| values).sum()
}

/// Returns the value, in seconds, that a share `q` of all values doesn't exceed; `None` if too few are beyond
/// it.
pub(super) fn percentile(steps: &Steps, q: f64) -> Option<f64> {
    percentile_of_steps(steps, q).map(seconds)
}

/// Returns the largest value, in seconds.
pub(super) fn largest(steps: &Steps) -> Option<f64> {
    steps.last().map(|(ns, _)| seconds(*ns))
}

/// Returns the position 1/(1-q) of each percentile and its value in seconds. The curve ends where fewer than
/// ten values are beyond the percentile: from there on, a single value changes it.
pub(super) fn curve(steps: &Steps) -> Vec<(f64, f64)> {
    let count = count(steps);
    let Some((first, _)) = steps.first() else {
        return Vec::new();
    };
    let mut points = vec![(1.0, seconds(*first))];
    let (mut below, mut last) = (0, None);
    for (ns, values) in steps {
        below += values;
        let beyond = count - below;
        if beyond < BEYOND_PERCENTILE {
            break;
        }
        let point = (count as f64 / beyond as f64, seconds(*ns));
        let drawn = points[points.len() - 1].0;
        if (point.0 / drawn).log10() * POINTS_A_DECADE >= 1.0 {
            points.push(point);
            last = None;
        } else {
            last = Some(point);
        }
    }
    points.extend(last);
    points
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a histogram of the values 1 to 1000 µs, each of which occurs once.
    fn even() -> Vec<(u64, u64)> {
        (1..=1000).map(|us| (us * 1000, 1)).collect()
    }

    #[test]
    fn percentiles_are_those_of_the_values_or_none() {
        let steps = even();
        assert_eq!(percentile(&steps, 0.5), Some(500e-6));
        assert_eq!(percentile(&steps, 0.99), Some(990e-6));
        assert_eq!(percentile(&steps, 0.999), None);
        assert_eq!(largest(&steps), Some(1000e-6));
        assert_eq!((percentile(&[], 0.5), largest(&[])), (None, None));
    }

    #[test]
    fn a_curve_rises_holds_the_percentiles_and_ends_where_ten_values_are_left() {
        let points = curve(&even());
        assert!(points.len() < 100, "{}", points.len());
        let rises = |two: &[(f64, f64)]| two[0].0 < two[1].0 && two[0].1 < two[1].1;
        assert!(points.windows(2).all(rises), "{points:?}");
        assert_eq!(points.first(), Some(&(1.0, 1e-6)));
        assert_eq!(points.last(), Some(&(100.0, 990e-6)));
        for (place, value) in points {
            let share = 1.0 - 1.0 / place;
            assert!((share * 1e-3 - value).abs() < 2e-6, "{place}: {value}");
        }
        assert_eq!(curve(&[(5, 3)]), [(1.0, 5e-9)]);
        assert_eq!(curve(&[]), []);
    }
}
