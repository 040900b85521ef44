//! The shell steps of `integrations/`, run as a forge runs them: with a real repository, and with
//! stand-ins for GitHub's own command and for GitLab's API.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};

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

fn integrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations")
}

fn step(name: &str) -> PathBuf {
    integrations().join("steps").join(name)
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
        let own = env!("CARGO_BIN_EXE_fathom");
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

    /// A record as a job leaves it, of one benchmark that is worse. It is measured once for all tests.
    fn record(&self, name: &str) {
        static MEASURED: OnceLock<Value> = OnceLock::new();
        let mut record = MEASURED.get_or_init(|| self.measured()).clone();
        record["benchmarks"][0]["name"] = name.into();
        self.write(&self.work().join("fathom-gate.json"), &record.to_string());
    }

    fn measured(&self) -> Value {
        let line = "fathom gate --base-cmd true --head-cmd";
        let mut words: Vec<&str> = line.split(' ').collect();
        words.extend(["sleep 0.02", "--json", "-"]);
        let made = self.run(&words, &[]);
        assert_eq!(
            made.status.code(),
            Some(1),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        serde_json::from_slice(&made.stdout).expect("it is JSON")
    }

    /// A repository with a base and a slower head, and its address.
    fn upstream(&self) -> String {
        let upstream = self.folder.path().join("upstream.git");
        std::fs::create_dir_all(&upstream).expect("a folder");
        self.write(&upstream.join("fathom.toml"), SUITE);
        self.write(&upstream.join("work.sh"), "exit 0\n");
        let at = upstream.to_str().expect("UTF-8");
        // As a project has them that uses them.
        let integrations = integrations();
        let copied = ["cp", "-r", integrations.to_str().expect("UTF-8"), at];
        self.must(&copied);
        self.must(&["git", "-C", at, "init", "-q", "-b", "main"]);
        self.must(&["git", "-C", at, "add", "-A"]);
        self.must(&["git", "-C", at, "commit", "-q", "-m", "base"]);
        self.must(&["git", "-C", at, "switch", "-q", "-c", "change"]);
        self.write(&upstream.join("work.sh"), "sleep 0.05\n");
        self.must(&["git", "-C", at, "commit", "-q", "-a", "-m", "slower"]);
        format!("file://{at}")
    }

    /// A clone of one commit, as forges make it.
    fn shallow_clone(&self, url: &str) {
        self.must(&[
            "git", "clone", "-q", "--depth", "1", "-b", "change", url, ".",
        ]);
    }
}

/// The jobs of GitLab's template; `None` where there is nothing that reads YAML.
fn jobs() -> Option<Value> {
    let script = "import json, sys\ntry:\n import yaml\nexcept ImportError:\n sys.exit(9)\n\
                  json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)\n";
    let file = integrations().join("gitlab/fathom-gate.yml");
    let read = Command::new("python3")
        .args(["-c", script])
        .arg(file)
        .output();
    let read = read.expect("python3 runs: the steps need it too");
    match read.status.code() {
        Some(9) => None,
        code => {
            let said = String::from_utf8_lossy(&read.stderr).into_owned();
            assert_eq!(code, Some(0), "{said}");
            Some(serde_json::from_slice(&read.stdout).expect("it is JSON"))
        }
    }
}

/// The lines that GitLab runs for a job, as one script that ends with the first that fails.
fn script(job: &str) -> String {
    let Some(jobs) = jobs() else {
        // By the form that the file has: items of four columns below `script:`.
        let text = std::fs::read_to_string(integrations().join("gitlab/fathom-gate.yml"));
        let text = text.expect("the template");
        assert!(!text.contains('\t'), "YAML has no tabs");
        let own = text.split(&format!("\n{job}:\n")).nth(1).expect("the job");
        let lines = own.split("\n  script:\n").nth(1).expect("its script");
        let lines = lines.lines().map_while(|line| line.strip_prefix("    - "));
        return lines.collect::<Vec<_>>().join("\n");
    };
    let lines = jobs[job]["script"].as_array().expect("a script");
    let lines = lines.iter().map(|line| line.as_str().expect("a line"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A step of a workflow of GitHub: its lines, without what they are indented by.
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

/// What a step has for a key.
fn value<'a>(step: &'a str, key: &str) -> Option<&'a str> {
    let value = step.lines().find_map(|line| line.strip_prefix(key));
    Some(value?.strip_prefix(": ")?.trim())
}

/// Stands for GitLab: keeps what it is asked, is used by user 42, and has these notes.
struct Api {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Api {
    fn start(notes: Value) -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut lines = BufReader::new(stream.try_clone().expect("a stream"));
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    lines.read_line(&mut line).expect("a line");
                    let low = line.to_lowercase();
                    if let Some(value) = low.strip_prefix("content-length:") {
                        length = value.trim().parse().expect("a length");
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                    head.push_str(&line);
                }
                let mut body = vec![0; length];
                lines.read_exact(&mut body).expect("a body");
                let body = String::from_utf8(body).expect("UTF-8");
                kept.lock().expect("a lock").push(format!("{head}{body}"));
                let own = json!({"id": 42, "username": "project_5_bot"});
                let is_user = head.starts_with("GET /user ");
                let answer = if is_user { &own } else { &notes }.to_string();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                    answer.len()
                );
            }
        });
        Api { address, asked }
    }

    /// What it was asked since the last time: the first line and the whole of each.
    fn asked(&self) -> Vec<(String, String)> {
        let asked = std::mem::take(&mut *self.asked.lock().expect("a lock"));
        let first = |text: &String| text.lines().next().unwrap_or_default().to_owned();
        asked.into_iter().map(|text| (first(&text), text)).collect()
    }
}

