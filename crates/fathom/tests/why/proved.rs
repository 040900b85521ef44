//! `why --prove`: what is tried and reported, never how long it takes.

use serde_json::Value;

use crate::world::{fathom, stderr, stdout};

fn refused(arguments: &[&str]) -> String {
    let output = fathom(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn what_runs_already_cannot_be_run_again() {
    let said = refused(&["why", "--prove", "--pid", "1"]);
    assert!(said.contains("--prove"), "{said}");
    let said = refused(&["why", "--prove", "true", "false"]);
    assert!(
        said.contains("--prove applies only to one command"),
        "{said}"
    );
    let said = refused(&["why", "--time", "5s", "true"]);
    assert!(said.contains("--time needs --pid or --prove"), "{said}");
}

#[test]
fn a_finding_that_can_be_tried_has_a_proof() {
    let limits = ["--runs", "3", "--time", "4s", "--json", "-"];
    let command = ["--", "sleep", "0.5"];
    let output = fathom(&[&["why", "--prove"], &limits[..], &command[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let explanation: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = explanation["findings"].as_array().unwrap();
    let sleeping = findings.iter().find(|finding| finding["id"] == "sleeping");
    let Some(proof) = sleeping.map(|finding| &finding["proof"]) else {
        // On a busy machine, a tier that only samples may miss it.
        assert!(findings.iter().all(|finding| finding["proof"].is_object()));
        return;
    };
    // The verdict depends on how busy the machine is, but an attempt is always made.
    assert_eq!(proof["intervention"], "no-sleep", "{proof}");
    let said = stderr(&output);
    assert!(
        said.contains("(no-sleep else slope:sleeps): the command is run at most"),
        "{said}"
    );
}

#[test]
fn what_is_delayed_says_so_in_each_run() {
    let options = ["bench", "--try", "slope:sleeps", "-r", "6", "--json", "-"];
    let command = ["--", "sh", "-c", "sleep 0.02; sleep 0.02"];
    let output = fathom(&[&options[..], &command[..]].concat());
    if output.status.code() == Some(2) {
        // A tier that doesn't count calls can't know which calls to delay.
        let said = stderr(&output);
        assert!(
            said.contains("--try slope:sleeps: it was not seen"),
            "{said}"
        );
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for run in record["runs"].as_array().unwrap() {
        let delayed = run["delayed_ns"].as_u64().unwrap();
        assert_eq!(run["benchmark"] == 0, delayed == 0, "{run}");
    }
    // The slope is missing if runs took so much longer than expected that the delays are hardly visible.
    let slope = &record["outcome"]["slope"];
    assert!(slope.is_null() || slope["of"] == "slope:sleeps", "{slope}");
}

#[test]
fn what_can_be_delayed_is_listed() {
    let output = fathom(&["bench", "--try", "list"]);
    let said = stdout(&output);
    for name in ["no-sleep\n", "slope:writes\n", "slope:thread:NAME\n"] {
        assert!(said.contains(name), "{said}");
    }
}
