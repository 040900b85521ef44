//! The size of the first-level data cache, by two methods that must agree.

use std::time::Duration;

use crate::chase::{Cycle, Layout};
use crate::context::Context;
use crate::cpu_gate::CpuOf;
use crate::mapping::Pages;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::quantile;
use crate::track::sample;

pub(super) const HEADING: Heading = Heading {
    id: "l1_size",
    title: "first-level cache, size",
    unit: "B",
    method: "two methods must agree: the largest working set whose random chase runs at first-level speed, in steps of \
         an eighth of an octave; and the number of lines one page apart that stay in the cache, times the page size.",
};

/// Distance between slots of the working set in bytes.
const SPACING: usize = 64;

/// Largest first-level cache that is searched for.
const MOST: usize = 512 << 10;

/// Maximum number of passes per method.
const MOST_PASSES: usize = 12;

/// Returns the size, or why there is none.
pub(super) fn run(context: &Context) -> ProbeResult {
    let mut result = measured(by_working_set, || by_conflicts(most_without_conflict));
    result.reported = context.cache_bytes(1).map(|bytes| bytes as f64);
    result
}

/// Makes passes of both methods until they agree on the size.
fn measured(
    working_set: impl Fn() -> Option<usize>,
    conflicts: impl Fn() -> Option<usize>,
) -> ProbeResult {
    let (mut stay, mut scattered) = (Vec::new(), Vec::new());
    let mut result = decide(&stay, &scattered);
    for _ in 0..MOST_PASSES {
        stay.extend(working_set());
        scattered.extend(conflicts());
        result = decide(&stay, &scattered);
        if result.value.is_some() {
            break;
        }
    }
    result
}

/// Returns the size on which both methods agree.
///
/// Disturbances evict lines and never add any, so the largest result of each method's passes counts. The
/// method with lines at page distance uses few lines and suffers less, so two of its passes must agree on the
/// largest result.
fn decide(working_set: &[usize], conflicts: &[usize]) -> ProbeResult {
    let disturbed = |note: String| {
        let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Disturbed);
        result.add_note(note);
        result
    };
    let Some(most) = working_set.iter().max() else {
        let why = "no knee below 512 KiB, or the CPU was not available";
        return HEADING.no_answer(why);
    };
    let Some(by_conflicts) = conflicts.iter().max() else {
        return disturbed(format!(
            "{most} bytes stay in the cache, and lines one page apart gave no answer"
        ));
    };
    if most != by_conflicts {
        // A neighbour on the core's other thread occupies a part of every set.
        return disturbed(format!(
            "{most} bytes stay in the cache, but lines one page apart give {by_conflicts}"
        ));
    }
    if conflicts.iter().filter(|bytes| *bytes == most).count() < 2 {
        return disturbed(format!("only one pass gave {most} bytes"));
    }
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Ok);
    result.value = Some(*most as f64);
    result.n = working_set.len() + conflicts.len();
    result.spread = Some(0.0);
    result
}

/// Returns the largest working set at first-level speed.
fn by_working_set() -> Option<usize> {
    let mut cycle = Cycle::new(MOST / SPACING, Layout::every(SPACING), Pages::Huge, 0x11).ok()?;
    let mut base = None;
    let mut largest = None;
    let mut octave = 8 << 10;
    while octave < MOST {
        for eighths in 8..16 {
            let bytes = octave / 8 * eighths;
            let ns = lap_time(&mut cycle, bytes / SPACING)?;
            let base = *base.get_or_insert(ns);
            // One line too many makes the loads of one set miss: 9 of 512 loads with 8 ways, an increase of 4
            // %.
            if ns > base * 1.1 {
                return largest;
            }
            largest = Some(bytes);
        }
        octave *= 2;
    }
    None
}

