//! Formats the values of one metric in the same unit, with the same digits.

use fathom_model::{Estimate, Metric, Unit};

use crate::quantity::{
    TimeUnit, Words, change, change_and_interval, decimals_for, fixed, format_bytes, format_count,
};
use crate::text::JOIN;

/// The format of a table's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figures {
    Time { unit: TimeUnit, decimals: usize },
    Bytes,
    Count,
}

impl Figures {
    /// Returns the format for `medians`: the unit fits the largest, and the smallest has three digits.
    pub(crate) fn of(metric: Metric, medians: impl Iterator<Item = f64>) -> Figures {
        match metric.unit() {
            Unit::Bytes => Figures::Bytes,
            Unit::Count => Figures::Count,
            Unit::Seconds => {
                let (low, high) = medians.fold((f64::INFINITY, 0.0), |(low, high), value| {
                    (value.min(low), value.max(high))
                });
                let unit = TimeUnit::fitting(high);
                Figures::Time {
                    unit,
                    decimals: decimals_for(low / unit.seconds(), 3).min(4),
                }
            }
        }
    }

    fn number(self, value: f64) -> String {
        match self {
            Figures::Time { unit, decimals } => fixed(value / unit.seconds(), decimals),
            Figures::Bytes => format_bytes(value),
            Figures::Count => format_count(value),
        }
    }

    /// Formats a value: `0.70 s`.
    pub(crate) fn value(self, value: f64) -> String {
        match self {
            Figures::Time { unit, .. } => format!("{} {}", self.number(value), unit.symbol()),
            Figures::Bytes | Figures::Count => self.number(value),
        }
    }

    /// Formats an interval: `0.69 to 0.71`; empty if the value never differs.
    pub(crate) fn interval(self, estimate: &Estimate) -> String {
        match estimate.low == estimate.high {
            true => String::new(),
            false => format!(
                "{} to {}",
                self.number(estimate.low),
                self.number(estimate.high)
            ),
        }
    }
}

/// Returns whether all rounds agree up to rounding errors, as for counts of calls and bytes.
fn is_exact(ratio: &Estimate) -> bool {
    ratio.high - ratio.low <= 1e-9 * ratio.value
}

/// Returns `1.50x slower`, and its interval if it has one.
pub(crate) fn change_in_words(ratio: &Estimate, metric: Metric) -> (String, Option<String>) {
    let words = Words::of(metric);
    let plain = |text: String| text.replace(JOIN, " ");
    // A smaller change would be written as `0 % slower`.
    if (ratio.value - 1.0).abs() < 0.000_05 {
        return ("0 %".to_owned(), None);
    }
    if is_exact(ratio) {
        return (plain(change(ratio.value, words)), None);
    }
    let (change, interval) = change_and_interval(ratio, words);
    (plain(change), Some(plain(interval)))
}

/// Returns a revision as given; a full id is abbreviated.
pub(crate) fn called(name: &str) -> &str {
    let is_id = name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_id {
        true => &name[..10],
        false => name,
    }
}
