//! Numbers with units, so that a wrong sum doesn't compile.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use super::{format_bytes, short_time, three_digits};

/// A duration in nanoseconds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanoseconds(pub u64);

/// An amount of memory or data in bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A part of a whole: 0.01 is 1 %.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Ratio(pub f64);

/// Implements sums, which have the unit of their terms; on overflow they saturate.
macro_rules! sums {
    ($unit:ident) => {
        impl Add for $unit {
            type Output = $unit;
            fn add(self, other: $unit) -> $unit {
                $unit(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $unit {
            fn add_assign(&mut self, other: $unit) {
                *self = *self + other;
            }
        }

        impl Sum for $unit {
            fn sum<I: Iterator<Item = $unit>>(all: I) -> $unit {
                all.fold($unit(0), Add::add)
            }
        }

        impl $unit {
            /// Returns the difference, or 0 if `other` is larger, which happens because the kernel's counters
            /// are read one after the other.
            pub fn saturating_sub(self, other: $unit) -> $unit {
                $unit(self.0.saturating_sub(other.0))
            }

            /// Returns this amount as a part of `whole`; 0 if `whole` is 0.
            pub fn part_of(self, whole: $unit) -> Ratio {
                match whole.0 {
                    0 => Ratio(0.0),
                    whole => Ratio(self.0 as f64 / whole as f64),
                }
            }
        }
    };
}

sums!(Nanoseconds);
sums!(Bytes);

impl Nanoseconds {
    /// Returns the time in seconds, the unit in which times are written.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Ratio {
    /// Returns the ratio in percent.
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&short_time(self.seconds()))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_bytes(self.0 as f64))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} %", three_digits(self.percent())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        assert_eq!(Nanoseconds(8_621_000).to_string(), "8.62 ms");
        assert_eq!(Bytes(63_200).to_string(), "61.7 KiB");
        assert_eq!(Ratio(0.0312).to_string(), "3.12 %");
        assert_eq!(format!("{:>8}", Nanoseconds(0)), "    0 ns");
    }

    #[test]
    fn sums_neither_wrap_nor_fall_below_nothing() {
        assert_eq!(
            Nanoseconds(u64::MAX) + Nanoseconds(1),
            Nanoseconds(u64::MAX)
        );
        assert_eq!(Bytes(1).saturating_sub(Bytes(2)), Bytes(0));
        let all: Bytes = [Bytes(3), Bytes(4)].into_iter().sum();
        assert_eq!(all, Bytes(7));
    }

    #[test]
    fn a_part_of_nothing_is_nothing() {
        assert_eq!(Nanoseconds(1).part_of(Nanoseconds(4)), Ratio(0.25));
        assert_eq!(Nanoseconds(1).part_of(Nanoseconds(0)), Ratio(0.0));
    }

    #[test]
    fn json_is_the_plain_number() {
        assert_eq!(serde_json::to_string(&Nanoseconds(7)).unwrap(), "7");
        assert_eq!(serde_json::to_string(&Ratio(0.5)).unwrap(), "0.5");
        assert_eq!(serde_json::from_str::<Bytes>("7").unwrap(), Bytes(7));
    }
}
