//! Figures of the machine with unit and status.

use fathom_model::quantity::{format_size, short_time, three_digits};
use fathom_model::{Gaps, ProbeResult, ProbeVerdict};

/// The probe for the time lost to other programs, in per cent.
const NOISE: &str = "noise_lost";

/// Formats the value of a result with its unit.
pub fn machine_figure(value: f64, unit: &str) -> String {
    match unit {
        "B" => format_size(value),
        "ns" => short_time(value / 1e9),
        "us" => short_time(value / 1e6),
        "GHz" => format!("{value:.3} GHz"),
        "pages" | "branches" | "ticks" | "slots" | "gaps" | "nodes" => count(value, unit),
        _ => format!("{} {unit}", three_digits(value)),
    }
}

/// Formats a round number for an axis, without trailing zeros.
pub(super) fn tick(value: f64, unit: &str) -> String {
    let figure = machine_figure(value, unit);
    match figure.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => figure,
    }
}

/// Formats a number of things; `units` is the plural.
fn count(value: f64, units: &str) -> String {
    let unit = match (value.round() == 1.0, units) {
        (true, "branches") => "branch",
        (true, _) => units.strip_suffix('s').unwrap_or(units),
        _ => units,
    };
    format!("{value:.0} {unit}")
}

/// Returns the status of a result in a word. For the probe of disturbance it is whether there is any: having
/// a figure doesn't mean that the machine is fine.
pub(super) fn status(result: &ProbeResult) -> &'static str {
    match (result.verdict, result.value) {
        (_, Some(lost)) if result.id == NOISE => match lost >= Gaps::BUSY_FROM.percent() {
            true => "busy",
            false => "quiet",
        },
        // The figure is reliable, which doesn't mean that the machine is as it should be.
        (ProbeVerdict::Ok, _) => "measured",
        (ProbeVerdict::Disturbed, _) => "disturbed",
        (ProbeVerdict::NoAnswer, _) => "no answer",
        (ProbeVerdict::NotMeasurable, _) => "not measurable here",
    }
}

#[cfg(test)]
mod tests {
    use super::machine_figure as figure;

    #[test]
    fn figures_read_as_people_write_them() {
        assert_eq!(figure(0.84, "ns"), "0.84 ns");
        assert_eq!(figure(1204.0, "ns"), "1.20 µs");
        assert_eq!(figure(83e3, "us"), "83.0 ms");
        assert_eq!(figure(32768.0, "B"), "32 KiB");
        assert_eq!(figure(3.6944, "GHz"), "3.694 GHz");
        assert_eq!(figure(26.0, "ticks"), "26 ticks");
        assert_eq!(figure(22.4, "GB/s"), "22.4 GB/s");
    }

    #[test]
    fn one_thing_is_one() {
        assert_eq!(figure(1.0, "nodes"), "1 node");
        assert_eq!(figure(1.0, "branches"), "1 branch");
        assert_eq!(figure(2.0, "nodes"), "2 nodes");
    }
}
