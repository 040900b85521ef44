//! Tests change points in series with known answers, and properties that hold for all series.

use fathom_model::{ChangeDirection, ChangeKind, Changes};
use fathom_stats::{change_points, follow};
use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Returns values around `levels`, each given with its number of points. `noise` is a share.
fn series(levels: &[(f64, usize)], noise: f64, seed: u64) -> Vec<f64> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut normal = || {
        (0..12)
            .map(|_| random.random_range(0.0..1.0f64))
            .sum::<f64>()
            - 6.0
    };
    let mut values = Vec::new();
    for (level, count) in levels {
        values.extend((0..*count).map(|_| level * (1.0 + noise * normal())));
    }
    values
}

fn indices(changes: &Changes) -> Vec<usize> {
    changes
        .change_points
        .iter()
        .map(|point| point.index)
        .collect()
}

#[test]
fn a_series_without_change_has_no_change_point() {
    let wrong: usize = (0..20)
        .map(|seed| {
            change_points(&series(&[(3.0, 400)], 0.02, seed))
                .change_points
                .len()
        })
        .sum();
    // The series has 8,000 points; the promise is at most one error in 4,000.
    assert!(wrong <= 2, "{wrong}");
}

#[test]
fn steps_up_and_down_are_found_where_they_are() {
    let values = series(&[(10.0, 60), (10.8, 50), (9.9, 12), (10.8, 70)], 0.01, 1);
    let changes = change_points(&values);
    assert_eq!(indices(&changes), [60, 110, 122]);
    let [up, down, _] = &changes.change_points[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (up.direction, up.kind),
        (ChangeDirection::Up, ChangeKind::Step)
    );
    assert_eq!(down.direction, ChangeDirection::Down);
    let ratio = up.ratio.expect("all values are positive");
    assert!(
        ratio.low < 1.08 && 1.08 < ratio.high && ratio.high - ratio.low < 0.02,
        "{ratio:?}"
    );
    assert!(up.confidence > 0.999);
    let bounds: Vec<(usize, usize)> = changes
        .segments
        .iter()
        .map(|one| (one.start, one.end))
        .collect();
    assert_eq!(bounds, [(0, 60), (60, 110), (110, 122), (122, 192)]);
}

#[test]
fn single_outliers_are_spikes_and_no_steps() {
    let mut values = series(&[(10.0, 90), (11.0, 60)], 0.01, 2);
    for (index, factor) in [(20, 1.6), (21, 1.4), (70, 0.5), (120, 2.5)] {
        values[index] *= factor;
    }
    let changes = change_points(&values);
    assert_eq!(indices(&changes), [90]);
    assert_eq!(changes.spikes, [20, 21, 70, 120]);
}

#[test]
fn a_slow_slope_is_one_drift() {
    let slope = |i: usize| 5.0 * (1.0 + 0.15 * ((i as f64 - 60.0) / 100.0).clamp(0.0, 1.0));
    let noise = series(&[(1.0, 220)], 0.01, 3);
    let values: Vec<f64> = (0..220).map(|i| slope(i) * noise[i]).collect();
    let changes = change_points(&values);
    let [drift] = &changes.change_points[..] else {
        panic!("{:?}", indices(&changes))
    };
    assert_eq!(
        (drift.kind, drift.direction),
        (ChangeKind::Drift, ChangeDirection::Up)
    );
    assert!(
        drift.index.abs_diff(60) < 20 && drift.until.abs_diff(160) < 20,
        "{drift:?}"
    );
    let ratio = drift.ratio.expect("all values are positive");
    assert!((ratio.value - 1.15).abs() < 0.02, "{ratio:?}");
}

#[test]
fn steps_are_not_taken_for_drift() {
    for seed in 0..20 {
        let values = series(&[(10.0, 40), (10.5, 40), (11.0, 40)], 0.01, seed);
        let changes = change_points(&values);
        assert!(
            changes
                .change_points
                .iter()
                .all(|point| point.kind == ChangeKind::Step),
            "{changes:?}"
        );
        assert_eq!(changes.change_points.len(), 2);
    }
}

#[test]
fn the_newest_points_warn_before_they_are_enough() {
    let values = series(&[(10.0, 100), (11.5, 3)], 0.01, 4);
    let changes = change_points(&values);
    assert!(changes.change_points.is_empty());
    let warning = changes.early_warning.expect("three points 15 % up");
    assert_eq!((warning.index, warning.points), (100, 3));
    assert_eq!(warning.direction, ChangeDirection::Up);
    assert!(change_points(&values[..100]).early_warning.is_none());
    let later = series(&[(10.0, 100), (11.5, 12)], 0.01, 4);
    assert_eq!(indices(&change_points(&later)), [100]);
    assert!(change_points(&later).early_warning.is_none());
}

