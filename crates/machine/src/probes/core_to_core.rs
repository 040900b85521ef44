//! How long a line takes from one core to another.
//!
//! On some virtual machines it flips between "near" and "far" within seconds, and the bandwidth
//! of two threads with it (33 against 64 GB/s was measured): it is taken right before and right
//! after every figure of several threads and stored with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::context::Context;
use crate::result::{Estimator, Heading, ProbeResult, Verdict};
use crate::samples::{Agreement, Samples, judge, quantile};

const HEADING: Heading = Heading {
    id: "core_to_core",
    title: "one core to another",
    unit: "ns",
    method: "two pinned threads hand one line back and forth; one way is half a round trip; bursts \
             of 50 trips, the tenth percentile. With more than two CPUs, the first against each.",
};

/// What is measured here.
pub const HEADINGS: &[Heading] = &[HEADING];

/// Round trips of one burst.
const TRIPS: u64 = 50;

/// Most partners that are tried.
const MOST_PARTNERS: usize = 32;

const STOP: u64 = u64::MAX;

#[repr(align(256))]
struct Ball(AtomicU64);

/// One-way times in ns of bursts between the calling thread, which must be pinned, and `other`.
pub fn bursts(other: usize, time: Duration) -> Vec<f64> {
    let ball = Arc::new(Ball(AtomicU64::new(0)));
    let theirs = Arc::clone(&ball);
    let partner = std::thread::spawn(move || {
        let _pinned = Pinned::to(other);
        let mut next = 1;
        loop {
            let value = theirs.0.load(Ordering::Acquire);
            if value == next {
                theirs.0.store(next + 1, Ordering::Release);
                next += 2;
            } else if value == STOP {
                return;
            } else {
                std::hint::spin_loop();
            }
        }
    });
    let start = Instant::now();
    let mut times = Vec::new();
    let mut at = 0;
    'all: while start.elapsed() < time || (times.len() < 50 && start.elapsed() < time * 8) {
        let burst = Instant::now();
        for _ in 0..TRIPS {
            ball.0.store(at + 1, Ordering::Release);
            let mut spins = 0u32;
            while ball.0.load(Ordering::Acquire) != at + 2 {
                std::hint::spin_loop();
                spins += 1;
                // A partner that does not run must not hold the probe.
                if spins.is_multiple_of(4096) && start.elapsed() > time * 8 {
                    break 'all;
                }
            }
            at += 2;
        }
        times.push(burst.elapsed().as_nanos() as f64 / (2 * TRIPS) as f64);
    }
    // The partner may answer once more before it sees the stop: keep storing until it ends.
    while !partner.is_finished() {
        ball.0.store(STOP, Ordering::Release);
        std::thread::yield_now();
    }
    let _ = partner.join();
    times
}

/// One quick look (5 ms) at the state between the context's CPU and the next; `None` with one
/// CPU or a partner that did not run.
pub fn state(context: &Context) -> Option<f64> {
    let other = context
        .cpus
        .iter()
        .copied()
        .find(|cpu| *cpu != context.cpu)?;
    let times = bursts(other, Duration::from_millis(5));
    (times.len() >= 20).then(|| quantile(&times, 0.1)).flatten()
}

/// The probe.
pub fn run(context: &Context) -> ProbeResult {
    let others: Vec<usize> = context
        .cpus
        .iter()
        .copied()
        .filter(|cpu| *cpu != context.cpu)
        .take(MOST_PARTNERS)
        .collect();
    if others.is_empty() {
        return ProbeResult::not_measurable(HEADING, "only one CPU may be used");
    }
    // Three passes over all pairs: a pair that moves between its states gives no figure.
    let each = Duration::from_millis(20);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut passes = vec![Samples::default(); 3];
    for other in others {
        let mut lowest = Vec::new();
        for pass in &mut passes {
            let times = bursts(other, each);
            if times.len() >= 20 {
                lowest.extend(quantile(&times, 0.1));
            }
            pass.values.extend(times);
        }
        points.extend(quantile(&lowest, 0.5).map(|ns| (other as f64, ns)));
    }
    answer(points, &passes)
}

fn answer(points: Vec<(f64, f64)>, passes: &[Samples]) -> ProbeResult {
    let agreement = Agreement {
        estimator: Estimator::P10,
        tolerance: 0.25,
    };
    let mut result = judge(HEADING, agreement, passes);
    if let (Some(value), Some(median)) = (result.value, result.median)
        && median > value * 2.0
    {
        result.add_note(format!(
            "half of the bursts took {median:.0} ns and more: the pair has a second state"
        ));
    }
    if result.verdict == Verdict::Disturbed {
        result.add_note("the pair moved between two states, or other programs ran in between");
    }
    result.set_points("(CPU)", "ns", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(near: usize, far: usize) -> Samples {
        let mut values = vec![30.0; near];
        values.extend(vec![150.0; far]);
        Samples {
            values,
            ..Samples::default()
        }
    }

    #[test]
    fn the_second_state_is_told() {
        let result = answer(vec![(1.0, 30.0)], &[pass(40, 60), pass(40, 60)]);
        assert_eq!(result.value, Some(30.0));
        assert!(result.note.unwrap().contains("150 ns"));
    }

    #[test]
    fn a_pair_that_moves_gives_no_figure() {
        let result = answer(vec![(1.0, 30.0)], &[pass(90, 10), pass(0, 100)]);
        assert_eq!((result.value, result.verdict), (None, Verdict::Disturbed));
    }

    #[test]
    fn no_bursts_give_no_answer() {
        assert_eq!(answer(Vec::new(), &[]).verdict, Verdict::NoAnswer);
    }

    #[test]
    fn the_partner_ends_with_the_bursts() {
        let cpus = crate::affinity::allowed_cpus();
        if let [first, second, ..] = cpus[..] {
            let _pinned = Pinned::to(first);
            let times = bursts(second, Duration::from_millis(2));
            assert!(times.iter().all(|ns| *ns > 0.0));
        }
    }
}
