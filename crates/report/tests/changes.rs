//! Change points as text and as JSON.

mod schemas;

use fathom_model::{
    ChangeDirection, ChangeKind, ChangePoint, ChangeSegment, Changes, ChangesRecord, EarlyWarning,
    Estimate, SCHEMA_VERSION, SeriesChanges,
};
use fathom_report::{ChangesOptions, changes_terminal, columns, json};
use schemas::assert_fits;

/// An untrusted text with everything that could do harm.
const HOSTILE: &str = "a\u{1b}[31m\n\"b\", c";

fn point(index: usize, kind: ChangeKind, direction: ChangeDirection) -> ChangePoint {
    let value = if direction == ChangeDirection::Up {
        1.081
    } else {
        0.926
    };
    ChangePoint {
        id: index,
        index,
        until: if kind == ChangeKind::Drift {
            index + 30
        } else {
            index
        },
        kind,
        direction,
        confidence: 0.9999,
        ratio: Some(Estimate {
            value,
            low: value - 0.01,
            high: value + 0.01,
            level: 0.95,
        }),
        before: 0.0123,
        after: 0.0123 * value,
        moved_from: None,
    }
}

fn series(name: &str, found: Changes) -> SeriesChanges {
    SeriesChanges {
        name: name.to_owned(),
        unit: Some("seconds".to_owned()),
        higher_is_better: Some(false),
        points: 150,
        labels: (0..150).map(|index| index.to_string()).collect(),
        found,
    }
}

fn record() -> ChangesRecord {
    let changed = Changes {
        change_points: vec![
            point(40, ChangeKind::Step, ChangeDirection::Up),
            ChangePoint {
                moved_from: Some(97),
                ..point(95, ChangeKind::Drift, ChangeDirection::Down)
            },
        ],
        spikes: vec![3, 77],
        segments: vec![ChangeSegment {
            start: 0,
            end: 40,
            median: 0.0123,
        }],
        early_warning: Some(EarlyWarning {
            index: 147,
            points: 3,
            ratio: Some(1.12),
            direction: ChangeDirection::Up,
            p_value: 0.002,
        }),
        withdrawn: vec![point(60, ChangeKind::Step, ChangeDirection::Up)],
    };
    let without_ratio = Changes {
        change_points: vec![ChangePoint {
            ratio: None,
            ..point(10, ChangeKind::Step, ChangeDirection::Down)
        }],
        early_warning: Some(EarlyWarning {
            index: 148,
            points: 2,
            ratio: None,
            direction: ChangeDirection::Down,
            p_value: 0.003,
        }),
        ..Changes::default()
    };
    ChangesRecord {
        schema_version: SCHEMA_VERSION,
        kind: "changes".to_owned(),
        source: "results.csv".to_owned(),
        series: vec![
            series("parse-large wall", changed),
            SeriesChanges {
                unit: None,
                higher_is_better: None,
                labels: Vec::new(),
                ..series(HOSTILE, without_ratio)
            },
            series("quiet wall", Changes::default()),
        ],
    }
}

#[test]
fn the_answer_comes_first() {
    insta::assert_snapshot!(changes_terminal(&record(), ChangesOptions { all: false }));
    let quiet = ChangesRecord {
        series: record().series.split_off(2),
        ..record()
    };
    assert_eq!(
        changes_terminal(&quiet, ChangesOptions { all: false }),
        "No change point in 1 series.\n"
    );
}

#[test]
fn nothing_from_outside_acts_on_the_terminal_and_no_line_is_too_wide() {
    for all in [false, true] {
        let text = changes_terminal(&record(), ChangesOptions { all });
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text}");
        for line in text.lines() {
            assert!(columns(line) <= 80, "{line}");
        }
    }
}

#[test]
fn many_series_with_long_labels_fit_a_screen() {
    let long = |index: usize| format!("2026-11-26T03:{:02}:{:02}.123456Z", index / 60, index % 60);
    let mut all = record();
    let name = |one: usize| format!("benchmark {one} of a suite with long names, size=large");
    all.series = (0..20)
        .map(|one| SeriesChanges {
            labels: (0..150).map(long).collect(),
            ..series(&name(one), record().series[0].found.clone())
        })
        .collect();
    let text = changes_terminal(&all, ChangesOptions { all: false });
    assert!(text.lines().count() <= 24, "{text}");
    assert!(
        text.contains("more series changed; --all shows them"),
        "{text}"
    );
    assert!(text.ends_with('\n'));
    for all_of_it in [false, true] {
        let text = changes_terminal(&all, ChangesOptions { all: all_of_it });
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    }
    all.series.clear();
    let text = changes_terminal(&all, ChangesOptions { all: false });
    assert!(text.starts_with("nothing is saved yet"), "{text}");
}

#[test]
fn the_json_fits_its_schema_and_is_read_back() {
    let json = json(&record()).into_bytes();
    assert_fits(
        "changes",
        [serde_json::from_slice(&json).expect("it is JSON")],
    );
    let again: ChangesRecord = serde_json::from_slice(&json).expect("it is read back");
    assert_eq!(again, record());
}
