//! Divides the time among the figures, so that all of them end within the requested time.

use std::time::{Duration, Instant};

/// The time at which the rounds of a figure end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    ends: Instant,
}

impl Share {
    /// Creates a share that starts now.
    pub(crate) fn of(time: Duration) -> Share {
        Share {
            ends: Instant::now() + time,
        }
    }

    /// Returns the share of one of several parts in the remaining time. `weight` is the part's own weight,
    /// and `left` is that of all remaining parts, including this one.
    pub(crate) fn part(self, weight: f64, left: f64) -> Share {
        let rest = self.ends.saturating_duration_since(Instant::now());
        Share::of(rest.mul_f64((weight / left).clamp(0.0, 1.0)))
    }

    /// Returns the numbers of the rounds. There are at least `fewest` and at most `most`; in between, another
    /// round follows if it is likely to end in time.
    pub(crate) fn rounds(self, most: usize, fewest: usize) -> Rounds {
        Rounds {
            ends: self.ends,
            began: Instant::now(),
            done: 0,
            most,
            fewest,
        }
    }
}

/// The iterator returned by [`Share::rounds`].
#[derive(Debug)]
pub(crate) struct Rounds {
    ends: Instant,
    began: Instant,
    done: usize,
    most: usize,
    fewest: usize,
}

impl Iterator for Rounds {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let elapsed = self.began.elapsed();
        let each = elapsed.div_f64(self.done.max(1) as f64);
        let in_time = self.began + elapsed + each <= self.ends;
        if self.done >= self.most || (self.done >= self.fewest && !in_time) {
            return None;
        }
        self.done += 1;
        Some(self.done - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn without_time_there_are_the_fewest_rounds_and_with_it_the_most() {
        assert_eq!(Share::of(Duration::ZERO).rounds(10, 3).count(), 3);
        assert_eq!(Share::of(LONG).rounds(10, 3).count(), 10);
        assert_eq!(Share::of(LONG).rounds(2, 3).count(), 2);
    }

    #[test]
    fn a_part_gets_its_weight_of_what_is_left() {
        let half = Share::of(LONG).part(2.0, 4.0);
        let left = half.ends.saturating_duration_since(Instant::now());
        assert!(left > LONG / 2 - Duration::from_secs(60) && left <= LONG / 2);
        assert_eq!(
            Share::of(Duration::ZERO)
                .part(1.0, 1.0)
                .rounds(9, 1)
                .count(),
            1
        );
    }
}