/// Returns the size by the lines that share a set. `most` returns how many lines at a distance (bytes) stay
/// cached.
///
/// If the distance is beyond the span of the sets, all lines share one set, and the product of lines and
/// distance is too large. It shrinks with the distance until the lines spread over several sets.
fn by_conflicts(most: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut least: Option<usize> = None;
    for distance in [4096, 2048, 1024] {
        let bytes = most(distance)? * distance;
        if least.is_some_and(|least| bytes >= least) {
            break;
        }
        least = Some(bytes);
    }
    least
}

/// Returns the largest number of lines `distance` bytes apart that are all loaded at first-level speed.
fn most_without_conflict(distance: usize) -> Option<usize> {
    let most = MOST / distance;
    let mut cycle = Cycle::new(most, Layout::every(distance), Pages::Huge, 0x5e7).ok()?;
    let base = lap_time(&mut cycle, 2)?;
    for lines in 3..=most {
        // With one line more than the ways of a set, the next line to load is always the one just evicted.
        if lap_time(&mut cycle, lines)? > base * 1.3 {
            return Some(lines - 1);
        }
    }
    None
}

/// Returns the shortest time per load over whole laps of `slots`.
fn lap_time(cycle: &mut Cycle, slots: usize) -> Option<f64> {
    cycle.grow(slots);
    let rounds = (slots * (8192 / slots).max(1) / 16) as u64;
    cycle.walk(rounds);
    let mut chunk = || cycle.load_ns(rounds);
    let samples = sample(CpuOf::Thread, Duration::from_millis(2), &mut chunk);
    quantile(&samples.values, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 32 << 10;

    #[test]
    fn both_methods_must_agree_on_their_largest() {
        assert_eq!(decide(&[SIZE], &[SIZE; 2]).value, Some(32768.0));
        assert_eq!(
            decide(&[28672, SIZE], &[24576, SIZE, SIZE]).value,
            Some(32768.0)
        );
        for (working_set, conflicts) in [
            (&[28672; 2][..], &[SIZE; 2][..]),
            (&[SIZE; 2], &[28672; 2]),
            (&[SIZE; 2], &[]),
            (&[SIZE; 2], &[SIZE]),
        ] {
            let result = decide(working_set, conflicts);
            assert_eq!(result.value, None);
            assert_eq!(result.verdict, ProbeVerdict::Disturbed);
        }
        let note = decide(&[28672; 2], &[SIZE; 2]).note.unwrap();
        assert!(note.contains("28672") && note.contains("32768"), "{note}");
        assert_eq!(decide(&[], &[]).verdict, ProbeVerdict::NoAnswer);
    }

    #[test]
    fn passes_end_when_the_methods_agree() {
        let calls = std::cell::Cell::new(0);
        let third_time = || {
            calls.set(calls.get() + 1);
            (calls.get() > 2).then_some(SIZE)
        };
        let result = measured(third_time, || Some(SIZE));
        assert_eq!((result.value, calls.get()), (Some(32768.0), 3));
        calls.set(0);
        let growing = || {
            calls.set(calls.get() + 1);
            Some(calls.get() * SIZE)
        };
        assert_eq!(measured(growing, || Some(SIZE)).value, None);
        assert_eq!(calls.get(), MOST_PASSES);
    }

    /// Returns how many lines at `distance` stay in a cache of `sets` sets of `ways` lines of 64 bytes.
    fn stay(sets: usize, ways: usize, distance: usize) -> usize {
        let used = (sets * 64 / distance).max(1);
        used * ways
    }

    #[test]
    fn the_ways_times_what_the_sets_span_is_the_size() {
        for (sets, ways) in [(64, 8), (64, 12), (256, 8), (32, 8), (128, 4), (16, 4)] {
            assert_eq!(
                by_conflicts(|distance| Some(stay(sets, ways, distance))),
                Some(sets * ways * 64),
                "{sets} sets, {ways} ways"
            );
        }
        assert_eq!(by_conflicts(|_| None), None);
    }
}
