//! Line length from two cores that write close to each other.
//!
//! Two pinned threads add to counters d bytes apart. Within one line, each addition waits for the other core.
//! Only chunks in which the partner's counter moved count: without that filter, a partner that isn't running
//! makes every distance look unshared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::context::Context;
use crate::mapping::{Mapping, Pages};
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::quantile;

const HEADING: Heading = Heading {
    id: "cache_line_by_sharing",
    title: "  by two cores writing close together",
    unit: "B",
    method: "two pinned threads add to two counters whose distance grows; only chunks in which both ran count; the \
         figure is the first distance at which neither thread waits for the other.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Distances tried, in bytes.
const DISTANCES: [usize; 8] = [8, 16, 24, 56, 64, 128, 256, 512];

/// Runs the probe; needs two CPUs.
pub(crate) fn run(context: &Context) -> ProbeResult {
    let Some(other) = context.cpus.iter().copied().find(|cpu| *cpu != context.cpu) else {
        return HEADING.not_measurable("only one CPU may be used");
    };
    let Ok(memory) = Mapping::touched(4096, Pages::Small) else {
        return HEADING.not_measurable("no memory");
    };
    let memory = Arc::new(memory);
    let points: Vec<(f64, f64)> = DISTANCES
        .iter()
        .filter_map(|distance| Some((*distance as f64, contended(&memory, *distance, other)?)))
        .collect();
    answer(points)
}

fn counter(memory: &Mapping, at: usize) -> &AtomicU64 {
    // SAFETY: `at` is a multiple of 8 inside the mapping, which is only written through atomics.
    unsafe { &*memory.base().add(at).cast::<AtomicU64>() }
}

/// Returns ns per addition while the partner adds to a counter `distance` bytes away; `None` if they never
/// overlapped.
fn contended(memory: &Arc<Mapping>, distance: usize, other: usize) -> Option<f64> {
    let stop = Arc::new(AtomicBool::new(false));
    let (theirs, halt) = (Arc::clone(memory), Arc::clone(&stop));
    let partner = std::thread::spawn(move || {
        let _pinned = Pinned::to(other);
        let mine = counter(&theirs, 1024 + distance);
        while !halt.load(Ordering::Relaxed) {
            for _ in 0..64 {
                mine.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mine = counter(memory, 1024);
    let seen = counter(memory, 1024 + distance);
    let start = Instant::now();
    let mut chunks = Vec::new();
    while start.elapsed() < Duration::from_millis(40) && !crate::deadline::passed() {
        let before = seen.load(Ordering::Relaxed);
        let chunk = Instant::now();
        for _ in 0..2000 {
            mine.fetch_add(1, Ordering::Relaxed);
        }
        let ns = chunk.elapsed().as_nanos() as f64 / 2000.0;
        // The partner must have run for most of the chunk, not only at one end of it.
        if seen.load(Ordering::Relaxed).wrapping_sub(before) > 200 {
            chunks.push(ns);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let _ = partner.join();
    (chunks.len() >= 10)
        .then(|| quantile(&chunks, 0.25))
        .flatten()
}

fn answer(points: Vec<(f64, f64)>) -> ProbeResult {
    let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
    result.n = points.len();
    if points.len() < DISTANCES.len() {
        result.add_note("the two threads did not run at the same time often enough");
        return result;
    }
    // The farthest pair gives the unshared cost; close pairs must cost clearly more.
    let free = points[points.len() - 1].1;
    let shared = |ns: f64| ns > free * 2.0;
    let first_free = points
        .iter()
        .position(|(_, ns)| !shared(*ns))
        .unwrap_or(points.len());
    let clean = first_free > 0 && points[first_free..].iter().all(|(_, ns)| !shared(*ns));
    match points.get(first_free) {
        // Distances step from 56 to 64 to 128: a knee at 8 to 24 means that nothing was shared.
        Some((distance, _)) if clean && *distance >= 64.0 => {
            result.value = Some(*distance);
            result.verdict = ProbeVerdict::Ok;
        }
        _ => result.add_note("no clear step between sharing a line and using separate lines"),
    }
    result.set_points("bytes apart", "ns", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(costs: [f64; 8]) -> Vec<(f64, f64)> {
        DISTANCES.iter().map(|d| *d as f64).zip(costs).collect()
    }

    #[test]
    fn the_line_is_the_first_distance_at_which_nobody_waits() {
        let result = answer(points([9.0, 8.0, 9.0, 8.0, 1.8, 1.7, 1.7, 1.7]));
        assert_eq!(result.value, Some(64.0));
        let wide = answer(points([9.0, 8.0, 9.0, 8.0, 8.8, 1.7, 1.7, 1.7]));
        assert_eq!(wide.value, Some(128.0));
    }

    #[test]
    fn no_contention_at_all_gives_no_answer() {
        assert_eq!(answer(points([1.7; 8])).verdict, ProbeVerdict::NoAnswer);
        let mixed = answer(points([9.0, 8.0, 9.0, 8.0, 1.8, 9.0, 1.7, 1.7]));
        assert_eq!(mixed.verdict, ProbeVerdict::NoAnswer);
    }

    #[test]
    fn a_starved_partner_gives_no_answer() {
        assert_eq!(answer(vec![(8.0, 9.0)]).verdict, ProbeVerdict::NoAnswer);
    }
}
