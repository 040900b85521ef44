//! Formats a value and its interval in one unit and with the same decimals. Rounded in the same way, a value
//! stays inside its interval.

use super::bytes::ByteUnit;
use super::count::group;
use super::digits::{decimals_for, fixed, with_decimals};
use super::supported::supported_decimals;
use super::time::TimeUnit;
use crate::Estimate;
use crate::imported::base_unit;

/// The number of significant digits of a value without an interval.
const WITHOUT_INTERVAL: i32 = 4;
/// The range of numbers that are written in full; others get a power of ten.
const PLAIN: std::ops::Range<f64> = 1e-3..1e12;

/// A unit to write values in.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    factor: f64,
    /// A power such as `e12` if numbers would be too long.
    power: String,
    /// Whether to insert commas between thousands; false for a unit that fits the value.
    grouped: bool,
    symbol: String,
}

impl Scale {
    /// Returns the unit that fits `value`, which is in a `unit` of the store or of another tool.
    pub fn of(value: f64, unit: &str) -> Scale {
        let scale = match base_unit(unit) {
            (seconds, "seconds") => Scale::of_time(value, seconds),
            (bytes, "bytes") => {
                let fitting = ByteUnit::fitting(value * bytes);
                Scale::plain(bytes / fitting.bytes, fitting.symbol)
            }
            _ => match TimeUnit::of_symbol(unit) {
                Some(time) => Scale::of_time(value, time.seconds()),
                None => Scale {
                    grouped: true,
                    ..Scale::plain(1.0, if unit == "count" { "" } else { unit })
                },
            },
        };
        let number = (value * scale.factor).abs();
        match number == 0.0 || !number.is_finite() || PLAIN.contains(&number) {
            true => scale,
            false => scale.with_power(number.log10().floor() as i32),
        }
    }

    /// Returns the unit of `first` if `value` is readable in it, otherwise the unit that fits `value`: the
    /// two sides of a row share a unit.
    pub fn beside(first: f64, value: f64, unit: &str) -> Scale {
        let scale = Scale::of(first, unit);
        let number = (value * scale.factor).abs();
        match number == 0.0 || (1e-2..1e5).contains(&number) {
            true => scale,
            false => Scale::of(value, unit),
        }
    }

    fn of_time(value: f64, seconds: f64) -> Scale {
        let fitting = TimeUnit::fitting(value * seconds);
        Scale::plain(seconds / fitting.seconds(), fitting.symbol())
    }

    fn plain(factor: f64, symbol: &str) -> Scale {
        Scale {
            factor,
            power: String::new(),
            grouped: false,
            symbol: symbol.to_owned(),
        }
    }

    fn with_power(self, power: i32) -> Scale {
        // For the largest doubles, the reciprocal of the power would not be finite.
        let power = power.clamp(-300, 300);
        Scale {
            factor: self.factor / 10f64.powi(power),
            power: format!("e{power}"),
            ..self
        }
    }

    /// Returns the symbol of the unit; empty for counts.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// Formats the number alone, with at most four digits.
    pub fn short(&self, value: f64) -> String {
        self.number(value, value, value, value, 0)
    }

    /// Formats value and unit, with `more` decimals than its interval supports.
    pub fn with_unit(&self, value: f64, low: f64, high: f64, more: usize) -> String {
        let number = self.bare(value, low, high, more);
        format!("{number} {}", self.symbol).trim_end().to_owned()
    }

    /// Like [`Scale::with_unit`], without the unit.
    pub fn bare(&self, value: f64, low: f64, high: f64, more: usize) -> String {
        self.number(value, value, low, high, more)
    }

    /// Formats the ends of the interval as [`Scale::bare`] formats the value: `12.1 to 12.5`. A nonzero end
    /// is not written as 0.
    pub fn interval(&self, value: f64, low: f64, high: f64, more: usize) -> String {
        /// The maximum number of decimals to add until a nonzero end isn't written as 0.
        const MOST: usize = 5;
        let written = |more| [low, high].map(|end| self.number(end, value, low, high, more));
        let is_lost = |end: f64, text: &str| {
            end != 0.0 && !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
        };
        let mut ends = written(more);
        for more in more + 1..=more + MOST {
            if !is_lost(low, &ends[0]) && !is_lost(high, &ends[1]) {
                break;
            }
            ends = written(more);
        }
        ends.join(" to ")
    }

    /// Formats `12.31 ms (12.1 to 12.5)`; without an interval, the value alone.
    pub fn estimate(&self, value: f64, low: f64, high: f64) -> String {
        let written = self.with_unit(value, low, high, 0);
        match low < high {
            true => format!("{written} ({})", self.interval(value, low, high, 0)),
            false => written,
        }
    }

