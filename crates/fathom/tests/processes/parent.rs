//! Commands that do something to their parent, which is a part of Fathom.

use crate::world::{fathom, mark, sleeps, stderr, wait_until};

/// The verbs, up to the command.
const VERBS: [&[&str]; 4] = [
    &["bench", "-r", "3", "--"],
    &["startup", "--runs", "3", "--"],
    &["why", "--runs", "3", "--"],
    &["pipe", "-r", "3"],
];

fn with(verb: &[&'static str], script: &str) -> Vec<String> {
    let mut words: Vec<String> = verb.iter().map(|word| (*word).to_owned()).collect();
    match verb[0] {
        "pipe" => words.extend([format!("sh -c '{script}'"), "cat".to_owned()]),
        _ => words.extend(["sh".to_owned(), "-c".to_owned(), script.to_owned()]),
    }
    words
}

#[test]
fn a_command_that_stops_its_parent_is_ended_and_named() {
    for (at, verb) in (0..).zip(VERBS) {
        let mark = mark(810 + at);
        let words = with(verb, &format!("kill -STOP $PPID; sleep {mark}"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = fathom(&words).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{verb:?}: {said}");
        assert!(
            said.contains("stopped its parent process"),
            "{verb:?}: {said}"
        );
        assert!(!sleeps(&mark), "{verb:?}");
    }
}

#[test]
fn a_command_that_kills_its_parent_is_ended_too() {
    for (at, verb) in (0..).zip(&VERBS[..3]) {
        let mark = mark(820 + at);
        let words = with(verb, &format!("kill -KILL $PPID; sleep {mark}"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = fathom(&words).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(4), "{verb:?}: {said}");
        assert!(said.contains("ended unasked"), "{verb:?}: {said}");
        wait_until(|| !sleeps(&mark));
    }
}

#[test]
fn an_observed_command_that_stops_its_parent_holds_nobody_up() {
    // Its number of the round says that it is timed: observed runs have none.
    let script = "[ -n \"$FATHOM_ITERATION\" ] || kill -STOP $PPID";
    let output = fathom(&["why", "--runs", "2", "--", "sh", "-c", script])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
