//! Invalid arguments are refused before anything starts, with a helpful sentence.

use crate::world::{fathom, server, stderr, stdout};

fn refusal(options: &[&str], words: &[String]) -> String {
    let output = fathom(options, words).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    stderr(&output)
}

#[test]
fn nothing_to_measure() {
    assert!(refusal(&[], &[]).contains("try: fathom serve -- node server.js {port}"));
    let nothing = refusal(&["--rounds", "0", "--launches", "0"], &server("good"));
    assert!(nothing.contains("would measure nothing"), "{nothing}");
}

#[test]
fn a_port_of_somebody_else_is_named_with_its_owner() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let said = refusal(&["--port", &port], &server("good"));
    let own = format!(
        "port {port} is already used by process {}",
        std::process::id()
    );
    assert!(said.contains(&own), "{said}");
}

#[test]
fn other_machines_are_refused_without_consent() {
    let said = refusal(&["--url", "http://192.0.2.1/"], &[]);
    assert!(said.contains("--allow-remote"), "{said}");
    // Refused before a name lookup: no host has this name.
    let name = refusal(&["--url", "https://no-such-host.invalid/"], &[]);
    assert!(name.contains("--allow-remote"), "{name}");
    let both = refusal(&["--url", "http://127.0.0.1:1/"], &server("good"));
    assert!(both.contains("--url measures a running server"), "{both}");
}

#[test]
fn wrong_values_are_answered_with_right_ones() {
    let cases = [
        (vec!["--budget", "p99=2"], "add its unit"),
        (vec!["-c", "many"], "1,16,64"),
        (vec!["-H", "no colon"], "Name: value"),
        (vec!["--path", "no slash"], "begins with /"),
        (vec!["--find-rate", "errors=0"], "'p99<5ms'"),
    ];
    for (options, wanted) in cases {
        let said = refusal(&options, &server("good"));
        assert!(said.contains(wanted), "{options:?}: {said}");
    }
}
