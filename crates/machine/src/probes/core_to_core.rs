//! The time for a cache line to move from one core to another.
//!
//! On some virtual machines it flips between "near" and "far" within seconds, and the bandwidth of two
//! threads with it (33 and 64 GB/s were measured). It is therefore measured immediately before and after
//! every figure of several threads and stored with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::context::Context;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::{Agreement, Samples, judge, quantile};

const HEADING: Heading = Heading {
    id: "core_to_core",
    title: "one core to another",
    unit: "ns",
    method: "two pinned threads pass a cache line back and forth, in bursts of 50 round trips over 16 lines in turn; \
         one way is half a round trip. The figure is the median of the lines' 10th percentiles. With more than two \
         CPUs, the first is paired with each of the others.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Round trips per burst.
const TRIPS: u64 = 50;

/// Number of lines that are handed over in turn. If cores and slices of the last-level cache are on a mesh, a
/// line's address determines its route: 50 to 76 ns from line to line, constant while the page stays (Intel
/// of 2023).
const LINES: usize = 16;

/// Maximum number of partners to try.
const MOST_PARTNERS: usize = 32;

const STOP: u64 = u64::MAX;

#[repr(align(256))]
struct Ball(AtomicU64);

/// One-way times in ns of bursts.
struct Bursts {
    of_line: Vec<Vec<f64>>,
}

impl Bursts {
    /// Minimum number of bursts for a result.
    const ENOUGH: usize = 20;

    fn all(&self) -> impl Iterator<Item = f64> + '_ {
        self.of_line.iter().flatten().copied()
    }

    /// Returns the tenth percentile of each line.
    fn lowest(&self) -> Vec<f64> {
        let lines = self.of_line.iter();
        lines.filter_map(|times| quantile(times, 0.1)).collect()
    }

    /// Returns the median over the lines; `None` with too few bursts.
    fn typical(&self) -> Option<f64> {
        let enough = self.all().count() >= Bursts::ENOUGH;
        enough.then(|| quantile(&self.lowest(), 0.5)).flatten()
    }
}

/// Measures bursts between the calling thread, which must be pinned, and `other`.
fn bursts(other: usize, time: Duration) -> Bursts {
    let balls: Arc<[Ball; LINES]> = Arc::new(std::array::from_fn(|_| Ball(AtomicU64::new(0))));
    let theirs = Arc::clone(&balls);
    let partner = std::thread::spawn(move || {
        let _pinned = Pinned::to(other);
        for ball in theirs.iter().cycle() {
            let mut left = TRIPS;
            let mut next = ball.0.load(Ordering::Relaxed) | 1;
            while left > 0 {
                let value = ball.0.load(Ordering::Acquire);
                if value == STOP {
                    return;
                }
                if value == next {
                    ball.0.store(next + 1, Ordering::Release);
                    next += 2;
                    left -= 1;
                } else {
                    std::hint::spin_loop();
                }
            }
        }
    });
    let start = Instant::now();
    let mut of_line = vec![Vec::new(); LINES];
    let mut count = 0;
    'all: while start.elapsed() < time || (count < 50 && start.elapsed() < time * 8) {
        let ball = &balls[count % LINES];
        let mut at = ball.0.load(Ordering::Relaxed);
        let burst = Instant::now();
        for _ in 0..TRIPS {
            ball.0.store(at + 1, Ordering::Release);
            let mut spins = 0u32;
            while ball.0.load(Ordering::Acquire) != at + 2 {
                std::hint::spin_loop();
                spins += 1;
                // A partner that doesn't run must not block the probe.
                if spins.is_multiple_of(4096) && start.elapsed() > time * 8 {
                    break 'all;
                }
            }
            at += 2;
        }
        of_line[count % LINES].push(burst.elapsed().as_nanos() as f64 / (2 * TRIPS) as f64);
        count += 1;
    }
    // The partner may answer once more before it sees the stop flag: keep storing until it ends.
    while !partner.is_finished() {
        for ball in balls.iter() {
            ball.0.store(STOP, Ordering::Release);
        }
        std::thread::yield_now();
    }
    let _ = partner.join();
    Bursts { of_line }
}

