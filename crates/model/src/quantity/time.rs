//! Times with their unit.

use super::digits::{fixed, three_digits};

/// A unit of time for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// 0.000000001 s.
    Nanosecond,
    /// 0.000001 s.
    Microsecond,
    /// 0.001 s.
    Millisecond,
    /// 1 s.
    Second,
    /// 60 s.
    Minute,
}

impl TimeUnit {
    /// Returns the unit in which `seconds` has one to three digits before the point. Minutes are never
    /// chosen: 83.2 s is easier to compare than 1.387 min.
    pub fn fitting(seconds: f64) -> TimeUnit {
        let seconds = seconds.abs();
        // Below 1 the unit would show a leading zero; 0.9995 would be rounded up to 1000.
        if seconds >= 0.9995 {
            TimeUnit::Second
        } else if seconds >= 0.000_999_5 || seconds == 0.0 {
            TimeUnit::Millisecond
        } else if seconds >= 0.000_000_999_5 {
            TimeUnit::Microsecond
        } else {
            TimeUnit::Nanosecond
        }
    }

    /// Returns the unit with this symbol; `us` is read as `µs`.
    pub fn of_symbol(symbol: &str) -> Option<TimeUnit> {
        Some(match symbol {
            "ns" => TimeUnit::Nanosecond,
            // The micro sign and the Greek letter.
            "us" | "\u{b5}s" | "\u{3bc}s" => TimeUnit::Microsecond,
            "ms" => TimeUnit::Millisecond,
            "s" => TimeUnit::Second,
            "min" => TimeUnit::Minute,
            _ => return None,
        })
    }

    /// Returns the length of the unit in seconds.
    pub fn seconds(self) -> f64 {
        match self {
            TimeUnit::Nanosecond => 1e-9,
            TimeUnit::Microsecond => 1e-6,
            TimeUnit::Millisecond => 1e-3,
            TimeUnit::Second => 1.0,
            TimeUnit::Minute => 60.0,
        }
    }

    /// Returns the symbol: `ns`, `µs`, `ms`, `s` or `min`.
    pub fn symbol(self) -> &'static str {
        match self {
            TimeUnit::Nanosecond => "ns",
            TimeUnit::Microsecond => "µs",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Second => "s",
            TimeUnit::Minute => "min",
        }
    }
}

/// Formats `seconds` in `unit` (the fitting one if it is `None`) with at most `decimals` decimals, for
/// example `1.204 ms`. Uses at most five significant digits; `?` if it is not a number.
pub fn format_time(seconds: f64, unit: Option<TimeUnit>, decimals: usize) -> String {
    let unit = unit.unwrap_or_else(|| TimeUnit::fitting(seconds));
    format!(
        "{} {}",
        fixed(seconds / unit.seconds(), decimals),
        unit.symbol()
    )
}

/// Formats `seconds` with three significant digits in the fitting unit: `486 µs`, `8.62 ms`, `61.8 ms`.
pub fn short_time(seconds: f64) -> String {
    let unit = match seconds == 0.0 {
        true => TimeUnit::Nanosecond,
        false => TimeUnit::fitting(seconds),
    };
    let text = three_digits(seconds / unit.seconds());
    format!("{text} {}", unit.symbol())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_people_write_them() {
        assert_eq!(format_time(0.001_204, None, 3), "1.204 ms");
        assert_eq!(format_time(0.000_130, None, 0), "130 µs");
        assert_eq!(format_time(4.936e-9, None, 2), "4.94 ns");
        assert_eq!(format_time(83.2, None, 1), "83.2 s");
        assert_eq!(format_time(0.0, None, 1), "0.0 ms");
        assert_eq!(format_time(90.0, Some(TimeUnit::Minute), 1), "1.5 min");
    }

    #[test]
    fn rounding_does_not_produce_a_thousand_of_the_smaller_unit() {
        assert_eq!(format_time(0.999_9, None, 0), "1 s");
    }

    #[test]
    fn short_times_have_three_digits() {
        let times = [
            (0.0, "0 ns"),
            (0.84e-9, "0.84 ns"),
            (0.000_001_204, "1.20 µs"),
            (0.000_004_3, "4.30 µs"),
            (0.000_486_2, "486 µs"),
            (0.008_621, "8.62 ms"),
            (0.083, "83.0 ms"),
        ];
        for (seconds, text) in times {
            assert_eq!(short_time(seconds), text);
        }
    }
}
