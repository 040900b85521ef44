//! Formats numbers as text for the statements of findings.

/// Formats a duration with three digits.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        _ => (ns, "ns"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// Formats a number of bytes, in the units of the tables.
pub(crate) fn bytes(number: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (number.max(1.0).log2() / 10.0).floor() as usize;
    let power = power.min(units.len() - 1);
    let digits = usize::from(power > 0);
    format!(
        "{:.digits$} {}",
        number / 1024f64.powi(power as i32),
        units[power]
    )
}

/// A number of things.
pub(crate) trait Number {
    fn number(self) -> f64;
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

impl Number for u64 {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for usize {
    fn number(self) -> f64 {
        self as f64
    }
}

/// Formats a count with thousands separators.
pub(crate) fn count(n: impl Number) -> String {
    fathom_model::quantity::format_count(n.number())
}

/// Returns a part of a sentence, or nothing if it doesn't apply.
pub(crate) fn if_so(applies: bool, words: impl FnOnce() -> String) -> String {
    if applies { words() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(time(1_234_567.0), "1.23 ms");
        assert_eq!(time(830.0), "830 ns");
        assert_eq!(count(1_000_000u64), "1,000,000");
        assert_eq!(count(999u64), "999");
    }
}
