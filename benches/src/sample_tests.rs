//! The two tests usually applied to two samples of times, as a careful user of another tool would do with its
//! numbers. Fathom uses neither, because both assume independent runs, and neighbouring runs are not
//! independent.

use statrs::distribution::{Beta, ContinuousCDF, Normal, StudentsT};

/// Returns the two-sided p-value of Welch's t test for equal means; 1 if the samples don't allow one.
pub(crate) fn welch(a: &[f64], b: &[f64]) -> f64 {
    let part = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n, n - 1.0)
    };
    let ((mean_a, var_a, df_a), (mean_b, var_b, df_b)) = (part(a), part(b));
    let variance = var_a + var_b;
    let freedom = variance.powi(2) / (var_a.powi(2) / df_a + var_b.powi(2) / df_b);
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if variance > 0.0 => {
            2.0 * student.cdf(-((mean_a - mean_b) / variance.sqrt()).abs())
        }
        _ => 1.0,
    }
}

/// Returns the two-sided p-value of the Mann-Whitney test, by the normal approximation with corrections for
/// ties and continuity; 1 if the samples don't allow one.
pub(crate) fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = a
        .iter()
        .map(|v| (*v, true))
        .chain(b.iter().map(|v| (*v, false)))
        .collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (mut rank_sum, mut ties, mut start) = (0.0, 0.0, 0);
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let size = group.len() as f64;
        let rank = start as f64 + (size + 1.0) / 2.0;
        rank_sum += rank * group.iter().filter(|(_, of_a)| *of_a).count() as f64;
        ties += size.powi(3) - size;
        start += group.len();
    }
    let (n_a, n_b, n) = (a.len() as f64, b.len() as f64, all.len() as f64);
    let u = rank_sum - n_a * (n_a + 1.0) / 2.0;
    let variance = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n_a * n_b / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    2.0 * Normal::standard().cdf(-z)
}

/// Returns the 95 % confidence interval (Clopper and Pearson) of the probability of an event that happened
/// `count` times out of `of`.
pub(crate) fn proportion_interval(count: usize, of: usize) -> (f64, f64) {
    let (k, n) = (count as f64, of as f64);
    let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(p)).ok();
    let low = quantile(k, n - k + 1.0, 0.025).unwrap_or(0.0);
    let high = quantile(k + 1.0, n - k, 0.975).unwrap_or(1.0);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 8] = [3.1, 2.9, 3.4, 3.0, 3.3, 2.8, 3.2, 3.0];
    const B: [f64; 7] = [3.5, 3.3, 3.6, 3.2, 3.9, 3.4, 3.1];

    /// p-values of scipy 1.17.1: ttest_ind(A, B, equal_var=False) and
    /// mannwhitneyu(A, B, method="asymptotic"), ties included.
    #[test]
    fn p_values_are_those_of_scipy() {
        assert!((welch(&A, &B) - 0.019_082_098_430_032).abs() < 1e-9);
        assert!((mann_whitney(&A, &B) - 0.023_400_676_551_876).abs() < 1e-9);
    }

    #[test]
    fn clear_and_absent_differences_are_told_apart() {
        let far: Vec<f64> = A.iter().map(|v| v + 10.0).collect();
        assert!(welch(&A, &far) < 1e-12);
        assert!(mann_whitney(&A, &far) < 0.001);
        assert!((welch(&A, &A) - 1.0).abs() < 1e-9);
        assert!((mann_whitney(&A, &A) - 1.0).abs() < 1e-9);
        assert_eq!(mann_whitney(&[1.0; 5], &[1.0; 5]), 1.0);
        assert_eq!(welch(&[1.0; 5], &[1.0; 5]), 1.0);
    }

    #[test]
    fn five_of_a_hundred_have_the_textbook_interval() {
        let (low, high) = proportion_interval(5, 100);
        assert!(
            (low - 0.0164).abs() < 1e-4 && (high - 0.1128).abs() < 1e-4,
            "{low} {high}"
        );
        assert_eq!(proportion_interval(0, 40).0, 0.0);
        assert_eq!(proportion_interval(40, 40).1, 1.0);
    }
}
