//! The latency of a load from the first-level cache, the second level, or memory.

use std::time::Duration;

use crate::chase::{Cycle, Layout};
use crate::context::{Context, NO_MEMORY_SET};
use crate::mapping::Pages;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::{Agreement, quantile};
use crate::track::Track;

pub(crate) const FIRST: Heading = Heading {
    id: "l1_latency",
    title: "load, first-level cache",
    unit: "ns",
    method: "a random cycle of pointers over 8 KiB, one per 64 bytes; each load depends on the previous one; the \
         fastest chunk.",
};

pub(crate) const SECOND: Heading = Heading {
    id: "l2_latency",
    title: "load, second-level cache",
    unit: "ns",
    method: "the same over 128 KiB (or four times a larger first level), which most address \
             caches still cover; the fastest chunk.",
};

pub(crate) const LAST: Heading = Heading {
    id: "l3_latency",
    title: "load, third-level cache",
    unit: "ns",
    method: "the same over twice the second level, with huge pages where granted; the median of the chunks of the best \
         pass; passes with ten times the second level's latency were served from memory and don't count.",
};

pub(crate) const MEMORY: Heading = Heading {
    id: "memory_latency",
    title: "load, memory",
    unit: "ns",
    method: "the same over four times the last-level cache (64 to 256 MiB; three times the cache if 256 MiB is less \
         than twice its size) with huge pages where granted; the median of the chunks of the best pass, because \
         faster chunks are not representative.",
};

/// Distance between slots in bytes: the line of most processors. With lines of 128 bytes, two slots share a
/// line, which a random order hides except for half of the loads.
const SPACING: usize = 64;

/// Returns a chunk of a chase over a cycle, in rounds of 16 loads.
fn chunk(mut cycle: Cycle, rounds: u64) -> impl FnMut() -> f64 {
    move || cycle.load_ns(rounds)
}

/// Returns the set for the second level: beyond the first level, within the address caches.
fn second_set(context: &Context) -> usize {
    let first = context.cache_bytes(1).unwrap_or(32 << 10);
    (first * 4).max(128 << 10)
}

/// Returns the probe of the first-level latency.
pub(crate) fn first() -> Result<Track, Box<ProbeResult>> {
    // 1500 rounds are 24000 loads, 27 us at 4 cycles.
    let least = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    small(FIRST, 8 << 10, least, 1500)
}

/// Returns the probe of the second-level latency.
pub(crate) fn second(context: &Context) -> Result<Track, Box<ProbeResult>> {
    // Physical placement differs between passes but not within one: 3 % is still appropriate.
    let least = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    small(SECOND, second_set(context), least, 800)
}

/// Returns the probe of the third-level latency. The set is small compared with the level, because invisible
/// neighbours leave only a part of it: less than 4 of 32 MiB on one host here, where a set of 4 MiB took 15
/// ns per load for a second and then 130 for the next, like memory. The second kind of pass doesn't measure
/// this level.
pub(crate) fn last(context: &Context) -> Result<Track, Box<ProbeResult>> {
    let (Some(second), Some(third)) = (context.cache_bytes(2), context.cache_bytes(3)) else {
        let why = "the kernel reports no third-level cache";
        return Err(Box::new(LAST.not_measurable(why)));
    };
    let bytes = third_set(second, third);
    let mut cycle = cycle(LAST, bytes)?;
    let within = latency_over(&mut cycle, second_set(context).min(second));
    cycle.grow(bytes / SPACING);
    cycle.walk((bytes / SPACING / 16) as u64 + 1);
    // In a tenth of the chunks of some passes, the second level serves more of the set (28 ns, the others 33
    // to 34), so the fastest chunks don't represent this level.
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.15,
    };
    Ok(Track::new(
        LAST,
        agreement,
        Duration::from_millis(30),
        chunk(cycle, 150),
    )
    .shared()
    .below(
        10.0 * within,
        "neighbours used all of it: loads came from memory",
    ))
}

/// Returns twice the second level, or half of the third if that is less. The second level then still serves a
/// part of the loads (10.6 ns, compared with 14.5 for a set four times the second level), but neighbours
/// often leave no room for more.
fn third_set(second: usize, third: usize) -> usize {
    (second * 2).min(third / 2)
}

/// Returns ns per load over a cycle that grows to `bytes`: the tenth percentile of several chunks.
fn latency_over(cycle: &mut Cycle, bytes: usize) -> f64 {
    let slots = bytes / SPACING;
    cycle.grow(slots);
    cycle.walk((slots / 16) as u64 + 1);
    let times: Vec<f64> = (0..40).map(|_| cycle.load_ns(100)).collect();
    quantile(&times, 0.1).unwrap_or(f64::INFINITY)
}

fn small(
    heading: Heading,
    bytes: usize,
    agreement: Agreement,
    rounds: u64,
) -> Result<Track, Box<ProbeResult>> {
    let mut cycle = cycle(heading, bytes)?;
    cycle.grow(bytes / SPACING);
    // One lap before the first chunk loads the set into the cache.
    cycle.walk((bytes / SPACING / 16) as u64 + 1);
    Ok(Track::new(
        heading,
        agreement,
        Duration::from_millis(15),
        chunk(cycle, rounds),
    )
    .in_cycles())
}

/// Returns the probe of the memory latency; building the cycle (about 0.1 s) comes on top of the passes.
pub(crate) fn memory(context: &Context) -> Result<Track, Box<ProbeResult>> {
    let bytes = context.memory_set();
    if !context.memory_set_is_memory() {
        return Err(Box::new(MEMORY.not_measurable(NO_MEMORY_SET)));
    }
    let mut cycle = cycle(MEMORY, bytes)?;
    cycle.grow(bytes / SPACING);
    // Memory refreshes and neighbours scatter the chunks by a tenth, which affects all loads of a program
    // too.
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.15,
    };
    Ok(Track::new(
        MEMORY,
        agreement,
        Duration::from_millis(40),
        chunk(cycle, 30),
    )
    .shared())
}

fn cycle(heading: Heading, bytes: usize) -> Result<Cycle, Box<ProbeResult>> {
    Cycle::new(bytes / SPACING, Layout::every(SPACING), Pages::Huge, 0x5eed)
        .map_err(|error| Box::new(heading.not_measurable(format!("no memory: {error}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_level_is_measured_between_the_second_and_its_own_size() {
        assert_eq!(third_set(512 << 10, 32 << 20), 1 << 20);
        assert_eq!(third_set(4 << 20, 12 << 20), 6 << 20);
    }

    #[test]
    fn without_a_third_level_there_is_no_figure() {
        let result = last(&Context::bare()).err().unwrap();
        assert_eq!(result.verdict, crate::result::ProbeVerdict::NotMeasurable);
    }
}
