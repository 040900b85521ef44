//! Amounts of memory and data.

use super::digits::{decimals_for, fixed, three_digits};

/// A binary unit of data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteUnit {
    /// The size of the unit in bytes.
    pub bytes: f64,
    /// The symbol: `B`, `KiB`, ...
    pub symbol: &'static str,
}

const UNITS: [ByteUnit; 5] = [
    ByteUnit {
        bytes: 1.0,
        symbol: "B",
    },
    ByteUnit {
        bytes: 1024.0,
        symbol: "KiB",
    },
    ByteUnit {
        bytes: 1_048_576.0,
        symbol: "MiB",
    },
    ByteUnit {
        bytes: 1_073_741_824.0,
        symbol: "GiB",
    },
    ByteUnit {
        bytes: 1_099_511_627_776.0,
        symbol: "TiB",
    },
];

impl ByteUnit {
    /// Returns the largest unit in which `bytes` is at least one, after rounding to three digits.
    pub fn fitting(bytes: f64) -> ByteUnit {
        let fits = |unit: &&ByteUnit| bytes.abs() >= unit.bytes * 0.9995;
        *UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0])
    }
}

/// Formats `bytes` in B, KiB, MiB, GiB or TiB with three significant digits, for example `61.7 KiB`. Whole
/// bytes have no decimals; means below one have two digits, so that `0.25 B` isn't shown as zero.
pub fn format_bytes(bytes: f64) -> String {
    let unit = ByteUnit::fitting(bytes);
    let value = bytes / unit.bytes;
    let decimals = if unit.symbol == "B" {
        match bytes.abs() < 1.0 {
            true => decimals_for(value, 2),
            false => 0,
        }
    } else {
        decimals_for(value.max(1.0), 3)
    };
    format!("{} {}", fixed(value, decimals), unit.symbol)
}

/// Formats a size that is usually a round number, such as that of a cache: whole units have no decimals, `32
/// KiB` where [`format_bytes`] would write `32.0 KiB`.
pub fn format_size(bytes: f64) -> String {
    let unit = ByteUnit::fitting(bytes);
    let value = bytes / unit.bytes;
    let text = match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => three_digits(value),
    };
    format!("{text} {}", unit.symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_as_people_write_them() {
        assert_eq!(format_bytes(0.0), "0 B");
        assert_eq!(format_bytes(1023.0), "1023 B");
        assert_eq!(format_bytes(0.25), "0.25 B");
        assert_eq!(format_bytes(9.1), "9 B");
        assert_eq!(format_bytes(61.7), "62 B");
        assert_eq!(format_bytes(1024.0), "1.00 KiB");
        assert_eq!(format_bytes(63_200.0), "61.7 KiB");
        assert_eq!(format_bytes(3.4 * 1_048_576.0), "3.40 MiB");
        assert_eq!(format_bytes(1_048_575.0), "1.00 MiB");
        assert_eq!(format_bytes(5e12), "4.55 TiB");
    }

    #[test]
    fn a_size_in_round_numbers_has_no_decimals() {
        assert_eq!(format_size(32768.0), "32 KiB");
        assert_eq!(format_size(1.5 * 1_048_576.0), "1.50 MiB");
        assert_eq!(format_size(96.0), "96 B");
    }
}
