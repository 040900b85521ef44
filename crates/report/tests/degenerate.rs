//! Records that no session should produce, but a file may contain: nothing may panic or look certain.

mod support;

use fathom_model::{BenchRecord, Estimate, Metric, Verdict};
use fathom_report::{
    Screen, SortOrder, TerminalOptions, TimeUnit, asciidoc, columns, csv, hyperfine_json, markdown,
    orgmode, terminal,
};
use support::program::Program;
use support::{outcome, outcome_of, session};

fn two() -> BenchRecord {
    session(&[Program::new("a", 0.002), Program::new("b", 0.003)], 12)
}

/// Renders everything in every form.
fn render(record: &BenchRecord) -> String {
    let mut all = String::new();
    for width in [0, 1, 40, 80, 200] {
        for sort in [SortOrder::Command, SortOrder::Median] {
            for time_unit in [None, Some(TimeUnit::Microsecond), Some(TimeUnit::Minute)] {
                let options = TerminalOptions {
                    screen: Screen {
                        width,
                        ..Screen::default()
                    },
                    sort,
                    time_unit,
                    ..TerminalOptions::default()
                };
                for verbose in [false, true] {
                    let options = TerminalOptions {
                        screen: Screen {
                            verbose,
                            ..options.screen
                        },
                        ..options
                    };
                    let text = terminal(record, &options);
                    assert!(
                        text.lines().all(|line| columns(line) <= width.max(32)),
                        "{text}"
                    );
                    all.push_str(&text);
                }
            }
        }
    }
    for unit in [None, Some(TimeUnit::Second)] {
        all.push_str(&markdown(record, unit));
        all.push_str(&asciidoc(record, unit));
        all.push_str(&orgmode(record, unit));
    }
    all.push_str(&csv(record));
    all.push_str(&hyperfine_json(record));
    all
}

#[test]
fn a_record_without_anything() {
    let mut record = two();
    record.benchmarks.clear();
    record.runs.clear();
    record.outcome = None;
    assert!(render(&record).contains("0 rounds"));
}

#[test]
fn a_benchmark_without_runs() {
    let mut record = two();
    record.runs.retain(|run| run.benchmark == 0);
    record.outcome = Some(outcome(&record));
    assert!(render(&record).contains("no run was completed"));
}

#[test]
fn indices_that_lead_nowhere() {
    let mut record = two();
    record.runs[0].benchmark = 99;
    let outcome = outcome_of(&mut record);
    outcome.comparisons[0].subject = usize::MAX;
    outcome.comparisons[0].reference = 77;
    outcome.results[0].benchmark = 12;
    assert!(render(&record).contains("against 78"));
}

#[test]
fn numbers_that_are_none() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300] {
        let mut record = two();
        for verdict in [
            Verdict::Faster,
            Verdict::Slower,
            Verdict::Same,
            Verdict::Undecided,
        ] {
            let outcome = outcome_of(&mut record);
            let estimate = Estimate {
                value,
                low: value,
                high: value,
                level: value,
            };
            outcome.comparisons[0].verdict = verdict;
            outcome.comparisons[0].ratio = estimate;
            outcome.comparisons[0].shift.p90 = value;
            outcome.results[0].summaries[0].median = estimate;
            outcome.results[0].summaries[0].max = value;
            if let Some(floor) = &mut outcome.floor {
                floor.wall = estimate;
            }
            assert!(!render(&record).is_empty());
        }
    }
}

#[test]
fn runs_that_took_no_time_or_too_much() {
    for wall_ns in [0, u64::MAX] {
        let mut record = two();
        for run in &mut record.runs {
            run.wall_ns = wall_ns;
            run.cpu_ns = wall_ns;
            run.run_queue_wait_ns = Some(wall_ns);
            run.harness_wait_ns = Some(wall_ns);
        }
        record.outcome = Some(outcome(&record));
        assert!(!render(&record).is_empty());
    }
}

#[test]
fn a_metric_that_fewer_runs_have() {
    let mut record = session(&[Program::new("a", 0.002)], 12);
    for run in record.runs.iter_mut().take(8) {
        run.undisturbed_ns = None;
    }
    record.outcome = Some(outcome(&record));
    assert_eq!(
        outcome_of(&mut record).results[0].summaries[1].metric,
        Metric::Undisturbed
    );
    let options = TerminalOptions {
        screen: Screen {
            verbose: true,
            ..Screen::default()
        },
        ..TerminalOptions::default()
    };
    let text = terminal(&record, &options);
    let note = "wait-free    known for 4 of 12 runs, in which a single thread did the work and\n               its waits could be measured exactly, its interval has 87.5 %";
    assert!(text.contains(note), "{text}");
}
