//! How wide the core is at the moment: whether its other hardware thread is busy.
//!
//! Two hardware threads share one core. Work on the other one takes a part of every cycle: programs take 10
//! to 25 % longer, for milliseconds or for minutes. On a virtual machine the work may belong to another
//! machine, and then no accounting shows it: no time is stolen, and no thread waits for a CPU. But
//! independent additions reveal it: alone, a core starts 4.5 of them per cycle here (within 2 % for an hour);
//! next to a busy thread, it starts 3.4 to 4.3.

use std::time::Instant;

use crate::affinity::{self, Pinned};
use crate::kernels::chains::{self, Operation, PER_TURN};
use crate::ruler::{self, ns_per_cycle};
use crate::samples::quantile;

/// Number of independent chains, enough for the widest cores.
const CHAINS: usize = 6;

/// Iterations in one sample, each with [`PER_TURN`] additions per chain: 0.5 us.
const TURNS: u64 = 96;

/// A sample that takes at least this factor of the fastest samples shows that the core was shared. Unshared
/// samples are within 2.5 %, shared ones 7 to 30 % above.
const ALONE: f64 = 1.04;

/// Fraction of the fastest samples: these had the core to themselves for a moment, even if it is shared.
const QUICKEST: f64 = 0.01;

/// Number of samples judged together: a tenth of individual ones are above the limit by chance.
const STRETCH: usize = 32;

/// Samples of the cycles per addition, with other additions running in parallel.
#[derive(Debug, Default)]
pub(crate) struct CoreWidth {
    samples: Vec<f64>,
}

impl CoreWidth {
    /// Takes another sample and returns the cycles of an addition. The faster of two pieces counts: the first
    /// may find its code evicted from the caches.
    ///
    /// `ghz` is the core's clock at this moment.
    pub(crate) fn sample(&mut self, ghz: f64) -> f64 {
        let sample = piece(ghz).min(piece(ghz));
        self.samples.push(sample);
        sample
    }

    /// Returns the longest that a sample takes with the core to itself, derived from all samples so far.
    pub(crate) fn limit(&self) -> f64 {
        quantile(&self.samples, QUICKEST).map_or(f64::INFINITY, |quickest| quickest * ALONE)
    }

    /// Returns the fraction of the time in which the core was shared, 0 to 1, judged by the medians of groups
    /// of samples.
    pub(crate) fn shared(&self) -> f64 {
        self.shared_of(&self.samples)
    }

    /// Returns the shared fraction of the time for the first and the second half of the samples.
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

/// Number of samples for a single reading, of which the median counts.
const AT_ONCE: usize = 16;

/// Number of ruler pieces, of which the fastest counts.
const RULED: usize = 4;

/// Returns the cycles per addition, with other additions running in parallel, on this CPU at this moment;
/// takes about 40 us. `None` if the CPU isn't available.
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
        /// Creates a value from these samples.
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
        // Individual samples that take longer are due to chance.
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
