//! How much separate measurements of the same thing differ.

use crate::unpaired::BetweenSessions;

/// Returns the variance between separate measurements of one series, from its history.
///
/// `measured` contains values in order of time, each with a key of what was measured; equal keys mean the
/// same code. If measurements of the same code have at least three degrees of freedom together, the result is
/// their pooled variance, which excludes real changes. Otherwise it is half the mean square of the
/// differences between measurements at most `apart` positions from each other (von Neumann 1941). Of these
/// distances, the one with the largest result counts, which covers a slow drift between the two sides.
/// Lasting steps of more than six median differences are attributed to the code and excluded. `None` for
/// fewer than four measurements. The second value tells whether the result is based on the same code.
pub fn between_sessions<K: Eq + std::hash::Hash>(
    measured: &[(f64, Option<K>)],
    apart: usize,
) -> Option<(BetweenSessions, bool)> {
    let logs: Vec<(f64, &Option<K>)> = measured
        .iter()
        .filter(|(value, _)| *value > 0.0 && value.is_finite())
        .map(|(value, code)| (value.ln(), code))
        .collect();
    if logs.len() < 4 {
        return None;
    }
    let same = pooled(&logs);
    if let Some((variance, freedom)) = same.filter(|(_, freedom)| *freedom >= 3.0) {
        return Some((BetweenSessions::Measured { variance, freedom }, true));
    }
    let levels: Vec<f64> = logs.iter().map(|(log, _)| *log).collect();
    let steps = steps(&levels);
    let farthest = apart.clamp(1, logs.len() / 2).min(FARTHEST);
    let found = (1..=farthest).filter_map(|distance| successive(&levels, &steps, distance));
    let (variance, freedom) = found.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some((BetweenSessions::Measured { variance, freedom }, false))
}

/// The maximum distance in positions: larger differences are mostly caused by changes of the code.
const FARTHEST: usize = 8;
/// A difference of more than this multiple of the median difference may be a step: this is 4 standard
/// deviations of noise.
const STEP: f64 = 6.0;

fn pooled<K: Eq + std::hash::Hash>(logs: &[(f64, &Option<K>)]) -> Option<(f64, f64)> {
    let mut groups: std::collections::HashMap<&K, Vec<f64>> = std::collections::HashMap::new();
    for (log, code) in logs {
        if let Some(code) = code {
            groups.entry(code).or_default().push(*log);
        }
    }
    let (mut squares, mut freedom) = (0.0, 0.0);
    for values in groups.values() {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        squares += values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        freedom += values.len() as f64 - 1.0;
    }
    (freedom > 0.0).then(|| (squares / freedom, freedom))
}

/// Returns the positions before which the code changed in a step: a large difference that stays large, in the
/// same direction, with the second neighbour on either side. A single measurement far from all others reverts
/// at once, and counts as drift. If it counted as two steps, 6.7 % of identical code would be called
/// different when one session in ten is an outlier.
fn steps(levels: &[f64]) -> Vec<usize> {
    let apart = |from: usize, to: usize| levels[to] - levels[from];
    let mut sizes: Vec<f64> = (1..levels.len())
        .map(|at| apart(at - 1, at).abs())
        .collect();
    sizes.sort_by(f64::total_cmp);
    let limit = STEP * sizes[sizes.len() / 2];
    let stays = |at: &usize| {
        let by = [
            apart(at - 1, *at),
            apart(at - 2, *at),
            apart(at - 1, at + 1),
        ];
        by.iter().all(|by| *by > limit) || by.iter().all(|by| *by < -limit)
    };
    (2..levels.len().saturating_sub(1)).filter(stays).collect()
}

/// Returns half the mean square of those differences over this distance that don't cross a step, and its
/// degrees of freedom.
fn successive(levels: &[f64], steps: &[usize], distance: usize) -> Option<(f64, f64)> {
    let crosses = |from: usize| {
        steps
            .iter()
            .any(|step| (from + 1..=from + distance).contains(step))
    };
    let squares: Vec<f64> = (0..levels.len() - distance)
        .filter(|from| !crosses(*from))
        .map(|from| (levels[from + distance] - levels[from]).powi(2))
        .collect();
    // Neighbouring differences share a measurement, so two thirds of them count.
    let freedom = (squares.len() as f64 * 2.0 / 3.0).max(1.0);
    let count = squares.len() as f64;
    (count > 0.0).then(|| (squares.iter().sum::<f64>() / 2.0 / count, freedom))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_code_are_no_drift() {
        let noise = [0.0, 0.01, -0.01, 0.02, 0.0, -0.02, 0.01, 0.0, 0.01, -0.01];
        let level = |i: usize| if i < 5 { 1.0 } else { 4.0 };
        let series: Vec<(f64, Option<u8>)> = (0..10)
            .map(|i| (level(i) * (1.0 + noise[i]), None))
            .collect();
        let (found, same) = between_sessions(&series, 1).unwrap();
        assert!(!same && found.share() < 0.1, "{found:?}");
        // If the code is known, only measurements of the same code count.
        let coded: Vec<(f64, Option<bool>)> = (0..10).map(|i| (series[i].0, Some(i < 5))).collect();
        let (found, same) = between_sessions(&coded, 1).unwrap();
        assert!(same && found.share() < 0.07, "{found:?}");
        assert!(between_sessions(&series[..3], 1).is_none());
    }
}
