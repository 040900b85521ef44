//! The cost of a mispredicted branch, and how many outcomes the predictor learns.

use std::time::Duration;

use crate::chase::Xorshift;
use crate::cpu_gate::CpuOf;
use crate::kernels;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict, difference_if_both};
use crate::ruler::Ruler;
use crate::samples::{Agreement, quantile};
use crate::track::{Track, alone, sample};

const COST: Heading = Heading {
    id: "misprediction",
    title: "mispredicted branch",
    unit: "cycles",
    method: "a loop that branches on a bit of a random stream that never repeats, minus the same loop with the bit \
         masked out, divided by the number of mispredicted branches, which is half of all.",
};

const LEARNT: Heading = Heading {
    id: "predictor_capacity",
    title: "branch outcomes learnt",
    unit: "branches",
    method: "the cost per branch by length of a repeated random pattern; the figure is the longest pattern that costs \
         less than a tenth of the full penalty. Two patterns of each length are tried, and the cheaper one counts.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[COST, LEARNT];

/// Branches per chunk: 2000 x 20 cycles are 12 us.
const COUNT: u64 = 2000;

/// Measures both figures.
pub(crate) fn run() -> Vec<ProbeResult> {
    let cost = alone(cost());
    let learnt = match cost.value {
        Some(cycles) => learnt(cycles),
        None => LEARNT.no_answer("the cost of a misprediction was not measured"),
    };
    vec![cost, learnt]
}

fn cost() -> Track {
    let agreement = Agreement {
        estimator: Estimator::P10,
        tolerance: 0.05,
    };
    let mut state = 0x1234_5678_9abc_def1;
    let mut ruler = Ruler::new();
    Track::new(COST, agreement, Duration::from_millis(40), move || {
        let mut time = |mask| {
            let mut ones = 0;
            let cycles = ruler.cycles(|| ones = kernels::random_branches(&mut state, COUNT, mask));
            (cycles, ones)
        };
        let (steady, _) = time(0);
        let (random, ones) = time(1);
        // Mispredictions: a stream of fair bits can't be predicted better than by half.
        if !(COUNT / 3..=COUNT * 2 / 3).contains(&ones) {
            return f64::NAN;
        }
        (random - steady) / (COUNT as f64 / 2.0)
    })
}

/// Pattern lengths: three per octave.
const LENGTHS: [usize; 19] = [
    1024, 2048, 4096, 5120, 6144, 8192, 10240, 12288, 16384, 20480, 24576, 32768, 40960, 49152,
    65536, 81920, 98304, 131_072, 196_608,
];

/// Branches per timed piece: 8192 x 3 to 13 cycles are 8 to 33 us.
const PIECE: usize = 8192;

fn learnt(penalty: f64) -> ProbeResult {
    let pairs: Vec<(f64, [Option<f64>; 2])> = LENGTHS
        .iter()
        .map(|length| (*length as f64, [1, 2].map(|seed| pattern(*length, seed))))
        .collect();
    capacity_of(&pairs, penalty)
}

/// Returns the capacity by the better value of each pair of patterns: another program's branches can only
/// make it worse. The spread is the difference between the capacities of the two separate curves.
fn capacity_of(pairs: &[(f64, [Option<f64>; 2])], penalty: f64) -> ProbeResult {
    let by = |cost: &dyn Fn([Option<f64>; 2]) -> Option<f64>| {
        let points = pairs
            .iter()
            .filter_map(|(length, both)| Some((*length, cost(*both)?)));
        capacity(points.collect(), penalty)
    };
    let mut result = by(&|both| both.into_iter().flatten().reduce(f64::min));
    let each = [by(&|[a, _]| a).value, by(&|[_, b]| b).value];
    if result.value.is_some() {
        result.spread = difference_if_both(each);
    }
    result
}

/// Returns the cycles per branch of a random pattern of `length`, once learnt.
fn pattern(length: usize, seed: u64) -> Option<f64> {
    let mut random = Xorshift::new(seed * 0x9e37_79b9);
    let pattern: Vec<u8> = (0..length).map(|_| (random.next() >> 63) as u8).collect();
    // Learning takes several laps; more than 12 change nothing for the lengths tried.
    for _ in 0..12 {
        std::hint::black_box(kernels::pattern_branches(&pattern));
    }
    let mut at = 0;
    let mut ruler = Ruler::new();
    let mut chunk = || {
        let end = (at + PIECE).min(length);
        let piece = &pattern[at..end];
        let cycles = ruler.cycles(|| kernels::pattern_branches(piece));
        at = if end == length { 0 } else { end };
        cycles / piece.len() as f64
    };
    let samples = sample(CpuOf::Thread, Duration::from_millis(10), &mut chunk);
    (samples.values.len() >= 10)
        .then(|| quantile(&samples.values, 0.25))
        .flatten()
}

fn capacity(points: Vec<(f64, f64)>, penalty: f64) -> ProbeResult {
    let mut result = LEARNT.blank(Estimator::Derived, ProbeVerdict::NoAnswer);
    result.n = points.len();
    // Half of the branches of an unlearnt pattern are mispredicted: a tenth of that is the limit.
    let base = points
        .iter()
        .map(|(_, cycles)| *cycles)
        .fold(f64::INFINITY, f64::min);
    let limit = base + penalty / 2.0 * 0.2;
    let known = points
        .iter()
        .take_while(|(_, cycles)| *cycles <= limit)
        .count();
    if points.len() < LENGTHS.len() {
        result.add_note("for some lengths, the CPU was not available for long enough");
    } else if known == 0 || known == points.len() {
        result.add_note("no knee among the lengths tried");
    } else {
        result.value = Some(points[known - 1].0);
        result.verdict = ProbeVerdict::Ok;
        result.add_note(format!("{:.0} no longer learnt", points[known].0));
    }
    result.set_points("branches", "cycles", points);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_longest_pattern_before_the_cost_rises() {
        let points = LENGTHS.map(|n| (n as f64, if n <= 32768 { 3.0 } else { 9.0 }));
        assert_eq!(capacity(points.to_vec(), 18.0).value, Some(32768.0));
    }

    #[test]
    fn a_curve_without_a_knee_gives_no_answer() {
        let flat = LENGTHS.map(|n| (n as f64, 3.0));
        assert_eq!(
            capacity(flat.to_vec(), 18.0).verdict,
            ProbeVerdict::NoAnswer
        );
        assert_eq!(capacity(Vec::new(), 18.0).verdict, ProbeVerdict::NoAnswer);
    }
}
