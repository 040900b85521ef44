//! The workflow that posts comments on GitHub, with a stand-in for `gh`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::world::{Forge, integrations, step};

/// Returns the steps of a GitHub workflow, without their indentation.
fn github_steps() -> Vec<String> {
    let text = std::fs::read_to_string(integrations().join("github/comment.yml"));
    let text = text.expect("the workflow");
    let steps = text.split("\n    steps:\n").nth(1).expect("its steps");
    let mut all: Vec<String> = Vec::new();
    for line in steps.lines().map(str::trim_end) {
        if let Some(first) = line.strip_prefix("      - ") {
            all.push(String::new());
            all.last_mut().expect("a step").push_str(first);
        } else if let Some(step) = all
            .last_mut()
            .filter(|_| !line.trim_start().starts_with('#'))
        {
            step.push('\n');
            step.push_str(line.trim_start());
        }
    }
    all
}

/// Returns a step's value for a key.
fn value<'a>(step: &'a str, key: &str) -> Option<&'a str> {
    let value = step.lines().find_map(|line| line.strip_prefix(key));
    Some(value?.strip_prefix(": ")?.trim())
}

/// Replaces GitHub's command: records its requests and answers with one open pull request, and with an old
/// comment if there is one.
const GH: &str = r#"#!/bin/sh
echo "$*" >>calls
case "$*" in
*pulls*) echo 7 ;;
*--paginate*) cat old 2>/dev/null || true ;;
*body=@*) for word; do case $word in body=@*) cp "${word#body=@}" body.md ;; esac; done ;;
esac
"#;

impl Forge {
    /// Runs the workflow that posts comments, with this artifact of the pull request's job.
    fn comment(&self, artifact: &Path) -> Output {
        self.program(&self.bin().join("gh"), GH);
        let temporary = self.folder.path().join("runner");
        for folder in [self.work(), temporary.clone()] {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).expect("a folder");
        }
        let filled_in = |value: &str| {
            let temporary = temporary.to_str().expect("UTF-8");
            value.replace("${{ runner.temp }}", temporary)
        };
        let mut last = None;
        for step in github_steps() {
            match value(&step, "uses") {
                Some(action) if action.starts_with("actions/checkout@") => {
                    // Remove everything that the job created in its folder.
                    std::fs::remove_dir_all(self.work()).expect("it is removed");
                    std::fs::create_dir_all(self.work()).expect("a folder");
                    let integrations = integrations();
                    self.must(&["cp", "-r", integrations.to_str().expect("UTF-8"), "."]);
                }
                Some(action) if action.starts_with("actions/download-artifact@") => {
                    let to = value(&step, "path").map_or_else(|| ".".to_owned(), filled_in);
                    let from = format!("{}/.", artifact.display());
                    self.must(&["mkdir", "-p", &to]);
                    self.must(&["cp", "-a", &from, &to]);
                }
                Some(action) => panic!("{action} is not known here"),
                None => {
                    let run = value(&step, "run").expect("a step runs or uses something");
                    let record = value(&step, "RECORD").map_or_else(String::new, filled_in);
                    let variables = [
                        ("GITHUB_REPOSITORY", "own/project"),
                        ("HEAD_REPOSITORY", "fork/project"),
                        ("HEAD_BRANCH", "change"),
                        ("HEAD_SHA", "0123"),
                        ("RECORD", &record),
                    ];
                    let done = self.run(&["bash", "-e", "-c", run], &variables);
                    let failed = !done.status.success();
                    last = Some(done);
                    if failed {
                        break;
                    }
                }
            }
        }
        last.expect("a step that ran")
    }
}