#[test]
fn a_change_point_keeps_its_identity_while_points_arrive() {
    let values = series(&[(10.0, 150), (10.6, 200), (9.8, 300)], 0.015, 5);
    let mut known = 120;
    let mut changes = change_points(&values[..known]);
    let mut ids = Vec::new();
    while known < values.len() {
        let next = (known + 7).min(values.len());
        let newer = follow(&changes, known, &values[..next]);
        for point in &newer.change_points {
            let before = changes.change_points.iter().find(|old| old.id == point.id);
            assert_eq!(
                point.moved_from,
                before
                    .map(|old| old.index)
                    .filter(|old| *old != point.index)
            );
        }
        assert!(newer.withdrawn.is_empty());
        ids.extend(newer.change_points.iter().map(|point| point.id));
        (changes, known) = (newer, next);
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2, "two steps, each with one identity: {ids:?}");
    assert_eq!(indices(&changes), indices(&change_points(&values)));
}

#[test]
fn what_newer_points_speak_against_is_withdrawn() {
    let mut earlier = change_points(&series(&[(10.0, 100)], 0.01, 6));
    let step = change_points(&series(&[(10.0, 60), (12.0, 40)], 0.01, 6))
        .change_points
        .remove(0);
    earlier.change_points.push(step);
    let values = series(&[(10.0, 110)], 0.01, 6);
    let changes = follow(&earlier, 100, &values);
    assert!(changes.change_points.is_empty());
    assert_eq!(
        changes
            .withdrawn
            .iter()
            .map(|point| point.index)
            .collect::<Vec<_>>(),
        [60]
    );
}

#[test]
fn degenerate_series_have_nothing_to_say() {
    for values in [vec![], vec![1.0], vec![1.0, 2.0], vec![4.0; 500]] {
        let changes = change_points(&values);
        assert!(
            changes.change_points.is_empty() && changes.spikes.is_empty(),
            "{changes:?}"
        );
        assert!(changes.early_warning.is_none());
    }
    // Exact values without noise that change once.
    let exact: Vec<f64> = (0..60)
        .map(|i| if i < 30 { 100.0 } else { 101.0 })
        .collect();
    assert_eq!(indices(&change_points(&exact)), [30]);
}

#[test]
fn values_that_are_not_positive_have_no_ratio() {
    let values: Vec<f64> = series(&[(10.0, 60), (12.0, 60)], 0.01, 7)
        .iter()
        .map(|v| v - 11.0)
        .collect();
    let changes = change_points(&values);
    assert_eq!(indices(&changes), [60]);
    let point = &changes.change_points[0];
    assert!(point.ratio.is_none() && point.before < 0.0 && point.after > 0.0);
}

#[test]
fn a_drift_begins_after_the_one_before_it() {
    let levels = [(2.832, 7), (2.580, 7), (2.523, 7), (2.261, 14)];
    let exact = [
        (2.832112733863108, 7),
        (2.5802655004558224, 7),
        (2.523149229373935, 7),
        (2.2605179420817807, 14),
    ];
    for levels in [levels, exact] {
        let changes = change_points(&series(&levels, 0.02, 615));
        let mut end = 0;
        for point in &changes.change_points {
            assert!(
                end <= point.index && point.index <= point.until,
                "{changes:?}"
            );
            end = point.until;
        }
    }
}

proptest! {
    #[test]
    fn segments_cover_the_series_and_scale_changes_nothing(
        levels in prop::collection::vec((1.0..3.0f64, 1..60usize), 1..6),
        seed in 0..1000u64,
    ) {
        let values = series(&levels, 0.02, seed);
        let changes = change_points(&values);
        let mut end = 0;
        for segment in &changes.segments {
            prop_assert_eq!(segment.start, end);
            end = segment.end;
        }
        prop_assert_eq!(end, values.len());
        for point in &changes.change_points {
            prop_assert!(point.index > 0 && point.index <= point.until && point.until < values.len());
            prop_assert!((0.0..=1.0).contains(&point.confidence));
            let ratio = point.ratio.unwrap();
            prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        }
        let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
        prop_assert_eq!(indices(&change_points(&doubled)), indices(&changes));
    }
}
