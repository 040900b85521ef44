//! Tests the agreement with published results: NIST's certified values, R, and Pragmastat's test vectors.

use fathom_model::{Metric, Summary};
use fathom_stats::{paired_ratio, summarize};

fn summary(values: &[f64]) -> Summary {
    summarize(Metric::Wall, values, 0.95).unwrap()
}

/// Checks the mean and the deviation of `values`. `digits` is the required number of agreeing digits (NIST
/// calls it the log relative error).
fn assert_certified(name: &str, values: &[f64], mean: f64, deviation: f64, digits: i32) {
    let summary = summary(values);
    let agrees = |got: f64, certified: f64| (got / certified - 1.0).abs() < 10f64.powi(-digits);
    assert!(
        (summary.mean / mean - 1.0).abs() < 1e-14,
        "{name}: mean {}",
        summary.mean
    );
    let got = summary.standard_deviation;
    assert!(agrees(got, deviation), "{name}: standard deviation {got}");
}

/// NIST Statistical Reference Datasets, univariate (www.itl.nist.gov/div898/strd; public domain). NumAcc3 and
/// NumAcc4 already lose digits when their decimals are converted to binary.
#[test]
fn mean_and_deviation_agree_with_nist() {
    let alternating = |first: f64, low: f64, high: f64| -> Vec<f64> {
        let rest = (0..1000).map(|i| if i % 2 == 0 { low } else { high });
        std::iter::once(first).chain(rest).collect()
    };
    assert_certified(
        "NumAcc1",
        &[10_000_001.0, 10_000_003.0, 10_000_002.0],
        10_000_002.0,
        1.0,
        14,
    );
    assert_certified("NumAcc2", &alternating(1.2, 1.1, 1.3), 1.2, 0.1, 13);
    assert_certified(
        "NumAcc3",
        &alternating(1_000_000.2, 1_000_000.1, 1_000_000.3),
        1_000_000.2,
        0.1,
        9,
    );
    assert_certified(
        "NumAcc4",
        &alternating(10_000_000.2, 10_000_000.1, 10_000_000.3),
        10_000_000.2,
        0.1,
        8,
    );
    assert_certified("Mavro", &MAVRO, 2.001_856, 0.000_429_123_454_003_053, 12);
    assert_certified(
        "Michelso",
        &MICHELSO,
        299.852_4,
        0.079_010_547_819_051_8,
        12,
    );
    assert_certified(
        "Lew",
        &LEW.map(f64::from),
        -177.435,
        277.332_168_044_316,
        14,
    );
}

/// Values of the Hamilton depression scale of nine patients before and after (Hollander and Wolfe 1973, p.
/// 29), as in R's `example(wilcox.test)`: V = 40, p = 0.01953 one-sided, 0.03906 two-sided. Interval and
/// estimate: `wilcox.test(x, y, paired = TRUE, conf.int = TRUE)`.
#[test]
#[allow(clippy::approx_constant, reason = "3.14 is a patient's score")]
fn paired_test_agrees_with_r() {
    let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    // Log ratios here correspond to differences in R.
    let (x, y) = (x.map(f64::exp), y.map(f64::exp));
    let paired = paired_ratio(&y, &x, 0.95).unwrap();
    assert!((paired.p_value - 0.039_062_5).abs() < 1e-12);
    assert!(
        (paired.ratio.value.ln() - 0.46).abs() < 1e-12,
        "{}",
        paired.ratio.value.ln()
    );
    assert!((paired.ratio.low.ln() - 0.01).abs() < 1e-12);
    assert!((paired.ratio.high.ln() - 0.786).abs() < 1e-12);
}

/// Pragmastat's bounds of the integers 1 to 10 at 1 % are [2.5, 8.5] (its vector `natural-10`), one Walsh
/// average narrower than R's [2, 9]: they miss the centre in 1.4 % of cases. Fathom's bounds keep the 1 %.
#[test]
fn the_interval_is_the_one_of_r_and_one_step_wider_than_pragmastats() {
    let reference = [1.0; 10];
    let subject: Vec<f64> = (1..=10).map(|i| f64::from(i).exp()).collect();
    let ratio = paired_ratio(&reference, &subject, 0.99).unwrap().ratio;
    assert!((ratio.low.ln() - 2.0).abs() < 1e-12 && (ratio.high.ln() - 9.0).abs() < 1e-12);
    let wider_misses = paired_ratio(&reference, &subject, 1.0 - 14.0 / 1024.0)
        .unwrap()
        .ratio;
    assert!((wider_misses.low.ln() - 2.5).abs() < 1e-12);
}

