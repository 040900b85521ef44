//! Durations of many requests, in little memory.

use hdrhistogram::Histogram;

/// The longest time that is told apart from longer ones: one hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Three digits: no value is off by more than 0.1 %.
const DIGITS: u8 = 3;
/// A percentile rests on at least this many values beyond it: with fewer, one value more or less
/// moves it.
const BEYOND: f64 = 10.0;

/// An HDR histogram of nanoseconds. Its size grows with the largest value, to at most 0.3 MB,
/// however many there are.
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
    /// Empty; has its memory already, so that nothing is allocated while requests are under way.
    pub fn new() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Latencies {
            // These bounds are right; the smallest histogram that could replace them is as well.
            histogram: histogram.unwrap_or_else(|_| Histogram::new_with_max(2, 1).expect("fixed")),
        }
    }

    /// Adds a duration; longer ones than an hour count as an hour.
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns.max(1));
    }

    /// Adds all of another one.
    pub fn add(&mut self, other: &Latencies) {
        // Both have the same bounds.
        let _ = self.histogram.add(&other.histogram);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Arithmetic mean in nanoseconds; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.histogram.mean()
    }

    /// The largest, in nanoseconds.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.max())
    }

    /// The smallest, in nanoseconds.
    pub fn min(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.min())
    }

    /// The value that a share `q` (0 to 1) of all don't exceed, in nanoseconds; `None` where fewer
    /// than ten lie beyond it.
    pub fn percentile(&self, q: f64) -> Option<u64> {
        // A sum of rounding errors must not take away what 10,000 values exactly support.
        let beyond = self.count() as f64 * (1.0 - q);
        (beyond >= BEYOND - 1e-6).then(|| self.histogram.value_at_quantile(q))
    }

    /// The filled steps: largest value and count, rising. For curves, and to be read again.
    pub fn steps(&self) -> Vec<(u64, u64)> {
        let steps = self.histogram.iter_recorded();
        steps
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect()
    }
}

/// How many values a percentile takes.
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
