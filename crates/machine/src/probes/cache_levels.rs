//! Sizes of the caches beyond the first level, from the curve of load latency over working-set size.

use std::time::Duration;

use crate::chase::{Cycle, Layout};
use crate::context::Context;
use crate::cpu_gate::CpuOf;
use crate::mapping::Pages;
use crate::probes::first_level;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, of_two};
use crate::samples::quantile;
use crate::track::sample;

const CURVE: Heading = Heading {
    id: "cache_curve",
    title: "load latency by working set",
    unit: "ns",
    method: "one random cycle of pointers that grows from 4 KiB to four times the last-level cache; the 10th percentile \
         of the chunks of each size. The figure is that of the last, largest size.",
};

const SECOND: Heading = Heading {
    id: "l2_size_effective",
    title: "second-level cache, effective",
    unit: "B",
    method: "the largest working set whose latency is within 1.5 times the lowest latency beyond the first level; if \
         the address cache (see tlb_reach) covers less, the figure is smaller.",
};

const LAST: Heading = Heading {
    id: "last_level_effective",
    title: "last-level cache, effective",
    unit: "B",
    method: "where the curve is halfway (on a logarithmic scale) from the second level to memory; the part of a shared \
         cache that neighbours use is not included.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[first_level::HEADING, CURVE, SECOND, LAST];

/// Distance between slots in bytes.
const SPACING: usize = 64;

/// Measures the curve and derives the levels.
///
/// `addresses` are the results of the address-cache probe: if its reach ends near a level, the apparent size
/// of the level is caused by the address cache.
pub(crate) fn run(context: &Context, addresses: &[ProbeResult]) -> Vec<ProbeResult> {
    let most = context.memory_set();
    let Ok(mut cycle) = Cycle::new(most / SPACING, Layout::every(SPACING), Pages::Huge, 0xcac4e)
    else {
        let refuse = |heading: Heading| heading.not_measurable("no memory for the curve");
        return [first_level::HEADING, SECOND, LAST, CURVE]
            .map(refuse)
            .into();
    };
    let mut pass = || -> Vec<(f64, f64)> {
        cycle.restart();
        let sizes = sizes(most).into_iter();
        sizes
            .filter_map(|bytes| Some((bytes as f64, point(&mut cycle, bytes)?)))
            .collect()
    };
    let first = first_level::run(context);
    let passes = [pass(), pass()];
    let huge = cycle.mapping().huge_bytes();
    let [once, again] = passes.map(|points| levels(context, &first, &points));
    // Sizes may differ by one step of the curve (25 %), latencies by 15 %.
    let mut results: Vec<ProbeResult> = vec![first];
    results.extend(once.into_iter().zip(again).map(|(a, b)| {
        let tolerance = if a.id == CURVE.id { 0.15 } else { 0.3 };
        of_two(a, b, tolerance)
    }));
    let reach = addresses
        .iter()
        .find(|result| result.id == "tlb_reach")
        .and_then(|r| r.value);
    for result in &mut results {
        if result.id == SECOND.id
            && let (Some(bytes), Some(pages)) = (result.value, reach)
            && (0.7..=1.5).contains(&(bytes / (pages * 4096.0)))
        {
            result.add_note(format!(
                "the address cache reaches up to {}: it causes this knee, not the data cache",
                fathom_model::quantity::format_size(pages * 4096.0)
            ));
        }
    }
    if let Some(curve) = results.last_mut() {
        let share = huge.map_or(0.0, |huge| huge as f64 / cycle.mapping().bytes() as f64);
        curve.add_note(format!(
            "{:.0} % of the memory was in huge pages",
            (share * 100.0).min(100.0)
        ));
    }
    results
}

/// Returns the working sets: four per octave from 4 KiB to `most` bytes.
fn sizes(most: usize) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut octave = 4096;
    while octave <= most {
        for eighths in [8, 10, 12, 14] {
            sizes.push(octave / 8 * eighths);
        }
        octave *= 2;
    }
    sizes.retain(|size| *size <= most);
    sizes
}

/// Returns ns per load over `bytes`: the lowest tenth. For small sets this is the minimum (they have no other
/// users); for large ones it avoids chunks that were fast by chance.
fn point(cycle: &mut Cycle, bytes: usize) -> Option<f64> {
    let slots = bytes / SPACING;
    cycle.grow(slots);
    // One lap warms the caches; more than 2^18 slots don't fit into any relevant cache.
    cycle.walk((slots.min(1 << 18) / 16) as u64 + 1);
    // Chunks of 20 to 40 us: 8000 loads of 4 cycles, or 250 of 130 ns.
    let (rounds, time) = match bytes {
        // Time whole laps: the minimum over parts of a lap would only be the fastest part.
        b if b <= 512 << 10 => (
            (slots / 16).max(1) as u64 * (400 * 16 / slots).max(1) as u64,
            5,
        ),
        b if b <= 1 << 20 => (200, 10),
        b if b <= 4 << 20 => (80, 12),
        _ => (24, 20),
    };
    let mut chunk = || cycle.load_ns(rounds);
    let samples = sample(CpuOf::Thread, Duration::from_millis(time), &mut chunk);
    let p = if bytes <= 512 << 10 { 0.0 } else { 0.1 };
    (samples.values.len() >= 5)
        .then(|| quantile(&samples.values, p))
        .flatten()
}

