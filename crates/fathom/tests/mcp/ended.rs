//! Cancelled requests, and processes left when a client disconnects.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::client::{Client, script};

/// Writes a program that never ends and holds a pipe open: a reader sees when the whole tree has ended.
fn endless(folder: &Path) {
    let made = Command::new("mkfifo")
        .args(["-m", "666"])
        .arg(folder.join("fifo"))
        .status();
    assert!(made.unwrap().success());
    script(
        folder,
        "endless",
        "#!/bin/sh\nexec 9>fifo\necho started >&9\nsleep 86399 &\nwait\n",
    );
}

/// Waits until the program runs; returns the pipe that it holds open.
fn started(folder: &Path) -> BufReader<File> {
    let mut fifo = BufReader::new(File::open(folder.join("fifo")).unwrap());
    let mut line = String::new();
    fifo.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    fifo
}

/// Waits until every process that could write has ended.
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
        // The server is ready for the next request and doesn't answer the cancelled one.
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
    // The second request waits for its turn, which never comes.
    client.send("tools/call", &asked);
    client.send("tools/call", &asked);
    let running = started(folder.path());
    client.leave();
    has_ended(running);
}

/// Kills the server during a measurement and waits until everything it started has ended.
fn killed_while_it_measures(mut client: Client, folder: &Path) {
    let asked =
        json!({"name": "bench", "arguments": {"commands": ["./endless"], "timeout_s": 3600}});
    client.send("tools/call", &asked);
    let running = started(folder);
    client.kill();
    has_ended(running);
}

#[test]
fn a_killed_server_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    endless(folder.path());
    let client = Client::new(folder.path(), &["./endless"]);
    killed_while_it_measures(client, folder.path());
}

#[test]
fn a_killed_server_whose_file_has_capabilities_leaves_nothing_behind() {
    // SAFETY: the call takes no arguments and can't fail.
    if unsafe { libc::geteuid() } != 0 {
        return fathom_test_log::skipped("only root can become another user");
    }
    // Use the disk that holds the build: on other disks, set-id bits may have no effect.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let everyone = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), everyone).unwrap();
    endless(folder.path());
    let program = folder.path().join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
    let mut setcap = Command::new("setcap");
    match setcap.arg("cap_bpf,cap_perfmon+ep").arg(&program).status() {
        Ok(status) if status.success() => {}
        _ => return fathom_test_log::skipped("no setcap, or files there have no capabilities"),
    }
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&program)
            .args(arguments);
        command
    };
    match as_nobody(&["--version"]).status() {
        Ok(status) if status.success() => {}
        _ => return fathom_test_log::skipped("another user can't run it there"),
    }
    let client = Client::of(as_nobody(&[]), folder.path(), &["./endless"]);
    killed_while_it_measures(client, folder.path());
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
        said.is_error && said.text.contains("timeout_s gives"),
        "{}",
        said.text
    );
    // The server sends one progress message per second, for the request that asked for progress.
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