const MAVRO: [f64; 50] = [
    2.00180, 2.00170, 2.00180, 2.00190, 2.00180, 2.00170, 2.00150, 2.00140, 2.00150, 2.00150,
    2.00170, 2.00180, 2.00180, 2.00190, 2.00190, 2.00210, 2.00200, 2.00160, 2.00140, 2.00130,
    2.00130, 2.00150, 2.00150, 2.00160, 2.00150, 2.00140, 2.00130, 2.00140, 2.00150, 2.00140,
    2.00150, 2.00160, 2.00150, 2.00160, 2.00190, 2.00200, 2.00200, 2.00210, 2.00220, 2.00230,
    2.00240, 2.00250, 2.00270, 2.00260, 2.00260, 2.00260, 2.00270, 2.00260, 2.00250, 2.00240,
];

const MICHELSO: [f64; 100] = [
    299.85, 299.74, 299.90, 300.07, 299.93, 299.85, 299.95, 299.98, 299.98, 299.88, 300.00, 299.98,
    299.93, 299.65, 299.76, 299.81, 300.00, 300.00, 299.96, 299.96, 299.96, 299.94, 299.96, 299.94,
    299.88, 299.80, 299.85, 299.88, 299.90, 299.84, 299.83, 299.79, 299.81, 299.88, 299.88, 299.83,
    299.80, 299.79, 299.76, 299.80, 299.88, 299.88, 299.88, 299.86, 299.72, 299.72, 299.62, 299.86,
    299.97, 299.95, 299.88, 299.91, 299.85, 299.87, 299.84, 299.84, 299.85, 299.84, 299.84, 299.84,
    299.89, 299.81, 299.81, 299.82, 299.80, 299.77, 299.76, 299.74, 299.75, 299.76, 299.91, 299.92,
    299.89, 299.86, 299.88, 299.72, 299.84, 299.85, 299.85, 299.78, 299.89, 299.84, 299.78, 299.81,
    299.76, 299.81, 299.79, 299.81, 299.82, 299.85, 299.87, 299.87, 299.81, 299.74, 299.81, 299.94,
    299.95, 299.80, 299.81, 299.87,
];

const LEW: [i16; 200] = [
    -213, -564, -35, -15, 141, 115, -420, -360, 203, -338, -431, 194, -220, -513, 154, -125, -559,
    92, -21, -579, -52, 99, -543, -175, 162, -457, -346, 204, -300, -474, 164, -107, -572, -8, 83,
    -541, -224, 180, -420, -374, 201, -236, -531, 83, 27, -564, -112, 131, -507, -254, 199, -311,
    -495, 143, -46, -579, -90, 136, -472, -338, 202, -287, -477, 169, -124, -568, 17, 48, -568,
    -135, 162, -430, -422, 172, -74, -577, -13, 92, -534, -243, 194, -355, -465, 156, -81, -578,
    -64, 139, -449, -384, 193, -198, -538, 110, -44, -577, -6, 66, -552, -164, 161, -460, -344,
    205, -281, -504, 134, -28, -576, -118, 156, -437, -381, 200, -220, -540, 83, 11, -568, -160,
    172, -414, -408, 188, -125, -572, -32, 139, -492, -321, 205, -262, -504, 142, -83, -574, 0, 48,
    -571, -106, 137, -501, -266, 190, -391, -406, 194, -186, -553, 83, -13, -577, -49, 103, -515,
    -280, 201, 300, -506, 131, -45, -578, -80, 138, -462, -361, 201, -211, -554, 32, 74, -533,
    -235, 187, -372, -442, 182, -147, -566, 25, 68, -535, -244, 194, -351, -463, 174, -125, -570,
    15, 72, -550, -190, 172, -424, -385, 198, -218, -536, 96,
];
