//! Simulated machines: values with known truth, from fixed seeds. The tests and the example that prints the
//! table of error rates share this module.
#![allow(dead_code)] // Each user needs a part of it.

pub(crate) mod rejected;

use fathom_model::Verdict;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Generates random numbers of the distributions used here.
pub(crate) struct Random(StdRng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// Returns a uniform number in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random::<f64>()
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.0.random::<bool>()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// Returns an exponential number with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Returns a standard normal number (Box-Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The machine's effect on the times of consecutive runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    /// Independent runs, lognormal with a spread of 3 %.
    Independent,
    /// Like `Independent`, but every twentieth run takes 1 to 4 times as long.
    Outliers,
    /// The machine gets 20 % slower from the first run to the last.
    Drift,
    /// Slow waves: first-order autoregressive with a correlation of 0.9 and a spread of 5 %.
    Waves,
}

impl Noise {
    pub(crate) const ALL: [Noise; 4] = [
        Noise::Independent,
        Noise::Outliers,
        Noise::Drift,
        Noise::Waves,
    ];

    /// Returns the factors on the times of `count` runs, in run order.
    pub(crate) fn factors(self, count: usize, random: &mut Random) -> Vec<f64> {
        let mut wave = random.normal();
        let factor = |i: usize| {
            let own = 0.03 * random.normal();
            match self {
                Noise::Independent => own.exp(),
                Noise::Outliers if random.below(20) == 0 => {
                    own.exp() * (1.0 + 3.0 * random.uniform())
                }
                Noise::Outliers => own.exp(),
                Noise::Drift => own.exp() * (1.0 + 0.2 * i as f64 / count as f64),
                Noise::Waves => {
                    wave = 0.9 * wave + (1.0f64 - 0.81).sqrt() * random.normal();
                    (0.05 * wave + own / 3.0).exp()
                }
            }
        };
        (0..count).map(factor).collect()
    }
}

/// The order in which two programs run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Order {
    /// All runs of the reference, then all runs of the subject.
    Sequential,
    /// In rounds, in random order within each round.
    Rounds,
}

/// Returns times of a reference and of a subject that takes `ratio` times as long, `rounds` runs of each.
pub(crate) fn measure(
    noise: Noise,
    order: Order,
    rounds: usize,
    ratio: f64,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let factors = noise.factors(2 * rounds, random);
    match order {
        Order::Sequential => {
            let (reference, subject) = factors.split_at(rounds);
            (
                reference.to_vec(),
                subject.iter().map(|f| f * ratio).collect(),
            )
        }
        Order::Rounds => factors
            .chunks_exact(2)
            .map(|slots| {
                if random.coin() {
                    (slots[0], slots[1])
                } else {
                    (slots[1], slots[0])
                }
            })
            .map(|(reference, subject)| (reference, subject * ratio))
            .unzip(),
    }
}

/// Returns the share of `trials` in which `event` happens.
pub(crate) fn share(trials: u32, mut event: impl FnMut() -> bool) -> f64 {
    f64::from((0..trials).map(|_| u32::from(event())).sum::<u32>()) / f64::from(trials)
}

/// Returns the share of events that is exceeded by chance in one of 1,000 simulations if the true rate is
/// `rate`.
pub(crate) fn upper_limit(rate: f64, trials: u32) -> f64 {
    rate + 3.09 * (rate * (1.0 - rate) / f64::from(trials)).sqrt()
}

/// Distributions with one mode, which must never be mistaken for two.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Normal,
    NormalWithOutliers,
    Lognormal,
    WideLognormal,
    Exponential,
    Gamma,
    Uniform,
}

impl Shape {
    pub(crate) const ALL: [Shape; 7] = [
        Shape::Normal,
        Shape::NormalWithOutliers,
        Shape::Lognormal,
        Shape::WideLognormal,
        Shape::Exponential,
        Shape::Gamma,
        Shape::Uniform,
    ];

    pub(crate) fn value(self, random: &mut Random) -> f64 {
        match self {
            Shape::Normal => 10.0 + random.normal(),
            Shape::NormalWithOutliers if random.below(50) == 0 => {
                10.0 * (2.0 + 8.0 * random.uniform())
            }
            Shape::NormalWithOutliers => 10.0 + random.normal(),
            Shape::Lognormal => (0.25 * random.normal()).exp(),
            Shape::WideLognormal => random.normal().exp(),
            Shape::Exponential => random.exponential(),
            Shape::Gamma => random.exponential() + random.exponential(),
            Shape::Uniform => 1.0 + random.uniform(),
        }
    }

