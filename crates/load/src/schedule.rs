//! The times at which requests are sent.

/// The distribution of an open loop's intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal intervals.
    Constant,
    /// As from very many independent clients: exponential intervals, fully determined by the seed.
    Poisson(u64),
}

/// Requests per second at the beginning and at the end of an open loop, linear in between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Rate at the beginning.
    pub from: f64,
    /// Rate at the end.
    pub to: f64,
}

impl Rate {
    /// Returns a constant rate.
    pub fn constant(rate: f64) -> Rate {
        Rate {
            from: rate,
            to: rate,
        }
    }

    /// Returns the rate of each of `sharers` clients that share this rate.
    pub fn among(self, sharers: u32) -> Rate {
        let part = |rate: f64| rate / f64::from(sharers.max(1));
        Rate {
            from: part(self.from),
            to: part(self.to),
        }
    }

    /// Returns the rate after this fraction (0 to 1) of the duration.
    pub fn after(self, part: f64) -> f64 {
        self.from + (self.to - self.from) * part
    }

    /// Returns after how many nanoseconds `requests` requests have been due, if the rate changes over
    /// `length` nanoseconds; infinite if that never happens.
    fn moment(self, requests: f64, length: f64) -> f64 {
        if requests <= 0.0 {
            return 0.0;
        }
        if self.from == self.to {
            return requests * (1e9 / self.from);
        }
        // The number of requests up to t is from * t + growth / 2 * t^2.
        let growth = (self.to - self.from) / (length / 1e9);
        let root = (self.from * self.from + 2.0 * growth * requests).sqrt();
        let seconds = 2.0 * requests / (self.from + root);
        match seconds.is_finite() {
            true => seconds * 1e9,
            false => f64::INFINITY,
        }
    }

    fn is_usable(self) -> bool {
        let rates = [self.from, self.to];
        rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0) && self.from + self.to > 0.0
    }
}

/// The intended times of an open loop, in nanoseconds of the caller's clock. The loop is open because the
/// outcomes of the requests don't change these times.
#[derive(Debug, Clone)]
pub struct Schedule {
    begin: u64,
    end: u64,
    rate: Rate,
    random: Option<u64>,
    /// Number of requests after which the next one is due: whole numbers plus this schedule's turn, or random
    /// numbers for random arrivals.
    due: f64,
    /// Offset of the next time from the beginning, in nanoseconds.
    offset: f64,
}

impl Schedule {
    /// Returns the schedule at `rate` per second from `begin` on, with all times before `end`. A rate that is
    /// not positive gives an empty schedule.
    pub fn new(rate: f64, begin: u64, end: u64, arrivals: Arrivals) -> Schedule {
        Schedule::growing(Rate::constant(rate), 0.0, begin, end, arrivals)
    }

    /// Returns a schedule at a rate that may change. With constant arrivals, the first request is due after a
    /// fraction `turn` (0 to 1) of an interval, so schedules that share a rate can alternate.
    pub fn growing(rate: Rate, turn: f64, begin: u64, end: u64, arrivals: Arrivals) -> Schedule {
        let mut schedule = Schedule {
            begin,
            end,
            rate,
            random: match arrivals {
                Arrivals::Constant => None,
                Arrivals::Poisson(seed) => Some(seed),
            },
            due: 0.0,
            offset: f64::INFINITY,
        };
        if rate.is_usable() {
            schedule.due = match schedule.random {
                None => turn,
                Some(_) => schedule.distance(),
            };
            schedule.place();
        }
        schedule
    }

    /// Returns the next time without advancing; `None` after the last.
    pub fn peek(&self) -> Option<u64> {
        // `as` saturates: an infinite offset is beyond every end.
        let at = self.begin.saturating_add(self.offset as u64);
        (at < self.end).then_some(at)
    }

    /// Returns the next time if it is not after `now`, and advances.
    pub fn due(&mut self, now: u64) -> Option<u64> {
        let at = self.peek().filter(|at| *at <= now)?;
        // Adding whole numbers is exact; a sum of time intervals would give a wrong rate after millions of
        // them.
        self.due += self.distance();
        self.place();
        Some(at)
    }

    fn place(&mut self) {
        let length = self.end.saturating_sub(self.begin) as f64;
        self.offset = self.rate.moment(self.due, length);
    }

