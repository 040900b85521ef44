//! Properties that hold for all samples.

use fathom_model::{Comparison, Metric, MoreRounds, Verdict};
use fathom_stats::sequential::last;
use fathom_stats::{PairData, judge, median_interval, paired_ratio, summarize};
use proptest::prelude::*;

/// Generates times of a reference and of a subject in the same rounds.
fn rounds(most: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::collection::vec((0.5..2.0f64, 0.5..2.0f64), 1..=most).prop_map(|v| v.into_iter().unzip())
}

/// Generates small counts with many ties.
fn counted_rounds(most: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let count = || (1..6u8).prop_map(f64::from);
    prop::collection::vec((count(), count()), 1..=most).prop_map(|v| v.into_iter().unzip())
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn judge_one(reference: &[f64], subject: &[f64], margin: f64) -> Comparison {
    let pair = PairData {
        reference_index: 0,
        subject_index: 1,
        metric: Metric::Wall,
        reference,
        subject,
        margin,
    };
    judge(&[pair], last(0.05, &[])).remove(0)
}

fn judge_many(families: &[(Vec<f64>, Vec<f64>)], margin: f64) -> Vec<Comparison> {
    let pairs: Vec<PairData> = families
        .iter()
        .enumerate()
        .map(|(i, (reference, subject))| PairData {
            reference_index: 0,
            subject_index: i,
            metric: Metric::Wall,
            reference,
            subject,
            margin,
        })
        .collect();
    judge(&pairs, last(0.05, &[]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_interval_contains_the_estimate((a, b) in rounds(80), level in 0.0..0.999f64) {
        let ratio = paired_ratio(&a, &b, level).unwrap().ratio;
        prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        let median = median_interval(&a, level).unwrap();
        prop_assert!(median.low <= median.value && median.value <= median.high);
    }

    #[test]
    fn p_value_and_interval_agree((a, b) in rounds(130), level in 0.5..0.999f64) {
        let paired = paired_ratio(&a, &b, level).unwrap();
        prop_assume!(paired.ratio.level == 1.0 - (1.0 - level));
        let excluded = paired.ratio.low > 1.0 || paired.ratio.high < 1.0;
        prop_assert_eq!(paired.p_value <= 1.0 - level, excluded);
    }

    #[test]
    fn p_value_and_interval_agree_among_ties((a, b) in counted_rounds(40)) {
        let paired = paired_ratio(&a, &b, 0.95).unwrap();
        prop_assume!(paired.ratio.level > 0.94);
        // Some ties differ only in the last bit: 3 / 2 and 4.5 / 3 as logarithms.
        let excluded = paired.ratio.low > 1.0 + 1e-12 || paired.ratio.high < 1.0 - 1e-12;
        prop_assert!(!excluded || paired.p_value <= 0.05);
    }

    #[test]
    fn another_unit_changes_no_ratio((a, b) in rounds(40), scale in 1e-6..1e6f64) {
        let scaled = |v: &[f64]| v.iter().map(|v| v * scale).collect::<Vec<_>>();
        let before = paired_ratio(&a, &b, 0.95).unwrap();
        let after = paired_ratio(&scaled(&a), &scaled(&b), 0.95).unwrap();
        prop_assert!(near(before.ratio.value, after.ratio.value));
        prop_assert!(near(before.ratio.low, after.ratio.low));
        prop_assert!(near(before.ratio.high, after.ratio.high));
        let subject_only = paired_ratio(&a, &scaled(&b), 0.95).unwrap();
        prop_assert!(near(before.ratio.value * scale, subject_only.ratio.value));
    }

    #[test]
    fn another_unit_scales_a_summary(values in prop::collection::vec(0.1..10.0f64, 1..60), scale in 0.01..100.0f64) {
        let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
        let before = summarize(Metric::Wall, &values, 0.95).unwrap();
        let after = summarize(Metric::Wall, &scaled, 0.95).unwrap();
        prop_assert!(near(before.median.value * scale, after.median.value));
        prop_assert!(near(before.median.high * scale, after.median.high));
        prop_assert!(near(before.mean * scale, after.mean));
        prop_assert!((before.standard_deviation * scale - after.standard_deviation).abs() < 1e-9 * after.mean);
    }

    #[test]
    fn swapping_the_two_inverts_ratio_and_verdict((a, b) in rounds(40), margin in 0.0..0.3f64) {
        let (there, back) = (judge_one(&a, &b, margin), judge_one(&b, &a, margin));
        prop_assert!(near(there.ratio.value, 1.0 / back.ratio.value));
        prop_assert!(near(there.ratio.low, 1.0 / back.ratio.high));
        prop_assert_eq!(there.p_value, back.p_value);
        let inverse = match back.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        prop_assert_eq!(there.verdict, inverse);
    }

    #[test]
    fn the_order_of_rounds_changes_nothing((a, b) in rounds(40), turn in 0..40usize) {
        let turned = |v: &[f64]| {
            let mut v = v.to_vec();
            let by = turn % v.len();
            v.rotate_left(by);
            v
        };
        prop_assert_eq!(judge_one(&a, &b, 0.01), judge_one(&turned(&a), &turned(&b), 0.01));
        prop_assert_eq!(
            summarize(Metric::Wall, &a, 0.95).unwrap().median,
            summarize(Metric::Wall, &turned(&a), 0.95).unwrap().median
        );
    }

    #[test]
    fn verdict_and_interval_agree_in_a_family(
        families in prop::collection::vec((rounds(40), 0.7..1.4f64), 1..8),
        margin in 0.0..0.1f64,
    ) {
        let families: Vec<_> = families
            .into_iter()
            .map(|((a, b), ratio)| {
                // A tight pair has a tenth of the spread, and a true ratio.
                let b = a.iter().zip(&b).map(|(a, b)| a * ratio * b.powf(0.1)).collect();
                (a, b)
            })
            .collect();
        for comparison in judge_many(&families, margin) {
            let ratio = comparison.ratio;
            let inside = ratio.low >= 1.0 / (1.0 + margin) && ratio.high <= 1.0 + margin;
            match comparison.verdict {
                Verdict::Same => prop_assert!(inside),
                Verdict::Faster => prop_assert!(ratio.high < 1.0 && !inside),
                Verdict::Slower => prop_assert!(ratio.low > 1.0 && !inside),
                // Either the interval is inconclusive, or there are too few rounds for the level.
                Verdict::Undecided => prop_assert!(
                    comparison.rounds < 12
                        || (!inside && comparison.p_value > 1.0 - comparison.claim_level)
                ),
            }
            let more = comparison.more_rounds;
            prop_assert!(comparison.verdict == Verdict::Undecided || more.is_none());
            prop_assert!(more != Some(MoreRounds(0)));
        }
    }
}

#[test]
fn identical_values_are_the_same() {
    let values: Vec<f64> = (1..=20).map(f64::from).collect();
    let comparison = judge_one(&values, &values, 0.0);
    assert_eq!(
        (
            comparison.ratio.value,
            comparison.ratio.low,
            comparison.ratio.high
        ),
        (1.0, 1.0, 1.0)
    );
    assert_eq!(
        (comparison.p_value, comparison.verdict),
        (1.0, Verdict::Same)
    );
}

#[test]
fn a_real_difference_within_the_margin_is_the_same() {
    let a: Vec<f64> = (0..30).map(|i| 1.0 + f64::from(i % 7) / 1000.0).collect();
    let b: Vec<f64> = a.iter().map(|v| v * 1.004).collect();
    assert_eq!(judge_one(&a, &b, 0.01).verdict, Verdict::Same);
    assert_eq!(judge_one(&a, &b, 0.001).verdict, Verdict::Slower);
}

#[test]
fn too_few_rounds_decide_nothing_and_say_how_many_are_missing() {
    let (a, b) = ([1.0, 1.1, 1.0, 1.2, 1.1], [2.0, 2.2, 2.1, 2.4, 2.2]);
    let comparison = judge_one(&a, &b, 0.01);
    assert_eq!(comparison.verdict, Verdict::Undecided);
    assert_eq!((comparison.rounds, comparison.ratio.level), (5, 0.9375));
    // Six rounds are enough for an interval; a claim needs eight.
    assert_eq!(comparison.more_rounds, Some(MoreRounds(3)));
}

#[test]
fn a_family_needs_more_rounds_than_one_comparison() {
    // Eight rounds reach p = 0.008. This is enough for a single comparison, but not if only one of ten
    // differs (0.001).
    let noise = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 0.97, 1.03];
    let slower: Vec<f64> = noise.iter().map(|v| v * 1.5).collect();
    assert_eq!(judge_one(&noise, &slower, 0.01).verdict, Verdict::Slower);
    let mut families = vec![(noise.to_vec(), slower)];
    for i in 0..9 {
        let mut turned = noise.to_vec();
        turned.rotate_left(1 + i % 7);
        families.push((noise.to_vec(), turned));
    }
    let judged = judge_many(&families, 0.01);
    assert_eq!(judged[0].verdict, Verdict::Undecided);
    assert_eq!(judged[0].ratio.level, 1.0 - 2f64.powi(-7));
    assert_eq!(judged[0].more_rounds, Some(MoreRounds(3)));
}

#[test]
fn more_rounds_follow_the_square_root() {
    // The interval is about 1.02 with a half-width of 0.05 at 20 rounds and 99 %: 7 times as many rounds
    // exclude 1.
    let a = [1.0; 20];
    let b: Vec<f64> = (0..20)
        .map(|i| 1.02 * (f64::from(i) - 9.5).mul_add(0.013, 0.0).exp())
        .collect();
    let comparison = judge_one(&a, &b, 0.001);
    let claim = paired_ratio(&a, &b, comparison.claim_level).unwrap().ratio;
    let (centre, low) = (claim.value.ln(), claim.low.ln());
    let needed = 20.0 * ((centre - low) / centre).powi(2);
    let MoreRounds(more) = comparison.more_rounds.unwrap();
    assert_eq!(comparison.verdict, Verdict::Undecided);
    assert_eq!(more, needed.ceil() as u64 - 20);
}

#[test]
fn an_interval_that_leaves_out_one_is_not_yet_a_claim() {
    // p = 0.02: below 5 %, above 1 %.
    let a = [1.0; 10];
    let b = [1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09, 0.965, 0.975];
    let comparison = judge_one(&a, &b, 0.001);
    assert!((0.01..0.05).contains(&comparison.p_value), "{comparison:?}");
    assert!(comparison.ratio.low > 1.0, "{comparison:?}");
    assert_eq!(comparison.verdict, Verdict::Undecided);
    assert!(comparison.more_rounds.is_some());
}

#[test]
fn rounds_without_a_positive_value_are_left_out() {
    let a = [0.0, 1.0, 1.0, 1.0, f64::NAN];
    let b = [1.0, 2.0, 0.0, 2.0, 2.0];
    assert_eq!(paired_ratio(&a, &b, 0.95).unwrap().rounds, 2);
    assert_eq!(paired_ratio(&[0.0], &[1.0], 0.95), None);
    assert!(judge_many(&[(vec![0.0], vec![1.0])], 0.01).is_empty());
}
