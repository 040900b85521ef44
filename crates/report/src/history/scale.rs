//! One unit for all values of a series, and as many digits as they deserve.

use fathom_model::Estimate;
use fathom_model::quantity::{ByteUnit, TimeUnit, decimals_for, fixed};
use fathom_stats::supported_decimals;

/// A unit to write values in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    factor: f64,
    /// Its symbol; empty for numbers of things.
    pub(crate) symbol: String,
}

impl Scale {
    /// The unit that fits `value`, which is in `unit` of the store.
    pub(crate) fn of(value: f64, unit: &str) -> Scale {
        let seconds = match unit {
            "seconds" => Some(1.0),
            _ => TimeUnit::of_symbol(unit).map(TimeUnit::seconds),
        };
        if let Some(seconds) = seconds {
            let fitting = TimeUnit::fitting(value * seconds);
            return Scale {
                factor: seconds / fitting.seconds(),
                symbol: fitting.symbol().to_owned(),
            };
        }
        if matches!(unit, "bytes" | "B") {
            let fitting = ByteUnit::fitting(value);
            return Scale {
                factor: 1.0 / fitting.bytes,
                symbol: fitting.symbol.to_owned(),
            };
        }
        Scale {
            factor: 1.0,
            symbol: match unit {
                "count" => String::new(),
                other => other.to_owned(),
            },
        }
    }

    /// The number alone, with so many decimals.
    pub(crate) fn number(&self, value: f64, decimals: usize) -> String {
        fixed(value * self.factor, decimals)
    }

    /// The number alone with four digits.
    pub(crate) fn short(&self, value: f64) -> String {
        self.number(value, decimals_for(value * self.factor, 4).min(6))
    }

    /// Decimals that an interval supports.
    pub(crate) fn decimals(&self, value: f64, low: f64, high: f64) -> usize {
        let scaled = |v: f64| v * self.factor;
        let estimate = Estimate {
            value: scaled(value),
            low: scaled(low),
            high: scaled(high),
            level: 0.95,
        };
        supported_decimals(&estimate, 1.0)
    }

    /// Value and unit, with so many decimals beyond those that its interval supports.
    pub(crate) fn with_unit(&self, value: f64, low: f64, high: f64, more: usize) -> String {
        let number = self.bare(value, low, high, more);
        format!("{number} {}", self.symbol).trim_end().to_owned()
    }

    /// The same without its unit.
    pub(crate) fn bare(&self, value: f64, low: f64, high: f64, more: usize) -> String {
        let decimals = self.decimals(value, low, high);
        match more {
            0 => self.number(value, decimals),
            _ => format!("{:.1$}", value * self.factor, decimals + more),
        }
    }
}
