//! Malicious servers can neither hang the client nor make its memory grow.

use serde_json::Value;

use crate::world::{fathom, run, server, stderr, stdout};

/// Checks that launches fail within a limited time. On a busy machine, the server uses part of that time to
/// start listening.
fn launch_fails(kind: &str, wanted: &str) {
    let output = run(&["--timeout", "10s", "--stop-timeout", "100ms"], kind);
    assert_eq!(output.status.code(), Some(3), "{kind}: {}", stderr(&output));
    assert!(
        stderr(&output).contains(wanted),
        "{kind}: {}",
        stderr(&output)
    );
}

#[test]
fn no_launch_goes_on_for_ever() {
    let kinds = [
        ("garbage", "its answer is not HTTP"),
        ("endless", "its answer was not complete in time"),
        ("headers", "the head is longer than 64 KiB"),
        ("trickle", "its answer was not complete in time"),
        (
            "half",
            "closes the connection before its answer is complete",
        ),
    ];
    // Run them concurrently, because each takes the full time limit.
    std::thread::scope(|scope| {
        for (kind, wanted) in kinds {
            scope.spawn(move || launch_fails(kind, wanted));
        }
    });
}

#[test]
fn a_server_that_stops_to_answer_times_out_and_the_books_are_right() {
    let options = [
        "--launches",
        "0",
        "--rounds",
        "1",
        "--time",
        "200ms",
        "-c",
        "4",
        "--rate",
        "100",
        "--request-timeout",
        "300ms",
        "--stop-timeout",
        "100ms",
        "--json",
        "-",
    ];
    let output = run(&options, "stops");
    let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for load in all["servers"][0]["load"].as_array().unwrap() {
        let count = |key: &str| load[key].as_u64().unwrap();
        assert_eq!(count("scheduled"), count("completed") + count("dropped"));
    }
    let timed_out = |load: &Value| load["errors_by_kind"]["timed_out"].as_u64().unwrap_or(0);
    let loads = all["servers"][0]["load"].as_array().unwrap();
    assert!(loads.iter().map(timed_out).sum::<u64>() > 0, "{loads:?}");
}

#[test]
fn more_than_was_asked_for_and_other_bodies_are_noticed() {
    let options = [
        "--launches",
        "0",
        "--rounds",
        "1",
        "--time",
        "100ms",
        "-c",
        "1",
        "--rate",
        "0",
        "--json",
        "-",
    ];
    for (kind, id) in [("more", "unasked_bytes"), ("counts", "other_bodies")] {
        let output = fathom(&options, &server(kind)).output().unwrap();
        let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let warnings = all["warnings"].as_array().unwrap();
        assert!(
            warnings.iter().any(|w| w["id"] == id),
            "{kind}: {warnings:?}"
        );
    }
}
