//! E-divisive (Matteson and James 2014): the cut with the largest energy distance, kept if fewer than one in
//! a hundred permutations within the levels have a larger one. The parameters are those of MongoDB's
//! signal-processing-algorithms (Daly et al. 2020): p < 0.01, with 199 permutations here.

use crate::random::Random;

const PERMUTATIONS: usize = 199;
const P_VALUE: f64 = 0.01;
/// Minimum length of a level. MongoDB's implementation uses three; in R's `ecp`, this is a separate
/// parameter.
const SHORTEST: usize = 3;

pub(crate) fn change_points(values: &[f64]) -> Vec<usize> {
    let mut random = Random::new(1);
    let mut cuts = vec![0, values.len()];
    loop {
        let (gain, cut) = best_of_all(values, &cuts);
        if gain <= 0.0 {
            break;
        }
        let mut larger = 0;
        let mut shuffled = values.to_vec();
        for _ in 0..PERMUTATIONS {
            for level in cuts.windows(2) {
                let part = &mut shuffled[level[0]..level[1]];
                for last in (1..part.len()).rev() {
                    part.swap(last, random.below(last + 1));
                }
            }
            larger += usize::from(best_of_all(&shuffled, &cuts).0 >= gain);
        }
        if (larger + 1) as f64 / (PERMUTATIONS + 1) as f64 > P_VALUE {
            break;
        }
        cuts.push(cut);
        cuts.sort_unstable();
    }
    cuts[1..cuts.len() - 1].to_vec()
}

fn best_of_all(values: &[f64], cuts: &[usize]) -> (f64, usize) {
    let levels = cuts.windows(2);
    let best = levels.map(|level| {
        let (gain, cut) = best_cut(&values[level[0]..level[1]]);
        (gain, level[0] + cut)
    });
    best.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
}

/// Returns the largest Q = mn/(m+n) (2 E|X-Y| - E|X-X'| - E|Y-Y'|) over all cuts: O(n²).
fn best_cut(values: &[f64]) -> (f64, usize) {
    let n = values.len();
    if n < 2 * SHORTEST {
        return (0.0, 0);
    }
    let row = |index: usize, range: std::ops::Range<usize>| -> f64 {
        values[range]
            .iter()
            .map(|other| (values[index] - other).abs())
            .sum()
    };
    let (mut left, mut across, mut right) = (0.0, 0.0, 0.0);
    for index in 0..n {
        right += row(index, index + 1..n);
    }
    let mut best = (0.0, 0);
    for cut in 1..n {
        let (to_left, to_right) = (row(cut - 1, 0..cut - 1), row(cut - 1, cut..n));
        left += to_left;
        right -= to_right;
        across += to_right - to_left;
        let (m, k) = (cut as f64, (n - cut) as f64);
        if cut < SHORTEST || n - cut < SHORTEST {
            continue;
        }
        let energy =
            2.0 * across / (m * k) - 2.0 * left / (m * (m - 1.0)) - 2.0 * right / (k * (k - 1.0));
        let gain = m * k / (m + k) * energy;
        if gain > best.0 {
            best = (gain, cut);
        }
    }
    best
}
