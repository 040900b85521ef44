//! The rejected methods of comparison, used to count how often each makes a false claim. Each returns whether
//! it claims that the two samples differ.

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

use super::Random;

type Rule = fn(&[f64], &[f64], &mut Random) -> bool;

/// All methods, with their printed names.
pub(crate) const RULES: [(&str, Rule); 9] = [
    ("paired Wilcoxon / Hodges-Lehmann (chosen)", chosen),
    ("paired sign test", sign_test),
    ("paired t on the log ratios", paired_t),
    ("Welch t", welch),
    ("Mann-Whitney", mann_whitney),
    ("bootstrap of the ratio of medians", bootstrap),
    ("trim beyond 1.5 IQR, then Welch t", trimmed_welch),
    ("minimum differs by 1 %", minimum),
    ("mean +- sigma of the ratio leaves out 1", mean_sigma),
];

fn chosen(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    fathom_stats::paired_ratio(a, b, 0.95).unwrap().p_value <= 0.05
}

fn sign_test(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b / a).collect();
    let median = fathom_stats::median_interval(&ratios, 0.95).unwrap();
    median.low > 1.0 || median.high < 1.0
}

fn paired_t(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| (b / a).ln()).collect();
    let (mean, variance) = moments(&logs);
    let n = logs.len() as f64;
    student_p(mean / (variance / n).sqrt(), n - 1.0) <= 0.05
}

pub(crate) fn welch(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    let ((mean_a, var_a), (mean_b, var_b)) = (moments(a), moments(b));
    let (se_a, se_b) = (var_a / a.len() as f64, var_b / b.len() as f64);
    let t = (mean_b - mean_a) / (se_a + se_b).sqrt();
    let freedom = (se_a + se_b).powi(2)
        / (se_a.powi(2) / (a.len() as f64 - 1.0) + se_b.powi(2) / (b.len() as f64 - 1.0));
    student_p(t, freedom) <= 0.05
}

pub(crate) fn mann_whitney(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    let wins: usize = a.iter().map(|a| b.iter().filter(|b| *b > a).count()).sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let z = ((wins as f64 - n * m / 2.0).abs() - 0.5) / (n * m * (n + m + 1.0) / 12.0).sqrt();
    erfc(z / std::f64::consts::SQRT_2) <= 0.05
}

fn bootstrap(a: &[f64], b: &[f64], random: &mut Random) -> bool {
    let mut median_of_resample = |values: &[f64]| {
        let drawn: Vec<f64> = values
            .iter()
            .map(|_| values[random.below(values.len())])
            .collect();
        median(&drawn)
    };
    let mut ratios: Vec<f64> = (0..400)
        .map(|_| median_of_resample(b) / median_of_resample(a))
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let quantile = |q| fathom_stats::quantile(&ratios, q);
    quantile(0.025) > 1.0 || quantile(0.975) < 1.0
}

fn trimmed_welch(a: &[f64], b: &[f64], random: &mut Random) -> bool {
    welch(&trimmed(a), &trimmed(b), random)
}

fn minimum(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    (least(b) / least(a)).ln().abs() > 0.01
}

fn mean_sigma(a: &[f64], b: &[f64], _: &mut Random) -> bool {
    let ((mean_a, var_a), (mean_b, var_b)) = (moments(a), moments(b));
    let ratio = (mean_b / mean_a).max(mean_a / mean_b);
    let sigma = ratio * (var_a / mean_a.powi(2) + var_b / mean_b.powi(2)).sqrt();
    ratio - sigma > 1.0
}

fn trimmed(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (p25, p75) = (
        fathom_stats::quantile(&sorted, 0.25),
        fathom_stats::quantile(&sorted, 0.75),
    );
    let reach = 1.5 * (p75 - p25);
    sorted.retain(|v| (p25 - reach..=p75 + reach).contains(v));
    sorted
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    fathom_stats::quantile(&sorted, 0.5)
}

/// Returns the mean and sample variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (
        mean,
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0),
    )
}

/// Returns the two-sided p-value of Student's t.
fn student_p(t: f64, freedom: f64) -> f64 {
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}