/// Takes one quick sample (5 ms) of the state between the context's CPU and the next; `None` with one CPU or
/// a partner that didn't run.
pub(crate) fn state(context: &Context) -> Option<f64> {
    let other = context
        .cpus
        .iter()
        .copied()
        .find(|cpu| *cpu != context.cpu)?;
    bursts(other, Duration::from_millis(5)).typical()
}

/// Runs the probe.
pub(crate) fn run(context: &Context) -> ProbeResult {
    let others: Vec<usize> = context
        .cpus
        .iter()
        .copied()
        .filter(|cpu| *cpu != context.cpu)
        .take(MOST_PARTNERS)
        .collect();
    if others.is_empty() {
        return HEADING.not_measurable("only one CPU may be used");
    }
    // Three passes over all pairs: a pair that changes its state gives no figure.
    let each = Duration::from_millis(20);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut passes: [Vec<Bursts>; 3] = Default::default();
    for other in others {
        let mut typical = Vec::new();
        for pass in &mut passes {
            let bursts = bursts(other, each);
            typical.extend(bursts.typical());
            pass.push(bursts);
        }
        points.extend(quantile(&typical, 0.5).map(|ns| (other as f64, ns)));
    }
    answer(points, &passes)
}

/// Returns the result of passes over all pairs.
fn answer(points: Vec<(f64, f64)>, passes: &[Vec<Bursts>]) -> ProbeResult {
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.25,
    };
    let lines = |pass: &Vec<Bursts>| Samples {
        values: pass.iter().flat_map(Bursts::lowest).collect(),
        ..Samples::default()
    };
    let samples: Vec<Samples> = passes.iter().map(lines).collect();
    let mut result = judge(HEADING, agreement, &samples);
    let all: Vec<f64> = passes.iter().flatten().flat_map(Bursts::all).collect();
    if let (Some(value), Some(median)) = (result.value, quantile(&all, 0.5))
        && median > value * 2.0
    {
        result.add_note(format!(
            "half of the bursts took {median:.0} ns or more: the pair has a second, slower state"
        ));
    }
    if result.verdict == ProbeVerdict::Disturbed {
        result.add_note("the pair switched between two states, or other programs ran in between");
    }
    result.set_points("(CPU)", "ns", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pass with `near` bursts of each line in the near state and `far` bursts in the far state.
    fn pass(near: usize, far: usize) -> Vec<Bursts> {
        let mut times = vec![30.0; near];
        times.extend(vec![150.0; far]);
        let of_line = vec![times; LINES];
        vec![Bursts { of_line }]
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
        assert_eq!(
            (result.value, result.verdict),
            (None, ProbeVerdict::Disturbed)
        );
    }

    #[test]
    fn the_middle_of_the_lines_counts() {
        let line = |line| vec![50.0 + line as f64; 3];
        let of_line = (0..LINES).map(line).collect();
        assert_eq!(Bursts { of_line }.typical(), Some(57.5));
        let few = Bursts {
            of_line: vec![vec![30.0]; LINES],
        };
        assert_eq!(few.typical(), None);
    }

    #[test]
    fn no_bursts_give_no_answer() {
        assert_eq!(answer(Vec::new(), &[]).verdict, ProbeVerdict::NoAnswer);
    }

    #[test]
    fn the_partner_ends_with_the_bursts() {
        let cpus = crate::affinity::allowed_cpus();
        if let [first, second, ..] = cpus[..] {
            let _pinned = Pinned::to(first);
            let bursts = bursts(second, Duration::from_millis(2));
            assert!(bursts.all().all(|ns| ns > 0.0));
        }
    }
}
