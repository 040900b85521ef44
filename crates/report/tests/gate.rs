//! A gate's verdict in all formats.

mod schemas;

use fathom_model::{
    Environment, Estimate, ExactChange, FalseFailureShare, FloorSource, GateBenchmark, GateClock,
    GateRecord, GateRule, GateSide, GateVerdict, LeftOut, NullArm, NullArmRatio, SCHEMA_VERSION,
    Waiver,
};
use fathom_report::{
    Screen, columns, gate_github, gate_gitlab, gate_junit, gate_markdown, gate_terminal, json,
};
use schemas::assert_fits;

/// An untrusted text with everything that could do harm.
const HOSTILE: &str = "x\n::error::y <b>|@all` [a](http://b) \u{1b}[31m";

fn exactly(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        level: 0.95,
    }
}

fn row(name: &str, value: f64, verdict: GateVerdict) -> GateBenchmark {
    GateBenchmark {
        name: name.to_owned(),
        parameters: vec![("size".to_owned(), "big".to_owned())],
        metric: "wall".to_owned(),
        unit: "seconds".to_owned(),
        higher_is_better: false,
        ratio: Some(Estimate {
            value,
            low: value - 0.012,
            high: value + 0.011,
            level: 0.95,
        }),
        verdict,
        rounds: 40,
        confirmation_rounds: 20,
        margin: 0.03,
        floor: 0.011,
        floor_source: Some(FloorSource::NullArm),
        base: Some(exactly(0.0123)),
        head: Some(exactly(0.0123 * value)),
        clocks: vec![GateClock {
            metric: "cpu_wait_free".to_owned(),
            base: exactly(0.0122),
            head: exactly(0.0122 * value),
            runs: 40,
        }],
        budget: None,
        waived: None,
        why: Vec::new(),
        difference: Vec::new(),
    }
}

fn waiver() -> Waiver {
    Waiver {
        benchmark: "sort".to_owned(),
        metric: "wall".to_owned(),
        until: "2027-01-31".to_owned(),
        reason: "the new checksum, see #123".to_owned(),
        at_most: Some(0.25),
    }
}

fn record() -> GateRecord {
    GateRecord {
        schema_version: SCHEMA_VERSION,
        kind: "gate".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        started_at: "2026-11-25T10:00:00Z".to_owned(),
        jobs: Vec::new(),
        environment: Environment::default(),
        base: GateSide {
            name: "main (0123456789)".to_owned(),
            revision: Some("01".repeat(20)),
        },
        head: GateSide {
            name: "working tree".to_owned(),
            revision: None,
        },
        rule: GateRule::Paired {
            margin: 0.03,
            undecided_passes: true,
        },
        verdict: GateVerdict::Worse,
        benchmarks: vec![
            row("quiet", 1.001, GateVerdict::NotWorse),
            row("inside", 1.018, GateVerdict::NotWorse),
            row("better", 0.9, GateVerdict::NotWorse),
            GateBenchmark {
                why: vec!["looked worse in 20 rounds, and again in 20 new ones".to_owned()],
                difference: vec!["read calls: +1.0 ms".to_owned()],
                ..row("parse-large", 1.081, GateVerdict::Worse)
            },
            GateBenchmark {
                waived: Some(waiver()),
                ..row("sort", 1.2, GateVerdict::Worse)
            },
            GateBenchmark {
                why: vec![
                    "it would take about 900 rounds to decide: use a longer --time".to_owned(),
                ],
                ..row("noisy", 1.02, GateVerdict::CannotTell)
            },
            GateBenchmark {
                metric: "read_calls".to_owned(),
                unit: "count".to_owned(),
                ratio: None,
                floor_source: None,
                base: Some(exactly(12.0)),
                head: Some(exactly(14.0)),
                budget: Some("<= base".to_owned()),
                why: vec!["14 exceeds the budget's limit of 12".to_owned()],
                ..row("parse-large", 1.0, GateVerdict::Worse)
            },
        ],
        exact_changes: vec![ExactChange {
            benchmark: "quiet".to_owned(),
            metric: "binary_size".to_owned(),
            base: 1_000_000.0,
            head_low: 1_100_000.0,
            head_high: 1_100_000.0,
        }],
        null_arm: NullArm {
            failed: false,
            benchmarks: vec![NullArmRatio {
                name: "quiet".to_owned(),
                ratio: Estimate {
                    value: 1.0,
                    low: 0.99,
                    high: 1.01,
                    level: 0.95,
                },
            }],
        },
        left_out: vec![LeftOut {
            name: "new".to_owned(),
            reason: "base doesn't have it yet".to_owned(),
        }],
        settings_changed: vec!["margin: 3% at base, 30% at head".to_owned()],
        notes: vec![
            "the waiver for old wall expired on 2026-01-31 and is no longer needed: remove it"
                .to_owned(),
        ],
        complete: true,
        seconds: 41.3,
    }
}

fn best_of() -> GateRecord {
    GateRecord {
        rule: GateRule::BestOf {
            max_regression: 0.08,
            max_geomean: 0.03,
            best_of: 5,
            protected: vec!["noisy".to_owned()],
            geomean: Some(1.031),
            false_failures: Some(FalseFailureShare {
                suites: 2000,
                failed: 1940,
            }),
        },
        ..record()
    }
}

