//! Decides which of many p-values are significant if one in twenty claims may be false.

use crate::sequential::Allowance;

/// Benjamini and Hochberg's step-up rule (1995): returns true for each rejected hypothesis, with a false
/// discovery rate of at most `alpha` for independent or positively dependent p-values.
///
/// ```
/// let rejected = fathom_stats::benjamini_hochberg(&[0.001, 0.6, 0.02, 0.04], 0.05);
/// assert_eq!(rejected, [true, false, true, false]);
/// ```
pub fn benjamini_hochberg(p_values: &[f64], alpha: f64) -> Vec<bool> {
    let limit = share(rejections(p_values, alpha), p_values.len(), alpha);
    p_values
        .iter()
        .map(|p| limit.is_some_and(|limit| *p <= limit))
        .collect()
}

/// Returns the number of rejected hypotheses.
pub(crate) fn rejections(p_values: &[f64], alpha: f64) -> usize {
    let mut sorted = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (1..=sorted.len())
        .rev()
        .find(|&r| share(r, sorted.len(), alpha).is_some_and(|limit| sorted[r - 1] <= limit))
        .unwrap_or(0)
}

/// Returns the error allowance of each of `rejected` claims among `all`.
fn share(rejected: usize, all: usize, alpha: f64) -> Option<f64> {
    (rejected > 0).then(|| alpha * (rejected as f64 / all as f64))
}

/// Returns the allowance of each comparison. For claims it follows from the step-up rule. For intervals it is
/// the level that corresponds to the number of claims (Benjamini and Yekutieli 2005: false coverage rate). No
/// p-value is between the claim's allowance and the limit of the step-up rule.
pub(crate) fn each(p_values: &[f64], allowance: Allowance) -> Allowance {
    let rejected = rejections(p_values, allowance.claim).max(1);
    allowance.times(rejected as f64 / p_values.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_example_of_1995() {
        // Benjamini and Hochberg (1995), section 3.2: 15 p-values, four rejected at 0.05
        // (Bonferroni rejects three).
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let rejected = benjamini_hochberg(&p, 0.05);
        assert_eq!(rejected.iter().filter(|r| **r).count(), 4);
        assert!(rejected[..4].iter().all(|r| *r));
    }

    #[test]
    fn steps_up_past_a_p_value_that_fails_alone() {
        // 0.04 exceeds 0.05 / 2, but both are at most 0.05.
        assert_eq!(benjamini_hochberg(&[0.04, 0.05], 0.05), [true, true]);
        assert_eq!(benjamini_hochberg(&[0.04, 0.06], 0.05), [false, false]);
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
    }

    #[test]
    fn no_p_value_lies_between_the_rule_and_the_interval() {
        for p in [
            vec![0.001, 0.02, 0.3],
            vec![0.04, 0.9],
            vec![0.05],
            vec![0.2, 0.9],
        ] {
            let allowance = Allowance {
                interval: 0.25,
                claim: 0.05,
            };
            let limit = each(&p, allowance).claim;
            let by_interval: Vec<bool> = p.iter().map(|p| *p <= limit).collect();
            assert_eq!(by_interval, benjamini_hochberg(&p, 0.05), "{p:?}");
        }
    }
}
