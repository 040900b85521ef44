//! The cost of reading the time, and the steps in which time advances.

use std::time::{Duration, Instant};

use crate::kernels;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, difference_if_both};
use crate::samples::{Agreement, estimate, quantile};
use crate::track::Track;

pub(crate) const COST: Heading = Heading {
    id: "timer_cost",
    title: "reading the time",
    unit: "ns",
    method: "1000 reads of CLOCK_MONOTONIC in a row; the time per read, in the fastest chunk. Above about 200 ns, the \
         clock source forces a system call.",
};

const STEP: Heading = Heading {
    id: "timer_step",
    title: "smallest step of time",
    unit: "ns",
    method: "the most frequent non-zero difference of consecutive reads of CLOCK_MONOTONIC; \
             clock_getres claims 1 ns everywhere.",
};

const TICK: Heading = Heading {
    id: "counter_step",
    title: "counter step",
    unit: "ticks",
    method: "the most frequent non-zero difference of consecutive reads of the processor's counter; the greatest common \
         divisor of the differences is not used, because a few odd ones would distort it.",
};

/// The figures of the steps in which time advances.
pub(crate) const STEPS: &[Heading] = &[STEP, TICK];

/// Returns the probe of one clock reading.
pub(crate) fn cost() -> Track {
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };
    Track::new(COST, agreement, Duration::from_millis(10), || {
        let start = Instant::now();
        for _ in 0..1000 {
            std::hint::black_box(Instant::now());
        }
        start.elapsed().as_nanos() as f64 / 1000.0
    })
}

/// Measures the steps in which the clock and the counter advance.
pub(crate) fn steps() -> Vec<ProbeResult> {
    let mut clock = Vec::with_capacity(20_000);
    let mut last = Instant::now();
    for _ in 0..20_000 {
        let now = Instant::now();
        clock.push((now - last).as_nanos() as f64);
        last = now;
    }
    let mut counter = Vec::with_capacity(20_000);
    let mut last = kernels::ticks();
    for _ in 0..20_000 {
        let now = kernels::ticks();
        counter.push(now.wrapping_sub(last) as f64);
        last = now;
    }
    vec![step(STEP, &clock), step(TICK, &counter)]
}

fn step(heading: Heading, deltas: &[f64]) -> ProbeResult {
    let moved: Vec<f64> = deltas
        .iter()
        .copied()
        .filter(|delta| *delta > 0.0)
        .collect();
    let mut result = heading.blank(Estimator::Mode, ProbeVerdict::NoAnswer);
    result.n = moved.len();
    result.min = quantile(&moved, 0.0);
    result.p10 = quantile(&moved, 0.1);
    result.median = quantile(&moved, 0.5);
    match estimate(&moved, Estimator::Mode) {
        Some(mode) if moved.len() >= 100 => {
            result.value = Some(mode);
            result.verdict = ProbeVerdict::Ok;
            let (first, second) = moved.split_at(moved.len() / 2);
            let halves = [first, second].map(|half| estimate(half, Estimator::Mode));
            result.spread = difference_if_both(halves);
            let same = moved.iter().filter(|delta| **delta == mode).count();
            result.add_note(format!(
                "{:.0} % of the steps",
                same as f64 * 100.0 / moved.len() as f64
            ));
        }
        _ => result.add_note("the clock advanced in too few of the reads"),
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_the_most_frequent_one_and_not_a_divisor() {
        let mut deltas = vec![26.0; 60];
        deltas.extend([0.0; 50]);
        deltas.extend([52.0; 30]);
        deltas.extend([1.0, 77.0].repeat(10));
        let result = step(TICK, &deltas);
        assert_eq!((result.value, result.n), (Some(26.0), 110));
        // Different values in the second half: 26 and 52.
        assert_eq!(result.spread, Some(0.5));
    }

    #[test]
    fn a_clock_that_stands_still_gives_no_answer() {
        assert_eq!(step(STEP, &[0.0; 1000]).verdict, ProbeVerdict::NoAnswer);
    }
}
