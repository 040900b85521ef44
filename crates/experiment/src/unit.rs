//! Units of numbers: times in seconds, amounts of data in bytes, and words that a file defines.

use std::collections::BTreeMap;

/// The unit of a number, as powers of seconds, bytes and other words. Plain numbers have no unit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Unit {
    /// The power of each base, which is never 0. `s` is the second and `B` the byte.
    powers: BTreeMap<String, i32>,
    /// Whether this matches every unit; used for results whose unit is unknown before they are measured.
    any: bool,
}

impl Unit {
    /// Returns the unit of a plain number.
    pub fn plain() -> Unit {
        Unit::default()
    }

    /// Returns one base to the first power.
    pub fn base(name: &str) -> Unit {
        Unit {
            powers: BTreeMap::from([(name.to_string(), 1)]),
            any: false,
        }
    }

    /// Returns seconds.
    pub fn seconds() -> Unit {
        Unit::base("s")
    }

    /// Returns bytes.
    pub fn bytes() -> Unit {
        Unit::base("B")
    }

    /// Returns a unit that isn't known yet.
    pub fn any() -> Unit {
        Unit {
            any: true,
            ..Unit::default()
        }
    }

    /// Returns whether it is the unit of a plain number.
    pub fn is_plain(&self) -> bool {
        self.powers.is_empty() && !self.any
    }

    /// Returns whether the unit contains a base other than seconds and bytes, in which case a bare number is
    /// read in the unit that the file declared.
    pub fn is_declared(&self) -> bool {
        self.powers
            .keys()
            .any(|name| !matches!(name.as_str(), "s" | "B"))
            || self.powers.len() > 1
            || self.powers.values().any(|power| *power < 0)
    }

    /// Returns whether numbers in the two units may be compared.
    pub fn agrees(&self, other: &Unit) -> bool {
        self.any || other.any || self.powers == other.powers
    }

    /// Returns the unit of a product (`sign` 1) or a quotient (-1).
    pub fn times(&self, other: &Unit, sign: i32) -> Unit {
        let mut powers = self.powers.clone();
        for (name, power) in &other.powers {
            *powers.entry(name.clone()).or_insert(0) += power * sign;
        }
        powers.retain(|_, power| *power != 0);
        Unit {
            powers,
            any: self.any || other.any,
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = |wanted: i32| -> Vec<String> {
            self.powers
                .iter()
                .filter(|(_, power)| power.signum() == wanted)
                .map(|(name, power)| match power.abs() {
                    1 => name.clone(),
                    power => format!("{name}^{power}"),
                })
                .collect()
        };
        let (above, below) = (side(1), side(-1));
        match (above.is_empty(), below.is_empty()) {
            (_, true) => write!(f, "{}", above.join(" ")),
            (true, false) => write!(f, "1/{}", below.join("/")),
            (false, false) => write!(f, "{}/{}", above.join(" "), below.join("/")),
        }
    }
}

/// Units of known size: the base (empty for plain numbers), and the size in that base.
const KNOWN: [(&str, &str, f64); 34] = [
    ("ns", "s", 1e-9),
    ("us", "s", 1e-6),
    ("µs", "s", 1e-6),
    ("μs", "s", 1e-6),
    ("ms", "s", 1e-3),
    ("s", "s", 1.0),
    ("sec", "s", 1.0),
    ("min", "s", 60.0),
    ("h", "s", 3600.0),
    ("B", "B", 1.0),
    ("byte", "B", 1.0),
    ("bytes", "B", 1.0),
    ("kB", "B", 1e3),
    ("KB", "B", 1e3),
    ("MB", "B", 1e6),
    ("GB", "B", 1e9),
    ("TB", "B", 1e12),
    ("KiB", "B", 1024.0),
    ("MiB", "B", 1_048_576.0),
    ("GiB", "B", 1_073_741_824.0),
    ("TiB", "B", 1_099_511_627_776.0),
    ("%", "", 0.01),
    ("x", "", 1.0),
    ("1", "", 1.0),
    ("k", "", 1e3),
    ("K", "", 1e3),
    ("M", "", 1e6),
    ("G", "", 1e9),
    ("Hz", "/s", 1.0),
    ("kHz", "/s", 1e3),
    ("MHz", "/s", 1e6),
    ("GHz", "/s", 1e9),
    ("percent", "", 0.01),
    ("calls", "", 1.0),
];

/// Parses one word of a unit.
fn word(text: &str) -> (Unit, f64) {
    match KNOWN.iter().find(|(name, _, _)| *name == text) {
        Some((_, "", size)) => (Unit::plain(), *size),
        Some((_, "/s", size)) => (Unit::plain().times(&Unit::seconds(), -1), *size),
        Some((_, base, size)) => (Unit::base(base), *size),
        None => (Unit::base(text), 1.0),
    }
}

/// Returns whether this is a unit of known size.
pub fn is_known(text: &str) -> bool {
    KNOWN.iter().any(|(name, _, _)| *name == text)
}

/// Parses `ms`, `KiB`, `GB/s`, `ops/s`; an unknown word is a unit of its own. Returns the unit and its size
/// in base units: 0.001 for `ms`.
///
/// # Errors
/// A message that lists what is accepted.
pub fn parse(text: &str) -> Result<(Unit, f64), String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok((Unit::plain(), 1.0));
    }
    let mut unit = Unit::plain();
    let mut size = 1.0;
    for (index, part) in text.split('/').enumerate() {
        let part = part.trim();
        let legal = |c: char| c.is_alphanumeric() || "%_ ".contains(c);
        if part.is_empty() || !part.chars().all(legal) || part.len() > 40 {
            return Err(format!(
                "{text:?} is not a unit; write one such as \"us\", \"KiB\", \"GB/s\" or \"ops/s\""
            ));
        }
        let (base, scale) = word(part);
        unit = unit.times(&base, if index == 0 { 1 } else { -1 });
        size = if index == 0 {
            size * scale
        } else {
            size / scale
        };
    }
    Ok((unit, size))
}

