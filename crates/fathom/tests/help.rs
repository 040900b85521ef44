//! What explains Fathom itself: words, completions, manual pages.
#![cfg(target_os = "linux")]

use std::process::{Command, Output, Stdio};

fn fathom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = fathom(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn words_are_explained_and_near_misses_answered() {
    assert!(
        stdout(&["explain", "wall"])
            .starts_with("wall, wall_ns  (Metrics)\n  Time from just before")
    );
    assert!(stdout(&["explain", "run", "queue", "wait"]).starts_with("run_queue_wait, "));
    assert!(stdout(&["explain", "unbuffered-output"]).contains("Write through a buffer"));
    assert!(stdout(&["explain"]).contains("unbuffered-input"));
    let output = fathom(&["explain", "unbufered-output"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    let expected =
        "error: \"unbufered-output\" is no word that Fathom prints; did you mean unbuffered-output";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn each_shell_gets_a_script_with_every_verb() {
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef fathom"),
        ("fish", "complete -c fathom"),
    ] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains(mark), "{shell}");
        for verb in [
            "bench", "why", "pipe", "startup", "versions", "bisect", "machine", "run", "init",
            "history", "compare", "store", "changes", "gate", "serve", "import", "export",
            "explain",
        ] {
            assert!(script.contains(verb), "{shell} {verb}");
        }
    }
    assert_eq!(fathom(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn each_verb_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(stdout(&["man", pages.to_str().unwrap()]), "");
    for page in [
        "fathom.1",
        "fathom-bench.1",
        "fathom-why.1",
        "fathom-explain.1",
    ] {
        let text = std::fs::read_to_string(pages.join(page)).expect("the page is there");
        assert!(text.contains(".SH OPTIONS"), "{page}");
    }
    let why = std::fs::read_to_string(pages.join("fathom-why.1")).expect("the page is there");
    assert!(why.contains("what the second takes more"), "{why}");
    assert_eq!(fathom(&["man", "/dev/null/x"]).status.code(), Some(2));
}
