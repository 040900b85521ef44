//! Series with known change points: recorded or simulated noise, with steps, spikes and drift added. The same
//! seed gives the same series.

use crate::random::Random;

/// Sizes of steps, as fractions.
pub(crate) const STEPS: [f64; 5] = [0.03, 0.05, 0.08, 0.10, 0.15];
/// Number of consecutive residuals that stay together when recorded noise is resampled.
const BLOCK: usize = 20;

/// The changes in a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Content {
    /// Only noise.
    Nothing,
    /// One permanent step.
    One,
    /// Three or four steps of different sizes.
    Several,
    /// A level that lasts 8 to 15 points.
    Short,
    /// One step, and single points that are 15 to 80 % too high.
    Spikes,
    /// A slope over 50 to 150 points, without a step.
    Drift,
}

impl Content {
    pub(crate) const ALL: [Content; 6] = [
        Content::Nothing,
        Content::One,
        Content::Several,
        Content::Short,
        Content::Spikes,
        Content::Drift,
    ];
}

/// A series with its true changes.
#[derive(Debug, Clone)]
pub(crate) struct Labelled {
    pub noise: String,
    pub content: Content,
    pub values: Vec<f64>,
    /// The first point of each new level, and the relative change.
    pub steps: Vec<(usize, f64)>,
    pub spikes: Vec<usize>,
    /// The first and the last point of a slope.
    pub drift: Option<(usize, usize)>,
}

/// The noise of the points.
#[derive(Debug, Clone)]
pub(crate) enum Noise {
    Normal(f64),
    Heavy(f64),
    /// Normal deviations, of which each point keeps this share of its neighbour's.
    Correlated(f64, f64),
    /// Normal deviations, rounded to this fraction.
    Quantised(f64, f64),
    /// Logarithms of value / median, in the order in which they were recorded.
    Recorded(String, Vec<f64>),
}

impl Noise {
    pub(crate) fn name(&self) -> String {
        match self {
            Noise::Normal(sd) => format!("normal {}", 100.0 * sd),
            Noise::Heavy(sd) => format!("heavy tails {}", 100.0 * sd),
            Noise::Correlated(share, sd) => format!("correlated {share} {}", 100.0 * sd),
            Noise::Quantised(sd, step) => format!("quantised {} {}", 100.0 * sd, 100.0 * step),
            Noise::Recorded(name, _) => name.clone(),
        }
    }

    /// Returns deviations of the logarithm.
    fn draw(&self, count: usize, random: &mut Random) -> Vec<f64> {
        match self {
            Noise::Normal(sd) | Noise::Quantised(sd, _) => {
                (0..count).map(|_| sd * random.normal()).collect()
            }
            Noise::Heavy(sd) => (0..count).map(|_| sd * random.heavy()).collect(),
            Noise::Correlated(share, sd) => {
                let own = sd * (1.0 - share * share).sqrt();
                let mut last = sd * random.normal();
                let next = |_| {
                    last = share * last + own * random.normal();
                    last
                };
                (0..count).map(next).collect()
            }
            Noise::Recorded(_, residuals) => {
                let mut drawn = Vec::with_capacity(count + BLOCK);
                while drawn.len() < count {
                    let start = random.below(residuals.len());
                    drawn.extend(residuals.iter().cycle().skip(start).take(BLOCK));
                }
                drawn.truncate(count);
                drawn
            }
        }
    }

    fn finish(&self, value: f64) -> f64 {
        match self {
            Noise::Quantised(_, step) => (value / step).round() * step,
            _ => value,
        }
    }
}

/// Makes one series.
pub(crate) fn labelled(noise: &Noise, content: Content, random: &mut Random) -> Labelled {
    let count = random.between(150, 320);
    let mut level = vec![0.0; count];
    let (mut steps, mut spikes, mut drift) = (Vec::new(), Vec::new(), None);
    let mut step = |level: &mut [f64], at: usize, size: f64, random: &mut Random| {
        let up = random.unit() < 0.6;
        let change = if up { size.ln_1p() } else { -size.ln_1p() };
        level[at..].iter_mut().for_each(|value| *value += change);
        steps.push((at, size));
    };
    let size = |random: &mut Random| STEPS[random.below(STEPS.len())];
    match content {
        Content::Nothing => {}
        Content::One | Content::Spikes => {
            let at = random.between(25, count - 25);
            let size = size(random);
            step(&mut level, at, size, random);
        }
        Content::Several => {
            let mut at = random.between(20, 50);
            while at + 20 < count && at < 4 * 60 {
                let size = size(random);
                step(&mut level, at, size, random);
                at += random.between(25, 90);
            }
        }
        Content::Short => {
            let at = random.between(30, count - 50);
            let length = random.between(8, 16);
            let size = STEPS[2 + random.below(3)];
            let change = if random.unit() < 0.6 {
                size.ln_1p()
            } else {
                -size.ln_1p()
            };
            level[at..at + length]
                .iter_mut()
                .for_each(|value| *value += change);
            steps.extend([(at, size), (at + length, size)]);
        }
        Content::Drift => {
            let length = random.between(50, 120);
            let start = random.between(15, count - length - 15);
            let change = STEPS[1 + random.below(4)].ln_1p();
            for (index, value) in level.iter_mut().enumerate() {
                let done = (index as f64 - start as f64) / length as f64;
                *value += change * done.clamp(0.0, 1.0);
            }
            drift = Some((start, start + length));
        }
    }
    if content == Content::Spikes {
        for _ in 0..random.between(3, 9) {
            let at = random.below(count);
            if !spikes.contains(&at) {
                level[at] += random.between(15, 80) as f64 / 100.0;
                spikes.push(at);
            }
        }
        spikes.sort_unstable();
    }
    let base = 10f64.powf(random.unit() * 3.0 - 3.0);
    let noise_values = noise.draw(count, random);
    let values = level
        .iter()
        .zip(noise_values)
        .map(|(level, deviation)| base * noise.finish((level + deviation).exp()))
        .collect();
    Labelled {
        noise: noise.name(),
        content,
        values,
        steps,
        spikes,
        drift,
    }
}