/// Parses `11 MiB`, `1 MB`, `4096` as bytes.
///
/// # Errors
/// A message that lists what is accepted.
pub fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(split);
    let wrong =
        || format!("{text:?} is not an amount of data; write one such as \"11 MiB\" or 4096");
    let number: f64 = number.replace('_', "").parse().map_err(|_| wrong())?;
    let scale = match rest.trim() {
        "" => 1.0,
        rest => match parse(rest)? {
            (unit, scale) if unit == Unit::bytes() => scale,
            _ => return Err(wrong()),
        },
    };
    let value = number * scale;
    if (0.0..=1e13).contains(&value) {
        Ok(value.round() as u64)
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_with_their_size() {
        assert_eq!(parse("ms").unwrap(), (Unit::seconds(), 1e-3));
        assert_eq!(parse("").unwrap(), (Unit::plain(), 1.0));
        let (unit, size) = parse("GB/s").unwrap();
        assert_eq!((unit.to_string().as_str(), size), ("B/s", 1e9));
        let (unit, size) = parse("ns/op").unwrap();
        assert_eq!((unit.to_string().as_str(), size), ("s/op", 1e-9));
        assert_eq!(parse("M/s").unwrap().1, 1e6);
        assert!(parse("a//b").is_err());
        assert!(parse("$").is_err());
    }

    #[test]
    fn amounts_of_data_are_bytes() {
        assert_eq!(bytes("11 MiB"), Ok(11 * 1024 * 1024));
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("1.5kB"), Ok(1500));
        assert!(bytes("3 ms").is_err());
        assert!(bytes("").is_err());
    }

    #[test]
    fn products_and_quotients_have_their_units() {
        let rate = Unit::bytes().times(&Unit::seconds(), -1);
        assert_eq!(rate.to_string(), "B/s");
        assert!(rate.times(&Unit::seconds(), 1).agrees(&Unit::bytes()));
        assert!(rate.times(&rate, -1).is_plain());
        assert!(rate.is_declared() && !Unit::bytes().is_declared());
    }
}