    /// Formats one of the three numbers of an estimate.
    fn number(&self, number: f64, value: f64, low: f64, high: f64, more: usize) -> String {
        let scaled = [number, value, low, high].map(|of| of * self.factor);
        let [number, value, low, high] = scaled;
        let decimals = match low < high {
            true => supported_decimals(
                &Estimate {
                    value,
                    low,
                    high,
                    level: 0.95,
                },
                1.0,
            ),
            false => needed(value),
        };
        let text = match more {
            0 => fixed(number, decimals),
            more => with_decimals(number, decimals + more),
        };
        match self.grouped {
            true => grouped(&text) + &self.power,
            false => text + &self.power,
        }
    }
}

/// Returns the number of decimals that shows `value` with at most four digits and without trailing zeros: its
/// precision is unknown.
fn needed(value: f64) -> usize {
    let most = decimals_for(value, WITHOUT_INTERVAL);
    let text = with_decimals(value, most);
    let zeros = text.bytes().rev().take_while(|byte| *byte == b'0').count();
    most.saturating_sub(zeros)
}

/// Inserts commas between the thousands before the point.
fn grouped(text: &str) -> String {
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", text),
    };
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    format!("{sign}{}{rest}", group(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64, low: f64, high: f64, unit: &str) -> String {
        Scale::of(value, unit).estimate(value, low, high)
    }

    fn alone(value: f64, unit: &str) -> String {
        written(value, value, value, unit)
    }

    #[test]
    fn a_value_without_an_interval_has_no_more_digits_than_it_is_given() {
        assert_eq!(alone(0.001, "ns"), "0.001 ns");
        assert_eq!(alone(1.5, "s"), "1.5 s");
        assert_eq!(alone(0.330_25, "seconds"), "330.2 ms");
        assert_eq!(alone(100.0, "ns/iter"), "100 ns");
        assert_eq!(alone(0.0, "s"), "0 ms");
        assert_eq!(
            alone(18_454_953.0, "Instructions"),
            "18,454,953 Instructions"
        );
        assert_eq!(alone(1e15, "ps/s"), "1e15 ps/s");
        assert_eq!(alone(2.5e-7, "share"), "2.5e-7 share");
        assert_eq!(alone(4096.0, "B"), "4 KiB");
    }

    #[test]
    fn an_end_that_is_not_0_is_not_written_as_0() {
        let of = |low, high| Scale::of(1.046, "s").interval(1.046, low, high, 0);
        assert_eq!(of(0.003_46, 1.32), "0.003 to 1.320");
        assert_eq!(of(0.0, 1.32), "0.0 to 1.3");
        assert_eq!(of(0.9, 1.32), "0.9 to 1.3");
    }

    #[test]
    fn an_interval_has_the_unit_and_the_decimals_of_its_value() {
        assert_eq!(
            written(0.05285, 0.0528, 0.0529, "ops/ns"),
            "0.05285 ops/ns (0.05280 to 0.05290)"
        );
        assert_eq!(written(1.0, 0.99, 1.01, "s"), "1.000 s (0.990 to 1.010)");
        assert_eq!(
            written(9050.0, 8900.0, 9200.0, "1/s"),
            "9,050 1/s (8,900 to 9,200)"
        );
    }

    /// Parses the number at the beginning of a text.
    fn read(text: &str) -> f64 {
        let number = text.split(' ').next().unwrap_or_default().replace(',', "");
        number.parse().unwrap_or(f64::NAN)
    }

    const UNITS: [&str; 6] = ["seconds", "ns", "bytes", "count", "ops/ms", "widgets"];

    proptest::proptest! {
        #[test]
        fn a_value_is_printed_inside_its_interval(
            power in -12.0f64..15.0,
            below in 0.0f64..1.0,
            above in 0.0f64..1.0,
            narrow in 0i32..7,
            unit in 0usize..UNITS.len(),
            more in 0usize..5,
        ) {
            let narrow = 10f64.powi(-narrow);
            let value = 10f64.powf(power);
            let (low, high) = (value * (1.0 - below * narrow), value * (1.0 + above * narrow));
            let scale = Scale::of(value, UNITS[unit]);
            let printed = read(&scale.with_unit(value, low, high, more));
            let interval = scale.interval(value, low, high, more);
            let ends: Vec<f64> = interval.split(" to ").map(read).collect();
            proptest::prop_assert!(ends[0] <= printed && printed <= ends[1], "{printed} {interval}");
            // The printed text is the value, in its unit.
            let back = printed / scale.factor / match scale.power.strip_prefix('e') {
                Some(power) => 10f64.powi(power.parse().unwrap()),
                None => 1.0,
            };
            proptest::prop_assert!((back / value - 1.0).abs() < 0.06, "{back} {value}");
        }
    }
}