/// Derives the effective sizes of the levels beyond the first from the curve.
fn levels(context: &Context, first: &ProbeResult, points: &[(f64, f64)]) -> Vec<ProbeResult> {
    let rising = isotonic(points);
    let reported = |level| context.cache_bytes(level).map(|bytes| bytes as f64);
    let first_bytes = first.value.or(first.reported).unwrap_or(32768.0);
    let mut second =
        SECOND.no_answer("for too many sizes, the CPU was not available for long enough");
    let mut last = LAST.no_answer("no step between the second level and memory was seen");
    // From 1.5 times the first level on, the curve shows the second level.
    let past: Vec<(f64, f64)> = rising
        .iter()
        .copied()
        .filter(|(bytes, _)| *bytes >= first_bytes * 1.5)
        .collect();
    // Sizes for which no CPU was available are missing. Without the size closest to the first level, the
    // lowest latency is not that of the second level.
    if let (Some((near, low)), Some((_, high))) = (past.first(), past.last())
        && *near <= first_bytes * 2.0
        && points.len() * 10 >= sizes(context.memory_set()).len() * 9
    {
        let within = past
            .iter()
            .take_while(|(_, ns)| *ns <= low * 1.5)
            .last()
            .map(|(bytes, _)| *bytes);
        if let Some(bytes) = within {
            second = derived(SECOND, bytes, past.len());
        }
        let half = (low * high).sqrt();
        if high / low > 3.0
            && let Some(at) = past.iter().position(|(_, ns)| *ns > half)
            && at > 0
        {
            last = derived(LAST, past[at - 1].0, past.len());
            last.add_note("the part that neighbours leave free at the moment, which varies");
        }
    }
    second.reported = reported(2);
    last.reported = context
        .caches
        .last()
        .filter(|c| c.level > 2)
        .map(|c| c.bytes as f64);
    let mut curve = match points.last() {
        Some((_, ns)) if points.len() >= 20 => derived(CURVE, *ns, points.len()),
        _ => CURVE.no_answer("for too many sizes, the CPU was not available for long enough"),
    };
    curve.set_points("bytes", "ns", points.to_vec());
    vec![second, last, curve]
}

fn derived(heading: Heading, value: f64, n: usize) -> ProbeResult {
    let mut result = heading.blank(Estimator::Derived, ProbeVerdict::Ok);
    result.value = Some(value);
    result.n = n;
    result
}

/// Returns the nearest rising curve (pool adjacent violators on the logarithm): latency can only grow with
/// the set, so any decrease is noise.
fn isotonic(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (_, ns) in points {
        blocks.push((ns.ln(), 1));
        while let [.., (before, m), (after, n)] = blocks[..]
            && before > after
        {
            blocks.truncate(blocks.len() - 2);
            blocks.push((
                (before * m as f64 + after * n as f64) / (m + n) as f64,
                m + n,
            ));
        }
    }
    let levels = blocks
        .iter()
        .flat_map(|(log, count)| std::iter::repeat_n(log.exp(), *count));
    points.iter().map(|(bytes, _)| *bytes).zip(levels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_step_four_times_an_octave() {
        assert_eq!(sizes(16384)[..5], [4096, 5120, 6144, 7168, 8192]);
        assert_eq!(*sizes(16384).last().unwrap(), 16384);
    }

    #[test]
    fn a_falling_point_is_pooled_with_its_neighbour() {
        let curve = isotonic(&[(1.0, 1.0), (2.0, 4.0), (3.0, 1.0), (4.0, 9.0)]);
        let ns: Vec<f64> = curve
            .iter()
            .map(|(_, ns)| (ns * 100.0).round() / 100.0)
            .collect();
        assert_eq!(ns, [1.0, 2.0, 2.0, 9.0]);
    }

    #[test]
    fn levels_are_read_from_a_curve_with_steps() {
        let curve: Vec<(f64, f64)> = sizes(128 << 20)
            .into_iter()
            .map(|b| {
                (
                    b as f64,
                    match b {
                        ..=32768 => 1.0,
                        32769..=524_288 => 3.5,
                        524_289..=16_777_216 => 12.0,
                        _ => 110.0,
                    },
                )
            })
            .collect();
        let context = Context::bare();
        let first = derived(first_level::HEADING, 32768.0, 2);
        let results = levels(&context, &first, &curve);
        assert_eq!(results[0].value, Some(524_288.0));
        assert_eq!(results[1].value, Some(16_777_216.0));
        assert_eq!(results[2].value, Some(110.0));
    }
}