#[test]
fn a_comment_is_posted_where_the_event_says_and_replaced() {
    let forge = Forge::new();
    forge.record("x` @all\n<b>::error::");
    let artifact = forge.folder.path().join("artifact");
    std::fs::create_dir(&artifact).expect("a folder");
    let record = artifact.join("fathom-gate.json");
    std::fs::rename(forge.work().join("fathom-gate.json"), &record).expect("it is moved");
    let done = forge.comment(&artifact);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let calls = forge.read("calls");
    assert!(calls.contains("head=fork:change"), "{calls}");
    assert!(
        calls.contains("repos/own/project/issues/7/comments -F body=@"),
        "{calls}"
    );
    assert!(
        calls.contains(r#".user.login == "github-actions[bot]""#),
        "{calls}"
    );
    let body = forge.read("body.md");
    assert!(
        body.starts_with("<!-- fathom gate -->\n**Worse: 1 of 1**"),
        "{body}"
    );
    assert!(!body.contains("<b>"), "{body}");
    // An older comment of the workflow is replaced.
    forge.write(&forge.work().join("old"), "42\n");
    let comment = step("comment.sh");
    let variables = [
        ("GITHUB_REPOSITORY", "own/project"),
        ("HEAD_REPOSITORY", "fork/project"),
        ("HEAD_BRANCH", "change"),
        ("HEAD_SHA", "0123"),
        ("RECORD", record.to_str().expect("UTF-8")),
    ];
    let done = forge.run(&[comment.to_str().expect("UTF-8")], &variables);
    assert!(done.status.success(), "{done:?}");
    let calls = forge.read("calls");
    assert!(
        calls.contains("-X PATCH repos/own/project/issues/comments/42"),
        "{calls}"
    );
}

/// Files that a pull request may substitute for the record. None is executed, and none is posted.
#[test]
fn a_poisoned_artifact_is_refused_and_nothing_of_it_runs() {
    type Poison = fn(&Forge, &Path);
    let poisons: [(&str, &str, Poison); 6] = [
        ("steps of its own", "and nothing else", |forge, artifact| {
            let steps = artifact.join("integrations/steps");
            std::fs::create_dir_all(&steps).expect("a folder");
            let mark = forge.folder.path().join("ran");
            let script = format!("#!/bin/sh\ntouch '{}'\n", mark.display());
            for step in ["comment.sh", "install.sh", "record.sh", "gate.sh"] {
                forge.program(&steps.join(step), &script);
            }
        }),
        ("a link", "not a regular file", |forge, artifact| {
            let record = artifact.join("fathom-gate.json");
            let elsewhere = forge.folder.path().join("elsewhere.json");
            std::fs::rename(&record, &elsewhere).expect("it is moved");
            std::os::unix::fs::symlink(&elsewhere, &record).expect("a link");
        }),
        ("a huge file", "larger than 8 MiB", |_, artifact| {
            let record = artifact.join("fathom-gate.json");
            let file = std::fs::OpenOptions::new().write(true).open(record);
            file.and_then(|file| file.set_len(1 << 40)).expect("a size");
        }),
        ("another name", "and nothing else", |_, artifact| {
            let record = artifact.join("fathom-gate.json");
            std::fs::rename(&record, artifact.join("other.json")).expect("it is moved");
        }),
        ("a pipe", "not a regular file", |forge, artifact| {
            let record = artifact.join("fathom-gate.json");
            std::fs::remove_file(&record).expect("it is removed");
            forge.must(&["mkfifo", record.to_str().expect("UTF-8")]);
        }),
        ("no record", "not a record written by", |forge, artifact| {
            let text = "{\"kind\": \"gate\", \"verdict\": \"worse\"}";
            forge.write(&artifact.join("fathom-gate.json"), text);
        }),
    ];
    let forge = Forge::new();
    for (name, reason, poison) in poisons {
        let artifact = forge.folder.path().join("artifact");
        let _ = std::fs::remove_dir_all(&artifact);
        std::fs::create_dir(&artifact).expect("a folder");
        let _ = std::fs::create_dir_all(forge.work());
        forge.record("parse");
        let record = forge.work().join("fathom-gate.json");
        std::fs::rename(record, artifact.join("fathom-gate.json")).expect("it is moved");
        poison(&forge, &artifact);
        let done = forge.comment(&artifact);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success(), "{name}: {said}");
        assert!(said.contains(reason), "{name}: {said}");
        assert_eq!(forge.read("calls"), "", "{name}");
        assert!(!forge.folder.path().join("ran").exists(), "{name} ran");
    }
}

/// Parses a program's output as GitHub does, with the pattern of the matcher.
const MATCHES: &str = r#"
import json, re, sys
[pattern] = json.load(open(sys.argv[1]))["problemMatcher"][0]["pattern"]
for line in sys.stdin:
    found = re.search(pattern["regexp"], line.rstrip("\n"))
    if found:
        print(*(found[pattern[key]] for key in ("file", "line", "column", "message")), sep="|")
"#;

#[test]
fn the_problem_matcher_finds_each_line_that_is_wrong() {
    if Command::new("python3").arg("--version").output().is_err() {
        return fathom_test_log::skipped("no python3 is here");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fathom.toml");
    std::fs::write(&file, "schema_version = 1\nnonsense = 2\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["run", "fathom.toml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let matched = |said: &str| {
        let mut reader = Command::new("python3")
            .args(["-c", MATCHES])
            .arg(integrations().join("github/matcher.json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = reader.stdin.take().unwrap();
        to.write_all(said.as_bytes()).unwrap();
        drop(to);
        String::from_utf8(reader.wait_with_output().unwrap().stdout).unwrap()
    };
    let all = matched(&said);
    assert!(
        all.lines()
            .any(|line| line == "fathom.toml|2|1|an experiment file has no key `nonsense`"),
        "{all}{said}"
    );
    // An error without a preceding word is reported on its own line.
    std::fs::write(&file, "[[gate\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .arg("gate")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let all = matched(&said);
    assert!(all.contains("fathom.toml|1|"), "{all}{said}");
}
