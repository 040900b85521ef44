//! Records of `history`, `compare` and `store info` match their schemas.

mod schemas;

use fathom_model::{
    CompareRecord, CompareSide, Drift, DriftSource, Estimate, HistoryEnvironment, HistoryPoint,
    HistoryRecord, HistorySeries, NotCompared, StoreRecord, StoredComparison, StoredValue, Verdict,
};
use fathom_report::{Screen, compare_terminal, history_csv, history_list, history_series};
use schemas::assert_fits;
use serde_json::Value;

/// An untrusted text with everything that could do harm.
const HOSTILE: &str = "a\u{1b}[31m\n\"b\", c";

fn point(hour: u32) -> HistoryPoint {
    HistoryPoint {
        revision: Some("a1".repeat(20)),
        branch: Some(HOSTILE.to_owned()),
        dirty: true,
        labels: vec![HOSTILE.to_owned()],
        time: format!("2026-11-25T{hour:02}:00:00Z"),
        value: 0.25,
        low: 0.24,
        high: 0.26,
        runs: 12,
        environment: "e1".to_owned(),
        record: "c0ffee".to_owned(),
    }
}

fn history() -> HistoryRecord {
    let series = |direction: Option<&str>| HistorySeries {
        benchmark: HOSTILE.to_owned(),
        parameters: vec![("n".to_owned(), HOSTILE.to_owned())],
        metric: "wall".to_owned(),
        unit: "seconds".to_owned(),
        direction: direction.map(str::to_owned),
        meaning: HOSTILE.to_owned(),
        points: (0..24).map(point).collect(),
    };
    HistoryRecord {
        schema_version: 2,
        kind: "history".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        store: "store.sqlite".to_owned(),
        environments: vec![HistoryEnvironment {
            key: "e1".to_owned(),
            kernel: Some(HOSTILE.to_owned()),
            cpus: Some(2),
            ..HistoryEnvironment::default()
        }],
        series: vec![
            series(Some("lower_is_better")),
            series(Some("higher_is_better")),
            series(None),
        ],
    }
}

fn compare() -> CompareRecord {
    let value = StoredValue {
        value: 0.25,
        low: 0.24,
        high: 0.26,
        runs: 12,
        failed_share: None,
        measurements: 1,
    };
    let side = || CompareSide {
        asked: HOSTILE.to_owned(),
        revision: Some("a1".repeat(20)),
        records: vec!["c0ffee".to_owned()],
        file: Some(HOSTILE.to_owned()),
    };
    let one = |verdict, source| StoredComparison {
        higher_is_better: Some(false),
        benchmark: HOSTILE.to_owned(),
        parameters: vec![("n".to_owned(), HOSTILE.to_owned())],
        metric: "wall".to_owned(),
        unit: "seconds".to_owned(),
        base: value.clone(),
        head: value.clone(),
        ratio: Estimate {
            value: 1.0,
            low: 0.9,
            high: 1.1,
            level: 0.95,
        },
        p_value: 1.0,
        drift: Drift {
            share: 0.05,
            source,
            measurements: 3,
        },
        margin: 0.01,
        verdict,
        across_environments: false,
        together: Some(format!("fathom bench {HOSTILE}")),
    };
    CompareRecord {
        schema_version: 2,
        kind: "compare".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        base: side(),
        head: side(),
        comparisons: vec![
            one(Verdict::Faster, DriftSource::SameRevision),
            one(Verdict::Slower, DriftSource::Successive),
            one(Verdict::Same, DriftSource::Assumed),
            one(Verdict::Undecided, DriftSource::NoiseFloor),
            one(Verdict::Undecided, DriftSource::Waits),
            one(Verdict::Same, DriftSource::None),
        ],
        left_out: vec![NotCompared {
            benchmark: HOSTILE.to_owned(),
            parameters: vec![("n".to_owned(), HOSTILE.to_owned())],
            metric: "wall".to_owned(),
            why: HOSTILE.to_owned(),
        }],
        warnings: vec![HOSTILE.to_owned()],
    }
}

#[test]
fn every_record_fits_its_schema() {
    let store = StoreRecord {
        schema_version: 2,
        kind: "store".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        store: "store.sqlite".to_owned(),
        form: 1,
        records: 1,
        pruned: 0,
        oldest: Some("2026-11-25T00:00:00Z".to_owned()),
        newest: None,
        series: 1,
        points: 1,
        environments: 1,
        labels: 1,
        renamed: vec![("a".to_owned(), "b".to_owned())],
        bytes: 1,
        record_bytes: 1,
        point_bytes: 1,
    };
    let json = |record: Result<Value, serde_json::Error>| record.expect("a record is JSON");
    for (name, value) in [
        ("history", json(serde_json::to_value(history()))),
        ("compare", json(serde_json::to_value(compare()))),
        ("store", json(serde_json::to_value(store))),
    ] {
        assert_fits(name, [value]);
    }
}

#[test]
fn nothing_from_outside_acts_on_the_terminal_and_no_line_is_too_wide() {
    let (history, compare) = (history(), compare());
    for width in [32, 80, 120] {
        for unicode in [true, false] {
            let options = Screen {
                width,
                unicode,
                verbose: true,
                ..Screen::default()
            };
            let series = &history.series[0];
            let texts = [
                history_list(&history, 3, &options),
                history_series(&history, series, &[3], &["cpu".to_owned()], &options),
            ];
            for text in &texts {
                for line in text.lines() {
                    assert!(fathom_report::columns(line) <= width, "{width}: {line}");
                }
            }
            let compared = compare_terminal(&compare, &options);
            for text in texts.iter().chain([&compared]) {
                assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text}");
                assert!(unicode || text.is_ascii(), "{text}");
            }
        }
    }
    let csv = history_csv(&history);
    assert!(csv.contains("\"a\\u{1b}[31m\n\"\"b\"\", c\""), "{csv}");
}

#[test]
fn a_metric_of_unknown_direction_is_more_or_less_and_not_slower() {
    let options = Screen::default();
    let mut record = compare();
    let known = compare_terminal(&record, &options);
    assert!(known.contains("1 slower, 1 faster, 2 same"), "{known}");
    for one in &mut record.comparisons {
        one.higher_is_better = None;
    }
    let unknown = compare_terminal(&record, &options);
    assert!(unknown.contains("1 more, 1 less, 2 same"), "{unknown}");
    assert!(!unknown.contains("slower"), "{unknown}");
}

#[test]
fn a_comparison_says_why_a_change_is_not_what_the_values_make_and_why_it_is_undecided() {
    let options = Screen::default();
    let said = |record: &CompareRecord| compare_terminal(record, &options).replace('\n', " ");
    let (ratio, claim) = (
        "the median ratio over all pairs of runs",
        "claiming a difference takes 99 % confidence",
    );
    let mut record = compare();
    record.comparisons.truncate(1);
    let plain = said(&record);
    assert!(!plain.contains(ratio) && !plain.contains(claim), "{plain}");
    let one = &mut record.comparisons[0];
    one.verdict = Verdict::Undecided;
    one.ratio = Estimate {
        value: 1.04,
        low: 1.01,
        high: 1.07,
        level: 0.95,
    };
    let explained = said(&record);
    assert!(
        explained.contains(ratio) && explained.contains(claim),
        "{explained}"
    );
    record.comparisons[0].base.measurements = 2;
    let several = said(&record);
    assert!(
        several.contains("the mean ratio over all pairs of measurements"),
        "{several}"
    );
}