    pub(crate) fn values(self, n: usize, random: &mut Random) -> Vec<f64> {
        (0..n).map(|_| self.value(random)).collect()
    }
}

/// Returns `n` values, one in `one_in` of which is higher by `sigmas` standard deviations (2 %).
pub(crate) fn mixture(n: usize, one_in: usize, sigmas: f64, random: &mut Random) -> Vec<f64> {
    (0..n)
        .map(|i| 1.0 + 0.02 * (random.normal() + if i % one_in == 0 { sigmas } else { 0.0 }))
        .collect()
}

/// Measures at most `most` rounds, until the stopping rule ends the session. Returns the round at which it
/// claims a difference, and the direction (true: the subject takes longer).
pub(crate) fn stop_by_rule(
    noise: Noise,
    most: u32,
    ratio: f64,
    random: &mut Random,
) -> Option<(u32, bool)> {
    use fathom_stats::sequential::{after_all_looks, early, looks_due};
    let (reference, subject) = measure(noise, Order::Rounds, most as usize, ratio, random);
    let claim = |n: u32, alpha: f64| {
        let paired =
            fathom_stats::paired_ratio(&reference[..n as usize], &subject[..n as usize], 0.95)?;
        (paired.p_value <= alpha).then_some((n, paired.ratio.value > 1.0))
    };
    (1..=most)
        .find_map(|n| {
            let look = looks_due(n, 10);
            let is_due = look > looks_due(n - 1, 10);
            claim(n, early(is_due.then_some(look)?, 0.05).claim)
        })
        .or_else(|| claim(most, after_all_looks(0.05).claim))
}

/// Returns the result of a fixed number of rounds: `Some(true)` if it claims that the subject takes longer,
/// `Some(false)` if it claims that the subject takes less time.
pub(crate) fn claim(reference: &[f64], subject: &[f64]) -> Option<bool> {
    let allowance = fathom_stats::sequential::last(0.05, &[]);
    let paired = fathom_stats::paired_ratio(reference, subject, 0.95)?;
    (paired.p_value <= allowance.claim).then_some(paired.ratio.value > 1.0)
}

/// Uses a wrong method, which tests at 5 % after each round and stops at the first claim.
pub(crate) fn stop_by_peeking(noise: Noise, most: usize, random: &mut Random) -> bool {
    let (reference, subject) = measure(noise, Order::Rounds, most, 1.0, random);
    (6..=most).any(|n| {
        fathom_stats::paired_ratio(&reference[..n], &subject[..n], 0.95)
            .unwrap()
            .p_value
            <= 0.05
    })
}

/// Runs one family of ten comparisons; `real` of them differ by 3 %. Returns the numbers of true and false
/// claims.
pub(crate) fn family(
    real: usize,
    rounds: usize,
    corrected: bool,
    random: &mut Random,
) -> (usize, usize) {
    let samples: Vec<_> = (0..10)
        .map(|i| {
            let ratio = if i < real { 1.03 } else { 1.0 };
            measure(Noise::Independent, Order::Rounds, rounds, ratio, random)
        })
        .collect();
    let pairs: Vec<_> = samples
        .iter()
        .enumerate()
        .map(|(i, (reference, subject))| fathom_stats::PairData {
            reference_index: 0,
            subject_index: i,
            metric: fathom_model::Metric::Wall,
            reference,
            subject,
            margin: 0.0,
        })
        .collect();
    let allowance = fathom_stats::sequential::last(0.05, &[]);
    let together = fathom_stats::judge(&pairs, allowance);
    let claimed = |pair: &fathom_stats::PairData, judged: &[fathom_model::Comparison]| {
        let found = judged.iter().find(|c| c.subject == pair.subject_index);
        found.is_some_and(|c| matches!(c.verdict, Verdict::Faster | Verdict::Slower))
    };
    let claims: Vec<bool> = pairs
        .iter()
        .map(|p| match corrected {
            true => claimed(p, &together),
            false => claimed(p, &fathom_stats::judge(&[*p], allowance)),
        })
        .collect();
    let count = |range: &[bool]| range.iter().filter(|c| **c).count();
    (count(&claims[..real]), count(&claims[real..]))
}
