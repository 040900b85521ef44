//! How wide the core is at this moment: whether its other hardware thread is at work.
//!
//! Two hardware threads share one core. What runs on the other one takes a part of every cycle:
//! programs take 10 to 25 % longer, for milliseconds or for minutes at a time. On a virtual machine
//! it may be another machine's, and then no account shows it: nothing is stolen, and nobody waits
//! for a CPU. But additions that don't need each other show it: alone, a core starts 4.5 of them in
//! a cycle here (for an hour within 2 %), beside the other thread 3.4 to 4.3.

use std::time::Instant;

use crate::affinity::{self, Pinned};
use crate::kernels::chains::{self, Operation, PER_TURN};
use crate::ruler::{self, ns_per_cycle};
use crate::samples::quantile;

/// Chains of additions that are enough for the widest cores.
const CHAINS: usize = 6;

/// Turns of [`PER_TURN`] additions of each chain in one sample: 0.5 us.
const TURNS: u64 = 96;

/// A sample that took so much longer than the quickest ones found a shared core. Alone they lie
/// within 2.5 %, beside the other thread 7 to 30 % above.
const ALONE: f64 = 1.04;

/// The quickest samples: alone for the moment, whoever else is there.
const QUICKEST: f64 = 0.01;

/// Looks that are judged together: a tenth of single ones lie above the limit by chance.
const STRETCH: usize = 32;

/// Cycles that an addition takes beside others.
#[derive(Debug, Default)]
pub(crate) struct CoreWidth {
    samples: Vec<f64>,
}

impl CoreWidth {
    /// Looks once more; what an addition took. Of two pieces the quicker one: the first may find
    /// its code gone from the caches.
    ///
    /// `ghz` is the core's clock at this moment.
    pub(crate) fn sample(&mut self, ghz: f64) -> f64 {
        let sample = piece(ghz).min(piece(ghz));
        self.samples.push(sample);
        sample
    }

    /// Most that a sample may have taken with the core for itself, by all samples so far.
    pub(crate) fn limit(&self) -> f64 {
        quantile(&self.samples, QUICKEST).map_or(f64::INFINITY, |quickest| quickest * ALONE)
    }

    /// Part of the time in which the core was shared, 0 to 1: of stretches of some samples, by
    /// their median.
    pub(crate) fn shared(&self) -> f64 {
        self.shared_of(&self.samples)
    }

    /// The same of the first half of the samples and of the second.
    pub(crate) fn halves(&self) -> [f64; 2] {
        let (first, second) = self.samples.split_at(self.samples.len() / 2);
        [first, second].map(|half| self.shared_of(half))
    }

    fn shared_of(&self, samples: &[f64]) -> f64 {
        let limit = self.limit();
        let stretches = samples.chunks(STRETCH);
        let all = stretches.len().max(1);
        let shared =
            stretches.filter(|samples| quantile(samples, 0.5).is_some_and(|sample| sample > limit));
        shared.count() as f64 / all as f64
    }
}

/// Looks of which the median counts where one is taken at a single moment.
const AT_ONCE: usize = 16;

/// Pieces of the ruler of which the quickest counts.
const RULED: usize = 4;

/// Cycles that an addition takes beside others on this CPU at this moment: some 40 us. `None` where
/// the CPU is not to be had.
pub fn cycles_per_addition(cpu: usize) -> Option<f64> {
    if !affinity::allowed_cpus().contains(&cpu) {
        return None;
    }
    let _pinned = Pinned::to(cpu);
    let cycle_ns = (0..RULED)
        .map(|_| ns_per_cycle(ruler::TURNS))
        .fold(f64::INFINITY, f64::min);
    let samples: Vec<f64> = (0..AT_ONCE).map(|_| piece(1.0 / cycle_ns)).collect();
    quantile(&samples, 0.5)
}

fn piece(ghz: f64) -> f64 {
    let start = Instant::now();
    std::hint::black_box(chains::run(Operation::Add, CHAINS, TURNS));
    let cycles = start.elapsed().as_nanos() as f64 * ghz;
    cycles / (TURNS * PER_TURN * CHAINS as u64) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruler::Ruler;

    impl CoreWidth {
        /// With these samples behind it.
        pub(crate) fn of(samples: &[f64]) -> CoreWidth {
            CoreWidth {
                samples: samples.to_vec(),
            }
        }
    }

    #[test]
    fn looks_that_took_longer_than_the_quickest_are_shared() {
        let stretches = |of: &[f64]| CoreWidth {
            samples: of.iter().flat_map(|sample| [*sample; STRETCH]).collect(),
        };
        assert_eq!(stretches(&[0.222, 0.22, 0.224, 0.226]).shared(), 0.0);
        let late = stretches(&[0.222, 0.222, 0.26, 0.28]);
        assert_eq!((late.shared(), late.halves()), (0.5, [0.0, 1.0]));
        assert_eq!(CoreWidth::default().shared(), 0.0);
        // Single samples that took longer are chance.
        let mut alone = stretches(&[0.222, 0.222]);
        (0..10).for_each(|i| alone.samples[i * 6] = 0.3);
        assert_eq!(alone.shared(), 0.0);
    }

    #[test]
    fn additions_side_by_side_take_less_than_a_cycle_each() {
        let (mut width, mut ruler) = (CoreWidth::default(), Ruler::new());
        let samples: Vec<f64> = (0..500).map(|_| width.sample(ruler.ghz())).collect();
        let least = quantile(&samples, 0.0).unwrap();
        assert!((0.05..0.8).contains(&least), "{least}");
        let here = affinity::allowed_cpus()[0];
        let once = cycles_per_addition(here).unwrap();
        assert!((0.05..3.0).contains(&once), "{once}");
        assert_eq!(cycles_per_addition(1 << 20), None);
    }
}
