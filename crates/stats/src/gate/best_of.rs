//! The rule 'no benchmark more than 8 % slower by its best run, and all together not more than 3 %', as
//! published for zigttp's gate, and how often it fails a program against itself.

use crate::geometric::geometric_mean;

/// The parameters of the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestOf {
    /// Largest regression of one benchmark, as a share.
    pub max_regression: f64,
    /// Largest regression of the geometric mean, as a share.
    pub max_geomean: f64,
    /// Number of runs of each side; only the fastest counts.
    pub runs: usize,
}

/// The result of the rule.
#[derive(Debug, Clone, PartialEq)]
pub struct BestOfVerdict {
    /// Fastest of head / fastest of base, by benchmark.
    pub ratios: Vec<f64>,
    /// Indices of the benchmarks that fail.
    pub worse: Vec<usize>,
    /// Geometric mean of the ratios.
    pub geomean: f64,
    /// Whether the geometric mean fails.
    pub geomean_worse: bool,
}

impl BestOfVerdict {
    /// Returns whether the suite fails.
    pub fn fails(&self) -> bool {
        self.geomean_worse || !self.worse.is_empty()
    }
}

/// How often the rule failed a suite compared with itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseFailures {
    /// Number of suites drawn from the null arm.
    pub suites: usize,
    /// Number of these suites that failed.
    pub failed: usize,
}

/// Judges the first runs of each benchmark at base and at head. Protected benchmarks count in the geometric
/// mean but can't fail alone.
pub fn best_of(rule: &BestOf, suite: &[(&[f64], &[f64])], protected: &[bool]) -> BestOfVerdict {
    let fastest = |runs: &[f64]| {
        runs.iter()
            .take(rule.runs)
            .copied()
            .fold(f64::INFINITY, f64::min)
    };
    let ratios: Vec<f64> = suite
        .iter()
        .map(|(base, head)| fastest(head) / fastest(base))
        .collect();
    let worse = ratios.iter().zip(protected).enumerate();
    let worse = worse
        .filter(|(_, (ratio, protected))| !**protected && **ratio > 1.0 + rule.max_regression)
        .map(|(place, _)| place)
        .collect();
    let geomean = geometric_mean(&ratios).unwrap_or(1.0);
    BestOfVerdict {
        ratios,
        worse,
        geomean,
        geomean_worse: geomean > 1.0 + rule.max_geomean,
    }
}

/// Draws suites from runs of the same program in the same rounds. For each benchmark it takes consecutive
/// rounds from a random position, so that similar neighbours stay together. `None` if a benchmark has fewer
/// rounds than the rule uses.
pub fn best_of_on_itself(
    rule: &BestOf,
    null_runs: &[(Vec<f64>, Vec<f64>)],
    protected: &[bool],
    suites: usize,
) -> Option<FalseFailures> {
    if null_runs.iter().any(|(one, _)| one.len() < rule.runs) || rule.runs == 0 {
        return None;
    }
    let mut state = 0x5eed_u64;
    let mut below = |limit: usize| {
        // SplitMix64, for a reproducible result.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    };
    let failed = (0..suites)
        .filter(|_| {
            let drawn: Vec<(&[f64], &[f64])> = null_runs
                .iter()
                .map(|(one, other)| {
                    let start = below(one.len() - rule.runs + 1);
                    let stretch = start..start + rule.runs;
                    match below(2) {
                        0 => (&one[stretch.clone()], &other[stretch]),
                        _ => (&other[stretch.clone()], &one[stretch]),
                    }
                })
                .collect();
            best_of(rule, &drawn, protected).fails()
        })
        .count();
    Some(FalseFailures { suites, failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: BestOf = BestOf {
        max_regression: 0.08,
        max_geomean: 0.03,
        runs: 5,
    };

    #[test]
    fn a_protected_benchmark_fails_only_by_the_geometric_mean() {
        let (base, slow) = (vec![1.0; 5], vec![1.2; 5]);
        let suite: Vec<(&[f64], &[f64])> = vec![(&base, &slow), (&base, &base), (&base, &base)];
        assert_eq!(best_of(&RULE, &suite, &[false; 3]).worse, [0]);
        let verdict = best_of(&RULE, &suite, &[true, false, false]);
        assert!(verdict.worse.is_empty() && verdict.geomean_worse);
        assert!((verdict.geomean - 1.2f64.powf(1.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn only_the_best_of_the_first_runs_counts() {
        let (base, head) = (
            [1.0, 1.1, 1.2, 1.3, 1.4, 0.1],
            [1.4, 1.05, 1.4, 1.4, 1.4, 0.5],
        );
        let verdict = best_of(&RULE, &[(&base, &head)], &[false]);
        assert!((verdict.ratios[0] - 1.05).abs() < 1e-12);
        assert!(verdict.worse.is_empty() && verdict.fails());
    }

    #[test]
    fn runs_that_are_alike_never_fail_and_wild_ones_do() {
        let alike = vec![(vec![1.0; 20], vec![1.0; 20]); 13];
        let protected = [false; 13];
        let none = best_of_on_itself(&RULE, &alike, &protected, 200);
        assert_eq!(
            none,
            Some(FalseFailures {
                suites: 200,
                failed: 0
            })
        );
        let wild = |seed: u32| {
            (0..40)
                .map(|i| 1.0 + f64::from((i * 7919 + seed * 104_729) % 97) / 50.0)
                .collect()
        };
        let wild: Vec<(Vec<f64>, Vec<f64>)> = (0..13).map(|i| (wild(i), wild(i + 50))).collect();
        let failed = best_of_on_itself(&RULE, &wild, &protected, 200).map_or(0, |one| one.failed);
        assert!(failed > 100, "{failed}");
        assert_eq!(
            best_of_on_itself(&RULE, &alike[..1], &[false], 0).map(|one| one.suites),
            Some(0)
        );
        assert_eq!(
            best_of_on_itself(&BestOf { runs: 21, ..RULE }, &alike, &protected, 9),
            None
        );
    }
}
