//! When should each request be sent?

/// How the moments of an open loop follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    Constant,
    /// As from very many independent clients: distances are exponential. The seed decides all.
    Poisson(u64),
}

/// The intended moments of an open loop, in nanoseconds of the caller's clock. Nothing that happens
/// to the requests changes them: that is what makes the loop open.
#[derive(Debug, Clone)]
pub struct Schedule {
    begin: u64,
    end: u64,
    interval: f64,
    arrivals: Random,
    made: u64,
    /// Distance of the next moment from the begin, in nanoseconds.
    offset: f64,
}

#[derive(Debug, Clone)]
enum Random {
    Constant,
    Poisson(u64),
}

impl Schedule {
    /// Moments at `rate` per second from `begin` on, all of them before `end`. A rate that is not
    /// positive has none.
    pub fn new(rate: f64, begin: u64, end: u64, arrivals: Arrivals) -> Schedule {
        let usable = rate > 0.0 && rate.is_finite();
        let interval = if usable { 1e9 / rate } else { f64::INFINITY };
        let mut schedule = Schedule {
            begin,
            end,
            interval,
            arrivals: match arrivals {
                Arrivals::Constant => Random::Constant,
                Arrivals::Poisson(seed) => Random::Poisson(seed),
            },
            made: 0,
            offset: if usable { 0.0 } else { f64::INFINITY },
        };
        if usable && let Arrivals::Poisson(_) = arrivals {
            schedule.offset = schedule.distance();
        }
        schedule
    }

    /// The next moment, which stays the next; `None` after the last.
    pub fn peek(&self) -> Option<u64> {
        // `as` saturates: an infinite offset lies behind every end.
        let at = self.begin.saturating_add(self.offset as u64);
        (at < self.end).then_some(at)
    }

    /// The next moment if it is not after `now`.
    pub fn due(&mut self, now: u64) -> Option<u64> {
        let at = self.peek().filter(|at| *at <= now)?;
        self.made += 1;
        self.offset = match self.arrivals {
            // Not by adding up: rounding errors of millions of steps would be a wrong rate.
            Random::Constant => self.made as f64 * self.interval,
            Random::Poisson(_) => self.offset + self.distance(),
        };
        Some(at)
    }

    fn distance(&mut self) -> f64 {
        match &mut self.arrivals {
            Random::Constant => self.interval,
            Random::Poisson(state) => -(1.0 - uniform(state)).ln() * self.interval,
        }
    }
}

/// 0 to below 1 by SplitMix64 (Steele, Lea and Flood 2014): eight bytes of state, the same numbers
/// on every machine.
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
        // 1 - 1/e of exponential distances are below their mean, 100 µs.
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
    fn a_rate_of_nothing_has_no_moments() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(all(Schedule::new(rate, 0, u64::MAX, Arrivals::Constant)).is_empty());
        }
    }
}
