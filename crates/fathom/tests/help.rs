//! Fathom's built-in documentation: explanations of words, completions, manual pages.
#![cfg(target_os = "linux")]

use std::path::Path;
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
    for (phrase, word) in [
        ("97.5 % interval", "interval, level"),
        ("too few rounds (6 of 8)", "too few rounds"),
        ("about 349 more rounds would decide", "undecided, "),
        ("undecided, under 1.2 %", "undecided, "),
        ("inside the margin of 3 %", "margin, "),
        ("2.17x slower", "slower"),
        ("p99.9", "p10, "),
        ("seed 894229", "seed"),
    ] {
        let said = stdout(&["explain", phrase]);
        assert!(said.starts_with(word), "{phrase}: {said}");
    }
    assert!(stdout(&["explain", "unbuffered-output"]).contains("Write through a buffer"));
    assert!(stdout(&["explain"]).contains("unbuffered-input"));
    let output = fathom(&["explain", "unbufered-output"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = "error: \"unbufered-output\" is not a term that Fathom prints; did you mean unbuffered-output";
    assert!(said.starts_with(expected), "{said}");
}

/// Returns bash's completions for the last of these words, in this folder.
fn offered(folder: &Path, words: &[&str]) -> Vec<String> {
    let script = "source <(fathom completions bash); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                  COMP_TYPE=9; _clap_complete_fathom fathom \"${!#}\" x; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let program = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let output = Command::new("bash")
        .args(["--norc", "-c", script, "bash"])
        .args(words)
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env_remove("XDG_DATA_HOME")
        .env_remove("FATHOM_STORE")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn verbs_options_words_and_benchmarks_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let verbs = offered(here, &["fathom", ""]);
    for verb in [
        "bench", "why", "pipe", "startup", "serve", "gate", "explain",
    ] {
        assert!(verbs.contains(&verb.to_owned()), "{verb}: {verbs:?}");
    }
    assert_eq!(
        offered(here, &["fathom", "bench", "--precis"]),
        ["--precision"]
    );
    assert_eq!(
        offered(here, &["fathom", "explain", "unbuffered-o"]),
        ["unbuffered-output"]
    );
    // Without a store, nothing is offered and no error is reported.
    assert!(!offered(here, &["fathom", "history", ""]).contains(&"parse".to_owned()));
    let made = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args([
            "bench",
            "--save",
            "-r",
            "2",
            "-n",
            "parse",
            "--no-canaries",
            "true",
        ])
        .current_dir(here)
        .env("HOME", here)
        .env_remove("XDG_DATA_HOME")
        .env_remove("FATHOM_STORE")
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    for verb in ["history", "changes"] {
        assert_eq!(offered(here, &["fathom", verb, "par"]), ["parse"], "{verb}");
    }
}

#[test]
fn each_shell_gets_a_script_that_asks_the_program() {
    for (shell, mark) in [
        ("bash", "_clap_complete_fathom"),
        ("zsh", "#compdef fathom"),
        ("fish", "complete --keep-order --exclusive --command fathom"),
    ] {
        let script = stdout(&["completions", shell]);
        assert!(
            script.contains(mark) && script.contains("FATHOM_COMPLETE"),
            "{script}"
        );
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
    // The guide lists every verb. Commands below a verb are described on the verb's page.
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");
    let guide = std::fs::read_to_string(guide).expect("the guide is there");
    for page in std::fs::read_dir(&pages).expect("the folder is there") {
        let page = page
            .expect("a page")
            .file_name()
            .into_string()
            .expect("text");
        let verb = page
            .strip_prefix("fathom-")
            .and_then(|name| name.strip_suffix(".1"));
        if let Some(verb) = verb.filter(|verb| !verb.contains('-') && *verb != "help") {
            assert!(guide.contains(&format!("fathom {verb}")), "{verb}");
        }
    }
    let why = std::fs::read_to_string(pages.join("fathom-why.1")).expect("the page is there");
    assert!(why.contains("what the second takes more"), "{why}");
    assert_eq!(fathom(&["man", "/dev/null/x"]).status.code(), Some(2));
}
