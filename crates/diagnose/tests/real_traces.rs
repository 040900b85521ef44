//! Traces of real runs, trimmed: what is said of them must not change with the rules.

use fathom_diagnose::{Observation, diagnose};
use fathom_trace::Trace;

fn read(text: &str) -> Trace {
    serde_json::from_str(text).expect("a fixture is a trace")
}

fn observation(trace: &Trace) -> Observation {
    Observation {
        trace: trace.clone(),
        cpus: 2,
        ..Observation::default()
    }
}

fn ids(trace: &Trace) -> Vec<&'static str> {
    let found = diagnose(&observation(trace)).findings;
    found
        .into_iter()
        .map(|finding| finding.id.as_str())
        .collect()
}

#[test]
fn the_slow_ones_are_named_and_their_twins_are_clean() {
    let reported = |text| ids(&read(text));
    assert_eq!(
        reported(include_str!("fixtures/one_write_a_piece.json")),
        ["unbuffered-output"]
    );
    assert!(reported(include_str!("fixtures/buffered_output.json")).is_empty());
    assert_eq!(
        reported(include_str!("fixtures/delayed_ack.json")),
        ["delayed-ack-stall"]
    );
    assert_eq!(
        reported(include_str!("fixtures/mutex_queue.json")),
        ["lock-contention"]
    );
    assert!(reported(include_str!("fixtures/mutex_free.json")).is_empty());
}

#[test]
fn the_parts_of_an_account_add_up_to_the_wall_time() {
    for text in [
        include_str!("fixtures/one_write_a_piece.json"),
        include_str!("fixtures/delayed_ack.json"),
        include_str!("fixtures/mutex_queue.json"),
    ] {
        let trace = read(text);
        let diagnosis = diagnose(&observation(&trace));
        let account = diagnosis.account;
        assert_eq!(account.wall_ns, trace.duration_ns);
        let sum: u64 = account.parts.iter().map(|part| part.ns).sum();
        assert_eq!(sum, account.wall_ns);
        for thread in diagnosis.threads {
            let sum: u64 = thread.account.parts.iter().map(|part| part.ns).sum();
            assert_eq!(sum, thread.to_ns - thread.from_ns);
        }
    }
}
