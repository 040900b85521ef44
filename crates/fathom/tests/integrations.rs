//! The shell steps of `integrations/`, run as a forge runs them: with a real repository, and with a
//! stand-in for the forge's own command.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SUITE: &str = r#"
schema_version = 1
title = "a suite"
[subjects.count]
command = "sh work.sh"
[[measure]]
id  = "time"
how = "bench"
rounds = 3
[[claims]]
id = "it is there"
text = "It takes no time of its own"
layer = "size"
holds = "wall.count < 1000s"
"#;

fn step(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../integrations/steps")
        .join(name)
}

struct Forge {
    folder: tempfile::TempDir,
}

impl Forge {
    fn new() -> Forge {
        let forge = Forge {
            folder: tempfile::tempdir().expect("a folder"),
        };
        std::fs::create_dir_all(forge.bin()).expect("a folder");
        std::fs::create_dir_all(forge.work()).expect("a folder");
        let own = assert_cmd::cargo::cargo_bin!("fathom");
        std::os::unix::fs::symlink(own, forge.bin().join("fathom")).expect("a link");
        forge
    }

    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_default()
    }

    fn write(&self, path: &Path, text: &str) {
        std::fs::write(path, text).expect("a file");
    }

    fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new(words[0])
            .args(&words[1..])
            .current_dir(self.work())
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin().display()))
            .env("HOME", self.folder.path())
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@b")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@b")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("it runs")
    }

    fn must(&self, words: &[&str]) {
        let done = self.run(words, &[]);
        assert!(
            done.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// A record as a job leaves it, of one benchmark that is worse.
    fn record(&self, name: &str) {
        let made = self.run(
            &[
                "fathom",
                "gate",
                "--base-cmd",
                "true",
                "--head-cmd",
                "sleep 0.05",
                "--json",
                "fathom-gate.json",
            ],
            &[],
        );
        assert_eq!(
            made.status.code(),
            Some(1),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let text = self.read("fathom-gate.json");
        let mut record: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        record["benchmarks"][0]["name"] = name.into();
        self.write(&self.work().join("fathom-gate.json"), &record.to_string());
    }
}

#[test]
fn the_gate_step_works_from_a_shallow_clone_and_hands_on_the_exit_code() {
    let forge = Forge::new();
    let upstream = forge.folder.path().join("upstream");
    std::fs::create_dir_all(&upstream).expect("a folder");
    forge.write(&upstream.join("fathom.toml"), SUITE);
    forge.write(&upstream.join("work.sh"), "exit 0\n");
    let at = upstream.to_str().expect("UTF-8");
    forge.must(&["git", "-C", at, "init", "-q", "-b", "main"]);
    forge.must(&["git", "-C", at, "add", "-A"]);
    forge.must(&["git", "-C", at, "commit", "-q", "-m", "base"]);
    forge.must(&["git", "-C", at, "switch", "-q", "-c", "change"]);
    forge.write(&upstream.join("work.sh"), "sleep 0.2\n");
    forge.must(&["git", "-C", at, "commit", "-q", "-a", "-m", "slower"]);
    let url = format!("file://{at}");
    forge.must(&[
        "git", "clone", "-q", "--depth", "1", "-b", "change", &url, ".",
    ]);
    let gate = step("gate.sh");
    let variables = [
        ("BASE", "main"),
        ("TIME", "30s"),
        ("ARGUMENTS", "--only\ncount\n"),
        ("GITHUB_OUTPUT", "output"),
        ("GITHUB_STEP_SUMMARY", "summary"),
    ];
    let done = forge.run(&[gate.to_str().expect("UTF-8"), "github"], &variables);
    let (out, error) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(1), "{out}{error}");
    assert!(
        out.contains("::error file=fathom.toml,title=count worse::"),
        "{out}"
    );
    assert_eq!(forge.read("output"), "verdict=worse\n");
    assert!(
        forge.read("summary").contains("| `count` | worse |"),
        "{}",
        forge.read("summary")
    );
    let done = forge.run(&[gate.to_str().expect("UTF-8"), "gitlab"], &variables);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        forge
            .read("gl-code-quality-report.json")
            .contains("\"severity\": \"major\"")
    );
    assert!(forge.read("fathom-junit.xml").contains("<failure"));
}

#[test]
fn a_comment_is_posted_where_the_event_says_and_replaced() {
    let forge = Forge::new();
    forge.record("x` @all\n<b>::error::");
    // Stands for GitHub: answers with one open pull request, and with an old comment if there is one.
    let gh = "#!/bin/sh\necho \"$*\" >>calls\ncase \"$*\" in\n*pulls*) echo 7 ;;\n*--paginate*) cat old 2>/dev/null || true ;;\nesac\n";
    forge.write(&forge.bin().join("gh"), gh);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(forge.bin().join("gh"), executable).expect("a mode");
    let comment = step("comment.sh");
    let variables = [
        ("GITHUB_REPOSITORY", "own/project"),
        ("HEAD_REPOSITORY", "fork/project"),
        ("HEAD_BRANCH", "change"),
        ("HEAD_SHA", "0123"),
    ];
    let post = || {
        let _ = std::fs::remove_file(forge.work().join("calls"));
        let done = forge.run(&[comment.to_str().expect("UTF-8")], &variables);
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        forge.read("calls")
    };
    let calls = post();
    assert!(calls.contains("head=fork:change"), "{calls}");
    assert!(
        calls.contains("repos/own/project/issues/7/comments -F body=@fathom-body.md"),
        "{calls}"
    );
    let body = forge.read("fathom-body.md");
    assert!(
        body.starts_with("<!-- fathom gate -->\n**Worse: 1 of 1**"),
        "{body}"
    );
    assert!(!body.contains("<b>"), "{body}");
    forge.write(&forge.work().join("old"), "42\n");
    let calls = post();
    assert!(
        calls.contains("-X PATCH repos/own/project/issues/comments/42"),
        "{calls}"
    );
    // What is no record is not posted.
    forge.write(
        &forge.work().join("fathom-gate.json"),
        "{\"kind\": \"gate\", \"verdict\": \"worse\"}",
    );
    let done = forge.run(&[comment.to_str().expect("UTF-8")], &variables);
    assert!(!done.status.success());
}

#[test]
fn a_program_that_is_there_is_not_installed() {
    let forge = Forge::new();
    let install = step("install.sh");
    let own = forge.bin().join("fathom");
    let variables = [
        ("FATHOM", own.to_str().expect("UTF-8")),
        ("GITHUB_PATH", "path"),
    ];
    let done = forge.run(&[install.to_str().expect("UTF-8")], &variables);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(forge.read("path"), format!("{}\n", forge.bin().display()));
}
