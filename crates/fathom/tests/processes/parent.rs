//! Commands that act on their parent, which is a part of Fathom.

use crate::world::{fathom, mark, sleeps, stderr};

/// The verbs, with all arguments before the command.
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

/// Starts a child in a separate session, which the command doesn't wait for.
fn daemon(mark: &str) -> String {
    format!("setsid sleep {mark} & ")
}

#[test]
fn a_command_that_kills_its_parent_is_named_and_leaves_nothing() {
    for (at, verb) in (0..).zip(VERBS) {
        let marks = [mark(820 + at), mark(830 + at)];
        let script = format!("{}kill -KILL $PPID; sleep {}", daemon(&marks[0]), marks[1]);
        let words = with(verb, &script);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = fathom(&words).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{verb:?}: {said}");
        let name = if verb[0] == "pipe" {
            "'the pipeline"
        } else {
            "sleep"
        };
        assert!(
            said.contains("killed its parent process") && said.contains(name),
            "{verb:?}: {said}"
        );
        assert!(!marks.iter().any(|mark| sleeps(mark)), "{verb:?}");
    }
}

#[test]
fn a_hook_that_kills_its_parent_is_named_and_leaves_nothing() {
    for (at, hook) in (0..).zip(["--setup", "--prepare", "--conclude", "--cleanup"]) {
        let mark = mark(840 + at);
        let script = format!("{}kill -KILL $PPID", daemon(&mark));
        let output = fathom(&["bench", "-r", "2", hook, &script, "--", "true"])
            .output()
            .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{hook}: {said}");
        assert!(
            said.contains("killed its parent process") && said.contains(&mark),
            "{hook}: {said}"
        );
        assert!(!sleeps(&mark), "{hook}");
    }
}

/// A server that kills its parent some time after it starts to listen, and continues to serve.
const SERVER: &str = "
import http.server, os, signal, sys
class Answers(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_GET(self):
        Answers.count += 1
        if Answers.count == int(sys.argv[3]):
            os.kill(int(sys.argv[4]), signal.SIGKILL)
        self.send_response(200); self.end_headers()
if int(sys.argv[3]) == 0:
    os.kill(int(sys.argv[4]), signal.SIGKILL)
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Answers).serve_forever()
";

#[test]
fn a_server_that_kills_its_parent_is_named_and_leaves_nothing() {
    for (at, when) in (0..).zip(["0", "40"]) {
        let marks = [mark(850 + at), mark(860 + at)];
        let script = format!(
            "{}sleep {} & exec python3 -c \"{SERVER}\" {{port}} {} {when} $PPID",
            daemon(&marks[0]),
            marks[1],
            marks[0],
        );
        let output = fathom(&[
            "serve",
            "--launches",
            "1",
            "--rounds",
            "2",
            "--time",
            "200ms",
            "--",
            "sh",
            "-c",
            &script,
        ])
        .output()
        .unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{when}: {said}");
        assert!(said.contains("killed its parent process"), "{when}: {said}");
        assert!(!marks.iter().any(|mark| sleeps(mark)), "{when}");
        assert!(!crate::world::runs(&marks[0]), "{when}: the server");
    }
}

#[test]
fn ctrl_c_while_the_parent_is_stopped_ends_the_measurement() {
    let mark = mark(870);
    // A process outside the group stops the parent again each time it is continued, and once sends SIGINT to
    // Fathom, as Ctrl-C would.
    let stops =
        "i=0; while [ $i -lt 200 ]; do kill -STOP $0; [ $i = 9 ] && kill -INT $1; i=$((i+1)); done";
    let script = format!(
        "fathom=$(cut -d\" \" -f4 /proc/$PPID/stat); setsid sh -c '{stops}' $PPID $fathom & exec sleep {mark}"
    );
    let output = fathom(&["bench", "--", "sh", "-c", &script])
        .output()
        .unwrap();
    // Fathom may notice either the stop or Ctrl-C first.
    let code = output.status.code();
    assert!(
        matches!(code, Some(3 | 130)),
        "{code:?} {}",
        stderr(&output)
    );
    assert!(!sleeps(&mark));
}

#[test]
fn an_observed_command_that_stops_its_parent_holds_nobody_up() {
    // A run with a round number is timed: observed runs don't have one.
    let script = "[ -n \"$FATHOM_ITERATION\" ] || kill -STOP $PPID";
    let output = fathom(&["why", "--runs", "2", "--", "sh", "-c", script])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
