//! Hunter (Fleming et al. 2023), now Apache Otava, with its default settings: windows of 50, Student's
//! t-test, p < 0.001 (0.01 for the first pass), no minimum change. apache-otava 0.8.0 itself reports the same
//! points in 29 of 30 of these series.

use statrs::distribution::{ContinuousCDF, StudentsT};

const WINDOW: usize = 50;
const P_VALUE: f64 = 0.001;

pub(crate) fn change_points(values: &[f64]) -> Vec<usize> {
    let mut cuts = split(values);
    loop {
        let levels = bounds(&cuts, values.len());
        let weakest = (0..cuts.len())
            .map(|i| {
                (
                    t_test(
                        &values[levels[i]..levels[i + 1]],
                        &values[levels[i + 1]..levels[i + 2]],
                    ),
                    i,
                )
            })
            .fold(None, |worst: Option<(f64, usize)>, one| match worst {
                Some(worst) if worst.0 >= one.0 => Some(worst),
                _ => Some(one),
            });
        match weakest {
            Some((p, index)) if p >= P_VALUE => {
                cuts.remove(index);
            }
            _ => return cuts,
        }
    }
}

fn bounds(cuts: &[usize], end: usize) -> Vec<usize> {
    let mut all = vec![0];
    all.extend(cuts);
    all.push(end);
    all
}

/// Makes the first pass. Windows advance by half of their length, or to the last point found.
fn split(values: &[f64]) -> Vec<usize> {
    let mut cuts: Vec<usize> = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let end = (start + WINDOW).min(values.len());
        let own = divide(&values[start..end]);
        let last = own.last().map_or(0, |cut| start + cut);
        cuts.extend(own.iter().map(|cut| start + cut));
        start = last.max(start + WINDOW / 2);
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn divide(values: &[f64]) -> Vec<usize> {
    let mut cuts: Vec<usize> = Vec::new();
    loop {
        let levels = bounds(&cuts, values.len());
        let mut best: Option<(f64, usize, usize, usize)> = None;
        for level in levels.windows(2) {
            if level[1] - level[0] > 1 {
                let (q, cut) = largest_q(&values[level[0]..level[1]]);
                if best.is_none_or(|best| q > best.0) {
                    best = Some((q, level[0] + cut, level[0], level[1]));
                }
            }
        }
        match best {
            Some((_, cut, start, end))
                if t_test(&values[start..cut], &values[cut..end]) <= 10.0 * P_VALUE =>
            {
                cuts.push(cut);
                cuts.sort_unstable();
            }
            _ => return cuts,
        }
    }
}

/// Returns the cut with the largest energy statistic over all cuts and all ends of the right part.
fn largest_q(values: &[f64]) -> (f64, usize) {
    let n = values.len();
    let distance = |i: usize, j: usize| (values[i] - values[j]).abs();
    let mut best = (f64::NEG_INFINITY, 1);
    for cut in 1..n {
        let within_left: f64 = (0..cut)
            .map(|i| (i + 1..cut).map(|k| distance(i, k)).sum::<f64>())
            .sum();
        let (mut across, mut within_right) = (0.0, 0.0);
        for end in cut + 1..=n {
            across += (0..cut).map(|i| distance(i, end - 1)).sum::<f64>();
            within_right += (cut..end - 1).map(|i| distance(i, end - 1)).sum::<f64>();
            let (left, right) = (cut as f64, (end - cut) as f64);
            let mean = |sum: f64, others: f64, own: f64| {
                if own > 1.0 {
                    2.0 * others / (left + right) / (own - 1.0) * sum
                } else {
                    0.0
                }
            };
            let q = 2.0 / (left + right) * across
                - mean(within_left, right, left)
                - mean(within_right, left, right);
            if q > best.0 {
                best = (q, cut);
            }
        }
    }
    best
}

/// Returns the two-sided p-value of Student's test with a common variance. Uses the deviations of the
/// populations (divided by n), as the tool does.
fn t_test(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (left.len() as f64, right.len() as f64);
    if n + m <= 2.0 {
        return 1.0;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (a, b) = (mean(left), mean(right));
    let variance = |values: &[f64], mean: f64| {
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
    };
    let freedom = n + m - 2.0;
    let common = ((n - 1.0) * variance(left, a) + (m - 1.0) * variance(right, b)) / freedom;
    let error = (common * (1.0 / n + 1.0 / m)).sqrt();
    if error == 0.0 {
        return if a == b { 1.0 } else { 0.0 };
    }
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) => 2.0 * t.sf(((a - b) / error).abs()),
        Err(_) => 1.0,
    }
}