    /// Returns the distance to the next request, as a number of requests: exactly 1, or 1 on average for
    /// random arrivals.
    fn distance(&mut self) -> f64 {
        self.random
            .as_mut()
            .map_or(1.0, |state| -(1.0 - uniform(state)).ln())
    }
}

/// Returns a number from 0 to below 1 by SplitMix64 (Steele, Lea and Flood 2014): eight bytes of state, the
/// same numbers on every machine.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut schedule: Schedule) -> Vec<u64> {
        std::iter::from_fn(|| schedule.due(u64::MAX)).collect()
    }

    #[test]
    fn a_constant_schedule_neither_drifts_nor_loses_one() {
        let moments = all(Schedule::new(
            3000.0,
            7,
            7 + 10_000_000_000,
            Arrivals::Constant,
        ));
        assert_eq!(moments.len(), 30_000);
        assert_eq!((moments[0], moments[29_997]), (7, 7 + 9_999_000_000));
    }

    #[test]
    fn moments_come_no_earlier_than_they_are_due() {
        let mut schedule = Schedule::new(10.0, 0, 1_000_000_000, Arrivals::Constant);
        assert_eq!(schedule.due(0), Some(0));
        assert_eq!(schedule.due(99_999_999), None);
        assert_eq!(schedule.peek(), Some(100_000_000));
        assert_eq!(schedule.due(100_000_000), Some(100_000_000));
    }

    #[test]
    fn a_poisson_schedule_has_the_rate_and_exponential_distances() {
        let moments = all(Schedule::new(
            10_000.0,
            0,
            10_000_000_000,
            Arrivals::Poisson(40),
        ));
        // 100,000 expected; four standard deviations are 1,265.
        assert!(moments.len().abs_diff(100_000) < 1_265, "{}", moments.len());
        let distances: Vec<u64> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // 1 - 1/e of exponential intervals are below their mean, 100 µs.
        let below = distances.iter().filter(|ns| **ns < 100_000).count() as f64;
        let share = below / distances.len() as f64;
        assert!((share - 0.632).abs() < 0.01, "{share}");
        let again = all(Schedule::new(
            10_000.0,
            0,
            10_000_000_000,
            Arrivals::Poisson(40),
        ));
        assert_eq!(moments, again);
    }

    #[test]
    fn a_growing_rate_has_as_many_moments_as_the_line_has_below_it() {
        let ramp = |from, to| Rate { from, to };
        let of =
            |rate, turn, arrivals| all(Schedule::growing(rate, turn, 0, 10_000_000_000, arrivals));
        let moments = of(ramp(100.0, 2000.0), 0.0, Arrivals::Constant);
        assert!(moments.len().abs_diff(10_500) <= 1, "{}", moments.len());
        // The rate in the first and in the last second is the mean of the line within that second.
        let within = |moments: &[u64], second: u64| {
            let inside = |at: &&u64| **at / 1_000_000_000 == second;
            moments.iter().filter(inside).count()
        };
        assert!(
            within(&moments, 0).abs_diff(195) <= 1,
            "{}",
            within(&moments, 0)
        );
        assert!(
            within(&moments, 9).abs_diff(1905) <= 1,
            "{}",
            within(&moments, 9)
        );
        assert!(moments.is_sorted());
        // From zero: half of 1000/s over 10 s.
        let from_zero = of(ramp(0.0, 1000.0), 0.0, Arrivals::Constant);
        assert!(from_zero.len().abs_diff(5000) <= 1, "{}", from_zero.len());
        // Two clients that share the rate send as many as one would.
        let half = ramp(100.0, 2000.0).among(2);
        let mut both = of(half, 0.0, Arrivals::Constant);
        both.extend(of(half, 0.5, Arrivals::Constant));
        both.sort_unstable();
        let apart = both.iter().zip(&moments).map(|(a, b)| a.abs_diff(*b));
        assert!(both.len().abs_diff(moments.len()) <= 1 && apart.max() < Some(1000));
        // At random: four standard deviations of 10,500 are 410.
        let random = of(ramp(100.0, 2000.0), 0.0, Arrivals::Poisson(9));
        assert!(random.len().abs_diff(10_500) < 410, "{}", random.len());
    }

    #[test]
    fn a_rate_of_nothing_has_no_moments() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(all(Schedule::new(rate, 0, u64::MAX, Arrivals::Constant)).is_empty());
        }
    }
}
