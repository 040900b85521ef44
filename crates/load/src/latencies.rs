//! Durations of many requests in little memory.

use hdrhistogram::Histogram;

/// The longest distinguishable duration: one hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Three digits: no value is off by more than 0.1 %.
const DIGITS: u8 = 3;
/// Minimum number of values beyond a percentile: with fewer, a single value would move it.
const BEYOND: f64 = 10.0;

/// An HDR histogram of nanoseconds. Its size grows with the largest value, to at most 0.3 MB, regardless of
/// the number of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    histogram: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies::new()
    }
}

impl Latencies {
    /// Creates an empty histogram. Its memory is allocated up front, so that nothing is allocated while
    /// requests are under way.
    pub fn new() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Latencies {
            // These bounds are valid, and so is the smallest histogram as a fallback.
            histogram: histogram.unwrap_or_else(|_| Histogram::new_with_max(2, 1).expect("fixed")),
        }
    }

    /// Adds a duration in nanoseconds; more than an hour counts as an hour.
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns.max(1));
    }

    /// Adds all values of another histogram.
    pub fn add(&mut self, other: &Latencies) {
        // Both have the same bounds.
        let _ = self.histogram.add(&other.histogram);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the arithmetic mean in nanoseconds; 0 if there are no values.
    pub fn mean(&self) -> f64 {
        self.histogram.mean()
    }

    /// Returns the largest value in nanoseconds.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.max())
    }

    /// Returns the smallest value in nanoseconds.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.min())
    }

    /// Returns the duration in nanoseconds that a share `q` (0 to 1) of all values doesn't exceed; `None` if
    /// fewer than ten values are beyond it.
    pub fn percentile(&self, q: f64) -> Option<u64> {
        // The rounding error of this sum must not reject a percentile that exactly 10,000 values support.
        let beyond = self.count() as f64 * (1.0 - q);
        (beyond >= BEYOND - 1e-6).then(|| self.histogram.value_at_quantile(q))
    }

    /// Returns the non-empty buckets in ascending order: largest value and count. Used to draw curves and to
    /// read the histogram back.
    pub fn steps(&self) -> Vec<(u64, u64)> {
        let steps = self.histogram.iter_recorded();
        steps
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect()
    }
}

/// Returns the number of values that a percentile needs.
pub fn needed_for(q: f64) -> u64 {
    (BEYOND / (1.0 - q) - 1e-6).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_without_enough_values_are_not_known() {
        let mut latencies = Latencies::new();
        (1..1000).for_each(|us| latencies.record(us * 1000));
        assert!(latencies.percentile(0.9).is_some());
        assert_eq!(latencies.percentile(0.99), None);
        latencies.record(1_000_000);
        let p99 = latencies.percentile(0.99).unwrap();
        assert!(p99.abs_diff(990_000) <= 990, "{p99}");
        assert_eq!(latencies.percentile(0.999), None);
        assert_eq!((needed_for(0.99), needed_for(0.999)), (1000, 10_000));
        assert_eq!(Latencies::new().percentile(0.5), None);
        assert_eq!(Latencies::new().max(), None);
    }

    #[test]
    fn seconds_that_are_merged_are_as_one_that_saw_all() {
        let (mut whole, mut merged) = (Latencies::new(), Latencies::new());
        for second in 0..5u64 {
            let mut part = Latencies::new();
            for i in 1..2000 {
                let ns = i * i * (second + 1);
                part.record(ns);
                whole.record(ns);
            }
            merged.add(&part);
        }
        assert_eq!(merged, whole);
        assert_eq!(merged.steps().iter().map(|(_, n)| n).sum::<u64>(), 5 * 1999);
    }

    #[test]
    fn absurd_values_are_kept_at_the_ends() {
        let mut latencies = Latencies::new();
        [0, u64::MAX]
            .into_iter()
            .for_each(|ns| latencies.record(ns));
        assert_eq!(latencies.count(), 2);
        assert_eq!(latencies.min(), Some(1));
        assert!(latencies.max().unwrap() >= LONGEST_NS);
    }
}
