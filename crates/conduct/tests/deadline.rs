//! Tests that the deadline ends the running command, and that the results until then are available.
#![cfg(target_os = "linux")]

use std::time::Instant;

use fathom_conduct::bench::{ALPHA, Amount, MARGIN};
use fathom_conduct::{BenchPlan, CommandPlan, Event, RunTerms, Target};
use fathom_measure::{Against, IgnoreFailure, Input, Output};
use fathom_model::{RunOrder, StopReason};

fn target(words: &[&str]) -> Target {
    let plan = CommandPlan {
        text: words.join(" "),
        words: words.iter().map(Into::into).collect(),
        shell: None,
        parameters: Vec::new(),
        directory: None,
        variables: Vec::new(),
        input: Input::Null,
        output: Output::Null,
        expect: None,
        show_output: false,
    };
    plan.find().unwrap()
}

fn plan(words: &[&str], deadline: Option<Instant>) -> BenchPlan {
    BenchPlan {
        targets: vec![target(words)],
        against: Against::One(0),
        metrics: Vec::new(),
        alpha: ALPHA,
        amount: Amount {
            runs: Some(3),
            ..Amount::default()
        },
        warmup: 0,
        seed: 1,
        margin: MARGIN,
        ignore_failure: IgnoreFailure::Never,
        require_quiet: None,
        canaries: false,
        vary_environment_size: true,
        order: RunOrder::Random,
        keep_daemons: false,
        record: None,
        slope: None,
        terms: RunTerms {
            deadline,
            ..RunTerms::default()
        },
    }
}

/// This is a single test, because the limit applies to the whole process.
#[test]
fn a_deadline_ends_the_run_that_is_on_and_holds_for_nothing_after_it() {
    let mut starts = 0;
    let mut count = |event: Event<'_>| starts += u32::from(matches!(event, Event::RunStarts(_)));
    let endless = plan(&["sleep", "infinity"], Some(Instant::now()));
    let error = fathom_conduct::bench(&endless, &mut count).unwrap_err();
    assert!(error.is_interruption(), "{error}");

    let measured = fathom_conduct::bench(&plan(&["true"], None), &mut count).unwrap();
    assert!(measured.failure.is_none() && measured.record.complete);
    assert_eq!(measured.record.runs.len(), 3);
    let stop = measured.record.outcome.map(|outcome| outcome.stop);
    assert_eq!(stop, Some(StopReason::RunCount));
    assert!(starts >= 3, "the observer saw {starts} runs");
}