#[test]
fn the_gate_step_works_from_a_shallow_clone_and_hands_on_the_exit_code() {
    let forge = Forge::new();
    forge.shallow_clone(&forge.upstream());
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
    // What was measured is where the forge keeps it for the next time.
    assert!(forge.work().join(".fathom/store.sqlite").is_file());
}

#[test]
fn the_template_of_gitlab_measures_and_then_posts_without_the_code_of_the_merge_request() {
    let forge = Forge::new();
    let url = forge.upstream();
    forge.shallow_clone(&url);
    // Whatever the merge request has in their place, its steps don't see the token.
    let variables = [
        ("BASE", "main"),
        ("TIME", "30s"),
        ("ARGUMENTS", "--only\ncount\n"),
    ];
    let gate = script("fathom-gate");
    let done = forge.run(&["bash", "-e", "-c", &gate], &variables);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{said}");
    let report = forge.read("gl-code-quality-report.json");
    assert!(report.contains("\"severity\": \"major\""), "{report}");
    assert!(forge.read("fathom-junit.xml").contains("<failure"));
    if let Some(jobs) = jobs() {
        let kept = jobs["fathom-gate"]["artifacts"]["paths"].to_string();
        assert!(kept.contains("fathom-gate.json"), "{kept}");
        assert_eq!(jobs["fathom-comment"]["needs"], json!(["fathom-gate"]));
        assert_eq!(jobs["fathom-comment"]["variables"]["GIT_STRATEGY"], "none");
    }
    // The second job: a folder with nothing but the record.
    let record = forge.read("fathom-gate.json");
    std::fs::remove_dir_all(forge.work()).expect("it is removed");
    std::fs::create_dir_all(forge.work()).expect("a folder");
    forge.write(&forge.work().join("fathom-gate.json"), &record);
    let post = |notes: Value| {
        let api = Api::start(notes);
        let project = url.strip_suffix(".git").expect("an address");
        let variables = [
            ("CI_API_V4_URL", api.address.as_str()),
            ("CI_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_PROJECT_URL", project),
            ("CI_JOB_TOKEN", "job"),
            ("FATHOM_TOKEN", "secret"),
        ];
        let done = forge.run(&["bash", "-e", "-c", &script("fathom-comment")], &variables);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.success(), said, api.asked())
    };
    let notes = "/projects/5/merge_requests/7/notes";
    // One that somebody else wrote is not edited, however it looks.
    let (own, other) = (json!({"id": 42}), json!({"id": 7}));
    let alike = json!({"id": 8, "author": other, "body": "<!-- fathom gate -->\nold"});
    let (posted, said, asked) = post(json!([alike]));
    assert!(posted, "{said}");
    assert_eq!(asked[0].0, "GET /user HTTP/1.1");
    assert_eq!(asked[1].0, format!("GET {notes}?per_page=100 HTTP/1.1"));
    assert_eq!(asked[2].0, format!("POST {notes} HTTP/1.1"));
    assert!(asked[2].1.contains("PRIVATE-TOKEN: secret"), "{asked:?}");
    assert!(asked[2].1.contains("body=%3C%21--"), "{asked:?}");
    let old = json!([
        alike,
        {"id": 1, "author": own, "body": "x"},
        {"id": 9, "author": own, "body": "<!-- fathom gate -->\nold"},
    ]);
    let (posted, said, asked) = post(old.clone());
    assert!(posted, "{said}");
    assert_eq!(asked[2].0, format!("PUT {notes}/9 HTTP/1.1"));
    // When there is nothing to say any more, the old comment goes.
    let mut record: Value = serde_json::from_str(&record).expect("it is JSON");
    record["verdict"] = "not worse".into();
    for list in ["benchmarks", "exact_changes", "settings_changed", "notes"] {
        record[list] = json!([]);
    }
    let file = forge.work().join("fathom-gate.json");
    forge.write(&file, &record.to_string());
    let (posted, said, asked) = post(old.clone());
    assert!(posted, "{said}");
    assert_eq!(asked[2].0, format!("DELETE {notes}/9 HTTP/1.1"));
    // What is no record is not posted.
    forge.write(&file, "{\"kind\": \"gate\", \"verdict\": \"worse\"}");
    let (posted, said, asked) = post(old);
    assert!(!posted && asked.is_empty(), "{asked:?}");
    assert!(said.contains("no record of `fathom gate --json`"), "{said}");
    // Nor is a file read that a link in the artifact points to.
    let elsewhere = forge.folder.path().join("elsewhere.json");
    std::fs::rename(&file, &elsewhere).expect("it is moved");
    std::os::unix::fs::symlink(&elsewhere, &file).expect("a link");
    let (posted, said, asked) = post(json!([]));
    assert!(!posted && asked.is_empty(), "{asked:?}");
    assert!(said.contains("not a regular file"), "{said}");
}

