//! Values of a metric in one unit: times, bytes, or numbers of things.

use fathom_model::{Estimate, Metric, Unit};

use super::{
    ByteUnit, TimeUnit, decimals_for, fixed, format_bytes, format_count, short_time,
    supported_decimals,
};

/// A unit for formatting the values of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct InUnit {
    of: Unit,
    symbol: &'static str,
    size: f64,
}

impl InUnit {
    /// Returns the unit that fits `value`.
    pub(crate) fn fitting(metric: Metric, value: f64) -> InUnit {
        let of = metric.unit();
        let (symbol, size) = match of {
            Unit::Seconds => {
                let unit = TimeUnit::fitting(value);
                (unit.symbol(), unit.seconds())
            }
            Unit::Bytes => {
                let unit = ByteUnit::fitting(value);
                (unit.symbol, unit.bytes)
            }
            Unit::Count => ("", 1.0),
        };
        InUnit { of, symbol, size }
    }

    /// Like [`InUnit::fitting`], but a time is in the requested unit.
    pub(crate) fn asked(metric: Metric, value: f64, asked: Option<TimeUnit>) -> InUnit {
        match (metric.unit(), asked) {
            (Unit::Seconds, Some(unit)) => InUnit {
                of: Unit::Seconds,
                symbol: unit.symbol(),
                size: unit.seconds(),
            },
            _ => InUnit::fitting(metric, value),
        }
    }

    /// Returns the unit of a column: the one that fits the smallest value, or the next larger one if all
    /// values are at least a tenth of that. 0.984 ms next to 1.18 ms reads better than 1180 µs next to 984.
    pub(crate) fn of_all(metric: Metric, values: &[f64], asked: Option<TimeUnit>) -> InUnit {
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(0.0, f64::max);
        let next = InUnit::asked(metric, largest, asked);
        match smallest >= 0.1 * next.size {
            true => next,
            false => InUnit::asked(metric, smallest, asked),
        }
    }

    pub(crate) fn symbol(self) -> &'static str {
        self.symbol
    }

    /// Returns the decimals that `estimate` supports; bytes and counts have none.
    pub(crate) fn decimals(self, estimate: &Estimate) -> usize {
        match self.symbol {
            "" | "B" => 0,
            _ => supported_decimals(estimate, self.size),
        }
    }

    /// Formats `value` without its symbol.
    pub(crate) fn number(self, value: f64, decimals: usize) -> String {
        match self.of {
            Unit::Count => format_count(value),
            Unit::Seconds | Unit::Bytes => fixed(value / self.size, decimals),
        }
    }

    /// Formats `value` without its symbol, with `digits` digits.
    pub(crate) fn digits(self, value: f64, digits: i32) -> String {
        let decimals = match self.symbol {
            "B" => 0,
            _ => decimals_for(value / self.size, digits),
        };
        self.number(value, decimals)
    }

    /// Appends the symbol, if there is one, to `number`.
    pub(crate) fn with_symbol(self, number: &str) -> String {
        format!("{number} {}", self.symbol).trim_end().to_owned()
    }
}

/// Returns the name of a metric as a heading: `Wall time`.
pub(crate) fn heading(metric: Metric) -> String {
    let mut letters = metric.label().chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Formats a single value in the unit that fits it.
pub fn format_metric(metric: Metric, value: f64) -> String {
    match metric.unit() {
        Unit::Seconds => short_time(value),
        Unit::Bytes => format_bytes(value),
        Unit::Count => format_count(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_suits_a_column() {
        let symbol = |metric, values: &[f64]| InUnit::of_all(metric, values, None).symbol();
        assert_eq!(symbol(Metric::Wall, &[0.000_984, 0.001_18]), "ms");
        assert_eq!(symbol(Metric::Wall, &[0.000_02, 0.001_18]), "µs");
        assert_eq!(symbol(Metric::Wall, &[0.4, 1.2]), "s");
        assert_eq!(symbol(Metric::Cpu, &[0.012, 7.0]), "ms");
        assert_eq!(symbol(Metric::PeakMemory, &[300e3, 1.2e6]), "MiB");
        assert_eq!(symbol(Metric::PeakMemory, &[40e3, 1.2e6]), "KiB");
        assert_eq!(symbol(Metric::ReadCalls, &[4.0, 9e5]), "");
        let asked = InUnit::of_all(Metric::Wall, &[0.4, 1.2], Some(TimeUnit::Millisecond));
        assert_eq!(asked.symbol(), "ms");
        let memory = InUnit::of_all(Metric::PeakMemory, &[4e6], Some(TimeUnit::Second));
        assert_eq!(memory.symbol(), "MiB");
    }

    #[test]
    fn things_have_commas_and_no_symbol() {
        let calls = InUnit::fitting(Metric::ReadCalls, 12_000.0);
        assert_eq!(calls.with_symbol(&calls.number(12_000.0, 3)), "12,000");
        assert_eq!(format_metric(Metric::ReadBytes, 2_097_152.0), "2.00 MiB");
    }
}
