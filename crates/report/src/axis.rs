//! Where a number stands on an axis, and which numbers are written beside it.

/// One axis of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Whether only whole numbers are written.
    whole: bool,
    /// Where `low` and `high` stand in the picture.
    from: f64,
    to: f64,
}

impl Axis {
    /// From the least to the largest of `values`, in powers of two: for sizes and numbers of
    /// threads, which are tried in such steps.
    pub(crate) fn powers(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = range(values);
        Axis {
            low: low.max(f64::MIN_POSITIVE),
            high: high.max(low * 2.0),
            logarithmic: true,
            whole: true,
            from,
            to,
        }
    }

    /// From a little below the least to a little above the largest of positive `values`, in powers
    /// of ten: for figures of things that differ by much.
    pub(crate) fn decades(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = range(values);
        Axis {
            low: low / 1.15,
            high: high * 1.15,
            logarithmic: true,
            whole: false,
            from,
            to,
        }
    }

    /// From zero to a round number above the largest.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (_, high) = range(values);
        let step = step(high);
        Axis {
            low: 0.0,
            high: ((high / step).ceil() * step).max(step),
            logarithmic: false,
            whole: false,
            from,
            to,
        }
    }

    /// From the least to the largest, evenly: for numbers of things, which have no halves.
    pub(crate) fn even(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = range(values);
        Axis {
            low,
            high: if high > low { high } else { low + 1.0 },
            logarithmic: false,
            whole: true,
            from,
            to,
        }
    }

    /// The place of `value` in the picture; beyond the ends it stays at the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Whether `value` lies on the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Numbers that are written: at most some eight; in decades 1, 2 and 5 times each power of ten.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic {
            let step = match self.whole {
                true => step(self.high - self.low).max(1.0),
                false => step(self.high - self.low),
            };
            let first = (self.low / step).ceil() as i64;
            let last = (self.high / step + 1e-9).floor() as i64;
            return (first..=last).map(|i| i as f64 * step).collect();
        }
        if !self.whole {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let all = decades.flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * 10f64.powi(power)));
            return all.filter(|tick| self.holds(*tick)).collect();
        }
        let (first, last) = (
            self.low.log2().ceil() as i32,
            self.high.log2().floor() as i32,
        );
        let every = ((last - first) / 8 + 1) as usize;
        (first..=last)
            .step_by(every)
            .map(|power| f64::from(power).exp2())
            .collect()
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), value| {
        (value.min(low), value.max(high))
    })
}

/// 1, 2 or 5 times a power of ten, so that some five steps make `length`.
fn step(length: f64) -> f64 {
    let rough = (length / 5.0).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= rough)
        .unwrap_or(10.0);
    factor * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_the_round_end_stand_at_the_ends() {
        let axis = Axis::from_zero([3.0, 118.0].into_iter(), 200.0, 0.0);
        assert_eq!(axis.place(0.0), 200.0);
        assert_eq!(axis.place(150.0), 0.0);
        assert_eq!(axis.ticks(), [0.0, 50.0, 100.0, 150.0]);
    }

    #[test]
    fn doubling_is_the_same_distance_everywhere() {
        let axis = Axis::powers([4096.0, 65536.0].into_iter(), 0.0, 400.0);
        assert_eq!(axis.place(8192.0).round(), 100.0);
        assert_eq!(axis.place(65536.0).round(), 400.0);
        assert_eq!(axis.ticks().len(), 5);
        assert!(!axis.holds(1.0) && axis.holds(5000.0));
    }

    #[test]
    fn decades_have_round_ticks_and_keep_their_order() {
        let axis = Axis {
            low: 0.3,
            high: 30.0,
            logarithmic: true,
            whole: false,
            from: 270.0,
            to: 16.0,
        };
        assert_eq!(axis.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert!(axis.place(1.0) > axis.place(2.0), "more is higher up");
        assert!(axis.place(0.3) <= 270.0 && axis.place(30.0) >= 16.0 - 1e-9);
    }

    #[test]
    fn numbers_of_threads_have_no_halves() {
        let axis = Axis::even([1.0, 2.0].into_iter(), 0.0, 1.0);
        assert_eq!(axis.ticks(), [1.0, 2.0]);
    }

    #[test]
    fn one_value_makes_an_axis() {
        for axis in [
            Axis::powers([1.0].into_iter(), 0.0, 1.0),
            Axis::even([1.0].into_iter(), 0.0, 1.0),
            Axis::from_zero([0.0].into_iter(), 0.0, 1.0),
        ] {
            assert!(axis.place(1.0).is_finite());
            assert!(axis.ticks().len() < 12);
        }
    }
}