/// A record in which all untrusted text is hostile.
fn hostile() -> GateRecord {
    let text = || HOSTILE.to_owned();
    let mut record = record();
    for row in &mut record.benchmarks {
        row.name = text();
        row.why = vec![text()];
        row.difference = vec![text()];
        row.budget = row.budget.as_ref().map(|_| text());
        if let Some(waiver) = &mut row.waived {
            waiver.reason = text();
        }
    }
    record.base.name = text();
    record.head.name = text();
    record.exact_changes[0].benchmark = text();
    record.left_out[0] = LeftOut {
        name: text(),
        reason: text(),
    };
    record.settings_changed = vec![text()];
    record.notes = vec![text()];
    record
}

#[test]
fn one_screen_has_the_answer() {
    let text = gate_terminal(&record(), &Screen::default());
    assert!(text.lines().count() <= 24, "{text}");
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(gate_terminal(&best_of(), &Screen::default()));
}

#[test]
fn a_comment_has_what_changed_and_is_empty_when_nothing_did() {
    insta::assert_snapshot!(gate_markdown(&record()));
    let quiet = GateRecord {
        verdict: GateVerdict::NotWorse,
        benchmarks: vec![row("quiet", 1.001, GateVerdict::NotWorse)],
        exact_changes: Vec::new(),
        settings_changed: Vec::new(),
        notes: Vec::new(),
        ..record()
    };
    assert_eq!(gate_markdown(&quiet), "");
}

#[test]
fn forges_and_test_reports_get_each_row() {
    insta::assert_snapshot!(gate_github(&record()));
    insta::assert_snapshot!(gate_gitlab(&record()));
    insta::assert_snapshot!(gate_junit(&record()));
    let failed = GateRecord {
        null_arm: NullArm {
            failed: true,
            ..record().null_arm
        },
        verdict: GateVerdict::CannotTell,
        ..record()
    };
    let junit = gate_junit(&failed);
    assert!(junit.contains("failures=\"0\" errors=\"1\""), "{junit}");
    let entries: serde_json::Value =
        serde_json::from_str(&gate_gitlab(&record())).expect("it is JSON");
    assert_eq!(entries.as_array().map(Vec::len), Some(4));
}

#[test]
fn nothing_from_outside_acts_anywhere() {
    let record = hostile();
    for width in [32, 80, 120] {
        for verbose in [false, true] {
            let options = Screen {
                width,
                verbose,
                ..Screen::default()
            };
            let text = gate_terminal(&record, &options);
            assert!(!text.contains('\u{1b}'), "{text}");
            for line in text.lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
    let commands = gate_github(&record);
    for line in commands.lines() {
        // There is one command per line, and it is always Fathom's own.
        assert!(line.starts_with("::"), "{line}");
        assert_eq!(line.matches("::").count(), 2, "{line}");
    }
    let markdown = gate_markdown(&record);
    assert!(
        !markdown.contains("<b>") && !markdown.contains("\u{1b}"),
        "{markdown}"
    );
    for line in markdown.lines().filter(|line| line.starts_with("- ")) {
        assert!(!line.contains("@all") || line.contains("<code>"), "{line}");
    }
    let junit = gate_junit(&record);
    assert!(
        !junit.contains("<b>") && !junit.contains('\u{1b}'),
        "{junit}"
    );
    let quotes = junit.matches("<testcase").count();
    assert_eq!(quotes, record.benchmarks.len());
}

#[test]
fn the_json_fits_its_schema_and_is_read_back() {
    let stored = GateRecord {
        rule: GateRule::Stored {
            margin: 0.03,
            undecided_passes: false,
        },
        verdict: GateVerdict::CannotTell,
        ..record()
    };
    let mut passed = GateRecord {
        verdict: GateVerdict::NotWorse,
        ..record()
    };
    passed.benchmarks[0].floor_source = Some(FloorSource::History { gates: 23 });
    passed.benchmarks[0].higher_is_better = true;
    (passed.benchmarks[1].base, passed.benchmarks[1].head) = (None, None);
    let shown = gate_terminal(&passed, &Screen::default()).replace('\n', " ");
    assert!(
        shown.contains("noise floor: 23 earlier gates for 1, base against base for 5."),
        "{shown}"
    );
    let unknown = GateRecord {
        rule: GateRule::BestOf {
            max_regression: 0.08,
            max_geomean: 0.03,
            best_of: 5,
            protected: Vec::new(),
            geomean: None,
            false_failures: None,
        },
        ..record()
    };
    let values = [record(), best_of(), stored, passed, unknown].map(|record| {
        let json = json(&record).into_bytes();
        let again: GateRecord = serde_json::from_slice(&json).expect("it is read back");
        assert_eq!(again, record);
        serde_json::from_slice(&json).expect("it is JSON")
    });
    assert_fits("gate", values);
}

#[test]
fn values_have_the_unit_of_their_series_and_a_unit_is_only_text() {
    let mut gate = record();
    gate.benchmarks = vec![GateBenchmark {
        metric: "http_req_duration".to_owned(),
        unit: "ms".to_owned(),
        base: Some(exactly(330.33)),
        head: Some(exactly(991.0)),
        ..row("k6", 3.0, GateVerdict::Worse)
    }];
    let terminal = |gate: &GateRecord| {
        gate_terminal(
            gate,
            &Screen {
                verbose: true,
                ..Screen::default()
            },
        )
    };
    for text in [terminal(&gate), gate_markdown(&gate), gate_junit(&gate)] {
        assert!(
            text.contains("330.3 ms") && text.contains("991 ms"),
            "{text}"
        );
    }
    gate.benchmarks[0].unit = "\u{1b}[31m|<b>".to_owned();
    assert!(!terminal(&gate).contains('\u{1b}'));
    let comment = gate_markdown(&gate);
    assert!(
        !comment.contains("<b>") && !comment.contains('\u{1b}'),
        "{comment}"
    );
}
