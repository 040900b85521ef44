//! Maps numbers to positions on an axis, and chooses the round numbers shown next to it.

use fathom_model::Unit;

use crate::quantity::{ByteUnit, TimeUnit, format_count};

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Whether only whole numbers are shown.
    whole: bool,
    /// The positions of `low` and `high` in the chart.
    from: f64,
    to: f64,
}

/// Numbers shown next to an axis, with their text.
pub(crate) type Ticks = Vec<(f64, String)>;

/// The maximum number of ticks: on a narrow page, more would overlap.
const MOST_TICKS: usize = 7;
/// Times that differ by more than this factor are shown on a logarithmic scale.
const FAR_APART: f64 = 20.0;

impl Axis {
    /// Creates an axis from the smallest to the largest of `values`, in powers of two: for sizes and numbers
    /// of threads, which are tried in such steps.
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

    /// Creates an axis from slightly below the smallest to slightly above the largest of positive `values`,
    /// in powers of ten: for figures that differ by much.
    pub(crate) fn decades(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = range(values.filter(|value| *value > 0.0));
        let low = if low.is_finite() { low } else { 1.0 };
        Axis {
            low: low / 1.15,
            high: high.max(low) * 1.15,
            logarithmic: true,
            whole: false,
            from,
            to,
        }
    }

    /// Creates an axis from slightly below the smallest to slightly above the largest value: for samples. It
    /// is in powers of ten if they are far apart.
    pub(crate) fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = range(values);
        let low = if low.is_finite() { low } else { 0.0 };
        if low > 0.0 && high > low * FAR_APART {
            return Axis::decades([low, high].into_iter(), from, to);
        }
        let margin = match high > low {
            true => 0.04 * (high - low),
            // A single value needs some space on both sides.
            false => 0.05 * high.abs().max(f64::MIN_POSITIVE),
        };
        Axis {
            low: if low >= 0.0 {
                (low - margin).max(0.0)
            } else {
                low - margin
            },
            high: high + margin,
            logarithmic: false,
            whole: false,
            from,
            to,
        }
    }

    /// Creates an axis from zero to a round number above the largest value.
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

    /// Creates an axis from zero to the end of the data, which need not be round: for timelines.
    pub(crate) fn of_time(end: f64, from: f64, to: f64) -> Axis {
        Axis {
            low: 0.0,
            high: end.max(f64::MIN_POSITIVE),
            logarithmic: false,
            whole: false,
            from,
            to,
        }
    }

    /// Creates an axis from the smallest to the largest value, evenly spaced: for counts, which have no
    /// fractions.
    pub(crate) fn even(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) = range(values);
        let low = if low.is_finite() { low } else { 0.0 };
        Axis {
            low,
            high: if high > low { high } else { low + 1.0 },
            logarithmic: false,
            whole: true,
            from,
            to,
        }
    }

    /// Returns the position of `value` in the chart; values beyond the ends are clamped.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Reports whether the axis is logarithmic: equal distances are equal ratios.
    pub(crate) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Reports whether `value` is within the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns the round numbers to show, at most seven; on a logarithmic axis, 1, 2 and 5 times each power
    /// of ten.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match (self.logarithmic, self.whole) {
            (false, _) => self.even_ticks(),
            (true, false) => self.decade_ticks(),
            (true, true) => {
                let first = self.low.log2().ceil() as i32;
                let last = self.high.log2().floor() as i32;
                every_nth((first..=last).map(|power| f64::from(power).exp2()))
            }
        }
    }

    fn even_ticks(&self) -> Vec<f64> {
        let step = match self.whole {
            true => step(self.high - self.low).max(1.0),
            false => step(self.high - self.low),
        };
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|i| i as f64 * step).collect()
    }

    fn decade_ticks(&self) -> Vec<f64> {
        let decades = || self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let fine = decades().flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * 10f64.powi(power)));
        let fine: Vec<f64> = fine.filter(|tick| self.holds(*tick)).collect();
        match fine.len() {
            0 | 1 => self.even_ticks(),
            2..=MOST_TICKS => fine,
            _ => every_nth(
                decades()
                    .map(|power| 10f64.powi(power))
                    .filter(|t| self.holds(*t)),
            ),
        }
    }

    /// Returns the ticks with their text.
    pub(crate) fn written(&self, write: impl Fn(f64) -> String) -> Ticks {
        let ticks = self.ticks().into_iter();
        ticks.map(|tick| (tick, write(tick))).collect()
    }

    /// Returns the ticks as plain numbers, each with `suffix`.
    pub(crate) fn numbers(&self, suffix: &str) -> Ticks {
        let ticks = self.ticks();
        let step = ticks
            .windows(2)
            .map(|two| two[1] - two[0])
            .fold(f64::INFINITY, f64::min);
        let decimals = match step.is_finite() {
            true => (-step.log10() - 1e-6).ceil().clamp(0.0, 9.0) as usize,
            false => 2,
        };
        let ticks = ticks.into_iter();
        ticks
            .map(|tick| (tick, format!("{tick:.decimals$}{suffix}")))
            .collect()
    }

    /// Returns the ticks of a metric's values, with their unit.
    pub(crate) fn of(&self, unit: Unit) -> Ticks {
        match unit {
            Unit::Seconds => self.times(),
            Unit::Bytes => self.bytes(),
            Unit::Count => self.written(format_count),
        }
    }

    /// Returns the ticks of an axis of bytes, round in the unit of the largest.
    fn bytes(&self) -> Ticks {
        let unit = ByteUnit::fitting(self.high);
        let scaled = Axis {
            low: self.low / unit.bytes,
            high: self.high / unit.bytes,
            ..self.clone()
        };
        let ticks = scaled.numbers(&format!(" {}", unit.symbol)).into_iter();
        ticks
            .map(|(tick, text)| (tick * unit.bytes, text))
            .collect()
    }

    /// Returns the ticks of an axis of seconds: in one unit, or each tick in its own unit if they are far
    /// apart.
    pub(crate) fn times(&self) -> Ticks {
        let ticks = self.ticks();
        let largest = ticks.iter().copied().fold(0.0, f64::max);
        let step = ticks
            .windows(2)
            .map(|two| two[1] - two[0])
            .fold(f64::INFINITY, f64::min);
        let step = if step.is_finite() { step } else { largest };
        let write = |tick: &f64| {
            let (unit, step) = match self.logarithmic {
                true => (TimeUnit::fitting(*tick), *tick),
                false => (TimeUnit::fitting(largest), step),
            };
            if *tick == 0.0 {
                return "0".to_owned();
            }
            // 0.1 minus a rounding error has one decimal, not two.
            let decimals = -(step / unit.seconds()).log10() - 1e-6;
            let decimals = decimals.ceil().clamp(0.0, 9.0) as usize;
            format!("{:.decimals$} {}", tick / unit.seconds(), unit.symbol())
        };
        ticks.iter().map(|tick| (*tick, write(tick))).collect()
    }
}

