//! GitLab's template, with a replacement for its API.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::world::{Forge, integrations};

/// Returns the jobs of GitLab's template; `None` if no YAML parser is available.
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

/// Returns the lines that GitLab runs for a job, as one script that stops at the first failure.
fn script(job: &str) -> String {
    let Some(jobs) = jobs() else {
        // Relies on the file's layout: items indented by four columns below `script:`.
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

/// A stand-in for GitLab that records requests. Its API user has the id 42, and it holds these notes.
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

    /// Returns the requests since the last call: the first line and the whole text of each.
    fn asked(&self) -> Vec<(String, String)> {
        let asked = std::mem::take(&mut *self.asked.lock().expect("a lock"));
        let first = |text: &String| text.lines().next().unwrap_or_default().to_owned();
        asked.into_iter().map(|text| (first(&text), text)).collect()
    }
}

#[test]
fn the_template_of_gitlab_measures_and_then_posts_without_the_code_of_the_merge_request() {
    let forge = Forge::new();
    let url = forge.upstream();
    forge.shallow_clone(&url);
    // The steps don't see the token, no matter what the merge request contains in their place.
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
    // The second job: a folder that contains only the record.
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
    // A note by another user is never edited, whatever it looks like.
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
    // When there is nothing left to report, the old comment is removed.
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
    // A file that is not a record is not posted.
    forge.write(&file, "{\"kind\": \"gate\", \"verdict\": \"worse\"}");
    let (posted, said, asked) = post(old);
    assert!(!posted && asked.is_empty(), "{asked:?}");
    assert!(
        said.contains("not a record written by `fathom gate --json`"),
        "{said}"
    );
    // A file that a link in the artifact points to isn't read either.
    let elsewhere = forge.folder.path().join("elsewhere.json");
    std::fs::rename(&file, &elsewhere).expect("it is moved");
    std::os::unix::fs::symlink(&elsewhere, &file).expect("a link");
    let (posted, said, asked) = post(json!([]));
    assert!(!posted && asked.is_empty(), "{asked:?}");
    assert!(said.contains("not a regular file"), "{said}");
}
