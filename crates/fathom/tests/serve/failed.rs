//! Servers that misbehave are reported with the end of their standard error.

use crate::world::{run, stderr, stdout};

#[test]
fn a_server_that_dies_is_reported_with_what_it_wrote() {
    let output = run(&[], "dies");
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("ended with exit code 3 before it listened"),
        "{said}"
    );
    assert!(said.contains("  | no such table: users"), "{said}");
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_server_that_never_listens_is_reported_with_what_to_do() {
    let output = run(&["--timeout", "300ms"], "silent");
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("is not listening on port") && said.contains("{port}"),
        "{said}"
    );
}

#[test]
fn a_server_that_answers_500_is_reported_with_what_to_do() {
    let output = run(&["--timeout", "10s"], "fails");
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("answers 500 to /") && said.contains("--status 500"),
        "{said}"
    );
}

#[test]
fn a_server_with_another_body_is_reported() {
    let options = [
        "--launches",
        "0",
        "--body-contains",
        "Goodbye",
        "--time",
        "100ms",
    ];
    let output = run(&options, "good");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("without 'Goodbye'"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn errors_under_load_are_counted_and_are_no_latencies() {
    let options = [
        "--launches",
        "0",
        "--rounds",
        "2",
        "--time",
        "200ms",
        "-c",
        "2",
        "--rate",
        "0",
        "--json",
        "-",
    ];
    let output = run(&options, "mixed");
    let all: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let load = &all["servers"][0]["load"][0];
    let (errors, completed) = (
        load["errors"].as_u64().unwrap(),
        load["completed"].as_u64().unwrap(),
    );
    assert!(errors > 0 && errors < completed, "{errors} of {completed}");
    assert_eq!(load["errors_by_kind"]["status"].as_u64(), Some(errors));
    let good = load["histogram_ns"].as_array().unwrap();
    let good: u64 = good.iter().map(|pair| pair[1].as_u64().unwrap()).sum();
    assert_eq!(good, completed - errors);
}

#[test]
fn a_server_that_ends_under_load_is_reported_and_what_came_before_is_kept() {
    let options = [
        "--launches",
        "2",
        "--rounds",
        "2",
        "--time",
        "300ms",
        "-c",
        "2",
    ];
    let output = run(&options, "exits");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("ended with exit code 7 under load"), "{said}");
    assert!(stdout(&output).contains("From launch to first answer (2 launches)"));
}