/// Thins `all` to as many ticks as there is space for.
fn every_nth(all: impl Iterator<Item = f64>) -> Vec<f64> {
    let all: Vec<f64> = all.collect();
    let every = all.len().div_ceil(MOST_TICKS).max(1);
    all.into_iter().step_by(every).collect()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, 0.0), |(low, high), value| {
        (value.min(low), value.max(high))
    })
}

/// Returns 1, 2 or 5 times a power of ten, so that about five steps make up `length`.
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
    fn times_are_round_and_in_one_unit_unless_they_are_far_apart() {
        let texts = |axis: Axis| -> Vec<String> {
            axis.times().into_iter().map(|(_, text)| text).collect()
        };
        let near = Axis::around([0.1203, 0.1297].into_iter(), 0.0, 100.0);
        assert_eq!(texts(near), ["120 ms", "125 ms", "130 ms"]);
        let small = Axis::around([0.984e-3, 1.18e-3].into_iter(), 0.0, 100.0);
        assert_eq!(texts(small), ["1.00 ms", "1.05 ms", "1.10 ms", "1.15 ms"]);
        let run = Axis::of_time(1.73, 0.0, 100.0);
        assert_eq!(texts(run), ["0", "0.5 s", "1.0 s", "1.5 s"]);
        let far = Axis::around([0.0004, 0.02].into_iter(), 0.0, 100.0);
        assert_eq!(
            texts(far),
            ["500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]
        );
    }

    #[test]
    fn bytes_are_round_in_their_unit() {
        let near = Axis::around([4.1e6, 9.7e6].into_iter(), 0.0, 100.0);
        let texts: Vec<String> = near.of(Unit::Bytes).into_iter().map(|t| t.1).collect();
        assert_eq!(texts, ["4 MiB", "6 MiB", "8 MiB"]);
        let places = near.of(Unit::Bytes);
        assert_eq!(places[0].0, 4.0 * 1_048_576.0);
        assert!(places.iter().all(|(tick, _)| near.holds(*tick)));
    }

    #[test]
    fn a_wide_range_has_no_more_ticks_than_a_narrow_one() {
        for axis in [
            Axis::decades([1e-6, 1e7].into_iter(), 0.0, 1.0),
            Axis::powers([1.0, 1e12].into_iter(), 0.0, 1.0),
            Axis::even([1.0, 1e5].into_iter(), 0.0, 1.0),
        ] {
            let count = axis.ticks().len();
            assert!((2..=MOST_TICKS).contains(&count), "{count}: {axis:?}");
        }
    }

    #[test]
    fn one_value_makes_an_axis() {
        for axis in [
            Axis::powers([1.0].into_iter(), 0.0, 1.0),
            Axis::even([1.0].into_iter(), 0.0, 1.0),
            Axis::around([1.0].into_iter(), 0.0, 1.0),
            Axis::around([].into_iter(), 0.0, 1.0),
            Axis::decades([].into_iter(), 0.0, 1.0),
            Axis::of_time(0.0, 0.0, 1.0),
            Axis::from_zero([0.0].into_iter(), 0.0, 1.0),
        ] {
            assert!(axis.place(1.0).is_finite());
            assert!(axis.ticks().len() < 12, "{axis:?}");
        }
    }
}
