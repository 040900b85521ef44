//! What is cancelled, and what a client leaves that goes away.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::client::{Client, script};

/// A program without an end, which holds a pipe open: its reader sees when the whole tree has ended.
fn endless(folder: &Path) {
    let made = Command::new("mkfifo").arg(folder.join("fifo")).status();
    assert!(made.unwrap().success());
    script(
        folder,
        "endless",
        "#!/bin/sh\nexec 9>fifo\necho started >&9\nsleep 86399 &\nwait\n",
    );
}

/// Waits until it runs; what it holds open.
fn started(folder: &Path) -> BufReader<File> {
    let mut fifo = BufReader::new(File::open(folder.join("fifo")).unwrap());
    let mut line = String::new();
    fifo.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    fifo
}

/// Waits until everything has ended that could write.
fn has_ended(mut fifo: BufReader<File>) {
    let mut rest = Vec::new();
    fifo.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}

#[test]
fn a_cancelled_measurement_ends_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    endless(folder.path());
    for (tool, arguments) in [
        (
            "bench",
            json!({"commands": ["./endless"], "timeout_s": 3600}),
        ),
        ("why", json!({"command": "./endless", "timeout_s": 3600})),
    ] {
        let mut client = Client::new(folder.path(), &["./endless"]);
        let number = client.send("tools/call", &json!({"name": tool, "arguments": arguments}));
        let running = started(folder.path());
        client.tell("notifications/cancelled", &json!({"requestId": number}));
        has_ended(running);
        // The server is there for the next question, and nobody answers the one that was taken back.
        assert!(!client.call("explain", &json!({"word": "wall"})).is_error);
        assert_eq!(
            client
                .told
                .iter()
                .filter(|told| told["id"] == number)
                .count(),
            0
        );
        assert!(client.leave().success());
    }
}

#[test]
fn a_client_that_goes_away_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    endless(folder.path());
    let mut client = Client::new(folder.path(), &["./endless"]);
    let asked =
        json!({"name": "bench", "arguments": {"commands": ["./endless"], "timeout_s": 3600}});
    // The second waits for its turn, which doesn't come.
    client.send("tools/call", &asked);
    client.send("tools/call", &asked);
    let running = started(folder.path());
    client.leave();
    has_ended(running);
}

#[test]
fn an_endless_command_ends_with_its_time_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "endless", "#!/bin/sh\nsleep 86399 &\nwait\n");
    let mut client = Client::new(folder.path(), &["./endless"]);
    let said = client.call(
        "bench",
        &json!({"commands": ["./endless"], "timeout_s": 1.5}),
    );
    assert!(
        said.is_error && said.text.contains("by timeout_s"),
        "{}",
        said.text
    );
    // Each second a word, for who asked for it.
    let words: Vec<_> = client
        .told
        .iter()
        .filter(|told| told["method"] == "notifications/progress")
        .collect();
    assert!(
        !words.is_empty()
            && words
                .iter()
                .all(|word| word["params"]["progressToken"] == "p")
    );
}
