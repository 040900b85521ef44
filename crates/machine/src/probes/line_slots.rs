//! Line length from how many slots of a given spacing stay in the first-level cache.
//!
//! Below a line's length, wider spacing means fewer slots; above it, the number no longer falls, because each
//! slot has its own line. No prefetcher is involved. The spacings are odd multiples of 8: powers of two map
//! to the same sets, and the number would halve for that reason.

use std::time::Duration;

use crate::chase::{Cycle, Layout};
use crate::cpu_gate::CpuOf;
use crate::mapping::Pages;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::quantile;
use crate::track::sample;

const HEADING: Heading = Heading {
    id: "cache_line_by_slots",
    title: "  by slots that fit the first level",
    unit: "B",
    method: "the largest number of slots that can be chased at first-level speed is found for each spacing. The figure \
         is the number of bytes covered at spacings below a line's length, divided by the number of lines held at \
         spacings above it.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Spacings below any line length of 64 bytes or more. The wide spacings are above any line length of 128
/// bytes or less.
const NARROW: [usize; 3] = [8, 24, 40];
const WIDE: [usize; 3] = [136, 152, 168];

/// Factor of the first-level latency above which slots no longer count as held: one miss to the second level
/// in about 20 loads.
const HELD: f64 = 1.12;

/// Maximum number of bytes covered: no first level is larger than 256 KiB.
const MOST: usize = 1 << 20;

/// Runs the probe.
pub(crate) fn run() -> ProbeResult {
    let Some(base) = latency(8, 512).filter(|ns| *ns > 0.0) else {
        return HEADING.no_answer("the CPU was not available for long enough");
    };
    let count = |spacing| held(spacing, base).map(|slots| slots as f64);
    let narrow: Vec<(f64, f64)> = NARROW
        .iter()
        .filter_map(|s| Some((*s as f64, count(*s)?)))
        .collect();
    let wide: Vec<(f64, f64)> = WIDE
        .iter()
        .filter_map(|s| Some((*s as f64, count(*s)?)))
        .collect();
    if narrow.len() < NARROW.len() || wide.len() < WIDE.len() {
        return HEADING.no_answer("the CPU was not available for long enough");
    }
    answer(&narrow, &wide)
}

/// Returns the line length from pairs of spacing and slots held: `narrow` spacings are below the line length,
/// `wide` ones above it.
fn answer(narrow: &[(f64, f64)], wide: &[(f64, f64)]) -> ProbeResult {
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
    let covered: Vec<f64> = narrow
        .iter()
        .map(|(spacing, slots)| spacing * slots)
        .collect();
    let slots: Vec<f64> = wide.iter().map(|(_, slots)| *slots).collect();
    result.n = narrow.len() + wide.len();
    result.set_points(
        "bytes apart",
        "slots",
        narrow.iter().chain(wide).copied().collect(),
    );
    // Use the largest value of each: other users of the cache can only evict slots.
    let (Some(bytes), Some(lines)) = (quantile(&covered, 1.0), quantile(&slots, 1.0)) else {
        return result;
    };
    let raw = bytes / lines.max(1.0);
    result.median = Some(raw);
    result.value = near_power_of_two(raw);
    result.add_note(format!("{raw:.1} before rounding, {lines:.0} lines held"));
    if result.value.is_some() {
        result.verdict = ProbeVerdict::Ok;
    } else {
        result.add_note("not near a power of two");
    }
    result
}

/// Returns ns per load over `slots` slots at `spacing`; the minimum of the chunks.
fn latency(spacing: usize, slots: usize) -> Option<f64> {
    let mut cycle = Cycle::new(slots, Layout::every(spacing), Pages::Huge, 11).ok()?;
    cycle.grow(slots);
    time(&mut cycle, slots)
}

fn time(cycle: &mut Cycle, slots: usize) -> Option<f64> {
    // Walk whole laps: a part of a lap may skip the slots that don't fit.
    let rounds = (slots * (8000 / slots + 1)) as u64 / 16 + 1;
    cycle.walk(rounds);
    let samples = sample(CpuOf::Thread, Duration::from_micros(700), &mut || {
        cycle.load_ns(rounds)
    });
    quantile(&samples.values, 0.0)
}

/// Returns the largest number of slots that run at first-level speed, by bisection.
fn held(spacing: usize, base: f64) -> Option<usize> {
    let (mut low, mut high) = (32, MOST / spacing);
    while high - low > (low / 64).max(1) {
        let middle = (low + high) / 2;
        // Another program's activity looks like slots that don't fit: measure again before believing it.
        let tries: Vec<f64> = (0..2).filter_map(|_| latency(spacing, middle)).collect();
        if quantile(&tries, 0.0)? <= base * HELD {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Returns the power of two closest to `value`, if within a factor of 1.25.
pub(crate) fn near_power_of_two(value: f64) -> Option<f64> {
    if !(8.0..=4096.0).contains(&value) {
        return None;
    }
    let power = 2f64.powf(value.log2().round());
    (value / power < 1.25 && power / value < 1.25).then_some(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ideal(line: f64) -> ProbeResult {
        let size = 32768.0;
        let slots = |s: f64| {
            (
                s,
                size / s.max(1.0).min(line).max(if s > line { line } else { s }),
            )
        };
        answer(
            &NARROW.map(|s| slots(s as f64)),
            &WIDE.map(|s| slots(s as f64)),
        )
    }

    #[test]
    fn the_line_is_bytes_covered_over_lines_held() {
        assert_eq!(ideal(64.0).value, Some(64.0));
        assert_eq!(ideal(128.0).value, Some(128.0));
    }

    #[test]
    fn the_figures_of_a_real_run_give_64() {
        let result = answer(
            &[(8.0, 4636.0), (24.0, 1492.0), (40.0, 873.0)],
            &[(136.0, 508.0), (152.0, 508.0), (168.0, 508.0)],
        );
        assert_eq!(result.value, Some(64.0));
    }

    #[test]
    fn only_lengths_near_a_power_of_two_are_rounded() {
        assert_eq!(near_power_of_two(65.0), Some(64.0));
        assert_eq!(near_power_of_two(73.0), Some(64.0));
        assert_eq!(near_power_of_two(120.0), Some(128.0));
        assert_eq!(near_power_of_two(91.0), None);
        assert_eq!(near_power_of_two(f64::NAN), None);
    }
}
