//! The cost of a chain of dependencies, compared with the same work without one.

use std::time::Duration;

use crate::kernels;
use crate::mapping::{Mapping, Pages};
use crate::result::{Estimator, Heading, ProbeResult};
use crate::ruler::Ruler;
use crate::samples::Agreement;
use crate::track::{Track, interleave};

const MEMORY: Heading = Heading {
    id: "prefix_through_memory",
    title: "prefix sum, through memory",
    unit: "cycles",
    method: "dst[i] = dst[i-1] + src[i] in the first-level cache, with each store feeding the next load; the time per \
         element, in the fastest chunk.",
};

const REGISTER: Heading = Heading {
    id: "prefix_through_register",
    title: "prefix sum, through a register",
    unit: "cycles",
    method: "the same sums with the running sum in a register; the time per element, in the fastest chunk.",
};

const FREE: Heading = Heading {
    id: "differences",
    title: "differences, no chain",
    unit: "cycles",
    method: "dst[i] = src[i+1] - src[i]: as many loads and stores, but no element waits for another; the time per \
         element, in the fastest chunk.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[MEMORY, REGISTER, FREE];

/// Number of elements: source and destination, 18 KiB together, fit the first-level cache.
const ELEMENTS: usize = 1024;

/// Words from the source to the destination: 8 KiB and half a page. At a distance near a multiple of 4096
/// bytes, loads wait for stores that only seem to have the same address: the prefix sum through a register
/// took 1.85 cycles per element instead of 1.
const SINK: usize = ELEMENTS + 256;

/// Number of passes of a chunk over the elements.
const LAPS: usize = 8;

/// Measures the three figures.
pub(crate) fn run() -> Vec<ProbeResult> {
    let tracks = vec![
        track(MEMORY, |src, dst| {
            kernels::prefix_through_memory(&src[1..], dst);
        }),
        track(REGISTER, |src, dst| {
            kernels::prefix_through_register(&src[1..], dst);
        }),
        track(FREE, kernels::differences),
    ];
    interleave(tracks, Duration::from_millis(300))
}

fn track(heading: Heading, work: fn(&[u64], &mut [u64])) -> Track {
    // A mapping and not a vector, so that the low bits of the addresses are the same in every process.
    let memory = Mapping::touched((SINK + ELEMENTS) * 8, Pages::Small);
    let mut words = memory.ok();
    let mut ruler = Ruler::new();
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.05,
    };
    Track::new(heading, agreement, Duration::from_millis(10), move || {
        let Some(memory) = &mut words else {
            return f64::NAN;
        };
        // SAFETY: the mapping is aligned, written, long enough, and borrowed exclusively.
        let words =
            unsafe { std::slice::from_raw_parts_mut(memory.base().cast::<u64>(), SINK + ELEMENTS) };
        let (source, sink) = words.split_at_mut(SINK);
        let cycles = ruler.cycles(|| {
            for _ in 0..LAPS {
                work(&source[..=ELEMENTS], sink);
            }
            std::hint::black_box(&sink);
        });
        cycles / (LAPS * ELEMENTS) as f64
    })
}