/// Stands for GitHub's command: keeps what it is asked, and answers with one open pull request, and with an old comment
/// if there is one.
const GH: &str = r#"#!/bin/sh
echo "$*" >>calls
case "$*" in
*pulls*) echo 7 ;;
*--paginate*) cat old 2>/dev/null || true ;;
*body=@*) for word; do case $word in body=@*) cp "${word#body=@}" body.md ;; esac; done ;;
esac
"#;

impl Forge {
    /// Runs the workflow that posts comments, with this as the artifact of the pull request's job.
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
                    // It leaves nothing in its folder that was there before.
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

    fn program(&self, path: &Path, text: &str) {
        self.write(path, text);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, executable).expect("a mode");
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

/// What a pull request may put in place of the record. None of it runs, and none is posted.
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
        ("no record", "no record of", |forge, artifact| {
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

/// By a name from a registry, somebody else's program would come.
#[test]
fn a_missing_program_is_built_from_sources_beside_the_step_or_at_a_commit() {
    let forge = Forge::new();
    std::fs::remove_file(forge.bin().join("fathom")).expect("it is removed");
    forge.program(
        &forge.bin().join("cargo"),
        "#!/bin/sh\necho \"$*\" >>calls\n",
    );
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let install = |script: &Path, variables: &[(&str, &str)]| {
        let _ = std::fs::remove_file(forge.work().join("calls"));
        let done = forge.run(&[script.to_str().expect("UTF-8")], variables);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.code(), forge.read("calls"), said)
    };
    let (code, calls, said) = install(&step("install.sh"), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(calls.starts_with("install --locked --path /"), "{calls}");
    assert!(calls.ends_with("/crates/fathom\n"), "{calls}");
    // A project that has only a copy of the steps.
    let copied = forge.folder.path().join("install.sh");
    std::fs::copy(step("install.sh"), &copied).expect("a copy");
    let git = ("FATHOM_GIT", "https://forge.example/fathom.git");
    let (code, calls, said) = install(&copied, &[git, ("FATHOM_REV", commit)]);
    assert_eq!(code, Some(0), "{said}");
    let from = format!("install --locked --git {} --rev {commit} fathom\n", git.1);
    assert_eq!(calls, from);
    let without: [&[(&str, &str)]; 3] = [&[], &[git], &[git, ("FATHOM_REV", "main")]];
    for variables in without {
        let (code, calls, said) = install(&copied, variables);
        assert_eq!((code, calls.as_str()), (Some(2), ""), "{said}");
        assert!(said.contains("FATHOM_REV"), "{said}");
    }
}
