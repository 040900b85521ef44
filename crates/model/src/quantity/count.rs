//! Numbers of things.

use super::digits::three_digits;

/// Formats `count` with commas between thousands, for example `1,204,511`. Medians of an even number of runs
/// may be between two whole numbers: they keep one decimal.
pub fn format_count(count: f64) -> String {
    if !count.is_finite() {
        return "?".to_owned();
    }
    let rounded = (count.abs() * 10.0).round() / 10.0;
    let whole = rounded.trunc();
    let mut text = group(&format!("{whole:.0}"));
    let tenth = ((rounded - whole) * 10.0).round();
    if tenth > 0.0 && rounded < 100.0 {
        text.push_str(&format!(".{tenth:.0}"));
    }
    if count < 0.0 && rounded > 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

/// Formats a count with its noun: `1 round`, `2 rounds`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        group(&count.to_string()),
        if count == 1 { one } else { many }
    )
}

/// Formats an amount of CPUs: `40 % of a CPU`, `1 CPU`, `1.50 CPUs`.
pub fn cpu_share(cpus: f64) -> String {
    match cpus {
        part if part < 0.995 => format!("{:.0} % of a CPU", 100.0 * part),
        whole if (whole - whole.round()).abs() < 0.005 => {
            counted(whole.round() as u64, "CPU", "CPUs")
        }
        several => format!("{} CPUs", three_digits(several)),
    }
}

/// Inserts commas between thousands into an integer.
pub(super) fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(format_count(0.0), "0");
        assert_eq!(format_count(999.0), "999");
        assert_eq!(format_count(1_204_511.0), "1,204,511");
        assert_eq!(format_count(2.5), "2.5");
        assert_eq!(format_count(1234.5), "1,234");
        assert_eq!(format_count(-1000.0), "-1,000");
    }

    #[test]
    fn less_than_a_cpu_is_a_part_of_one() {
        assert_eq!(cpu_share(0.4), "40 % of a CPU");
        assert_eq!(cpu_share(1.0), "1 CPU");
        assert_eq!(cpu_share(1.5), "1.50 CPUs");
        assert_eq!(cpu_share(12.0), "12 CPUs");
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(counted(1, "run", "runs"), "1 run");
        assert_eq!(counted(0, "run", "runs"), "0 runs");
        assert_eq!(counted(12_000, "run", "runs"), "12,000 runs");
    }
}
