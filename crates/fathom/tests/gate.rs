//! `fathom gate` with real processes and a real repository. The compared programs differ by far more than any
//! machine's noise, or not at all.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A repository with a suite of two benchmarks.
struct World {
    folder: tempfile::TempDir,
}

const SUITE: &str = r#"
schema_version = 1
title = "a suite"

[subjects.count]
command = "sh work.sh"

[subjects.other]
command = "true"

[[measure]]
id  = "time"
how = "bench"
rounds = 3

[[claims]]
id = "it is there"
text = "It takes no time of its own"
layer = "size"
holds = "wall.other < 1000s"
"#;

impl World {
    fn new() -> World {
        let world = World {
            folder: tempfile::tempdir().expect("a folder"),
        };
        world.write(
            "fathom.toml",
            &format!("{SUITE}\n[gate]\nmargin = \"10%\"\n"),
        );
        world.write("work.sh", "exit 0\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.commit();
        world.git(&["switch", "-q", "-c", "change"]);
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.root()).expect("a folder");
        std::fs::write(self.root().join(name), text).expect("a file");
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(self.root())
            .output()
            .expect("git runs");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a change"]);
    }

    fn fathom(&self, arguments: &[&str]) -> Output {
        fathom(&self.root(), self.folder.path(), arguments)
    }

    fn gate(&self, more: &[&str]) -> (i32, Value) {
        let mut arguments = vec!["gate", "--time", "40s", "--json", "-"];
        arguments.extend(more);
        let output = self.fathom(&arguments);
        let code = output.status.code().expect("an exit code");
        let record = serde_json::from_slice(&output.stdout);
        (
            code,
            record.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))),
        )
    }
}

fn fathom(here: &Path, home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(arguments)
        .current_dir(here)
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_DATA_HOME", home.join("data"))
        .env_remove("FATHOM_STORE")
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

fn row<'r>(record: &'r Value, name: &str, metric: &str) -> &'r Value {
    let rows = record["benchmarks"].as_array().expect("rows");
    let time = |row: &Value| {
        ["wall", "cpu_wait_free"].contains(&row["metric"].as_str().unwrap_or_default())
    };
    rows.iter()
        .find(|row| {
            row["name"] == name && (row["metric"] == metric || metric == "wall" && time(row))
        })
        .unwrap_or_else(|| panic!("no row {name} {metric} in {record}"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_command_that_waits_is_worse_and_confirmed() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["gate.json", "comment.md", "junit.xml"].map(|name| folder.path().join(name));
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let output = fathom(
        folder.path(),
        folder.path(),
        &[
            "gate",
            "--base-cmd",
            "true",
            "--head-cmd",
            "sleep 0.1",
            "--time",
            "60s",
            "--json",
            &text(&files[0]),
            "--markdown",
            &text(&files[1]),
            "--junit",
            &text(&files[2]),
        ],
    );
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.starts_with("Worse: 1 of 1."), "{shown}");
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("it was written");
    let record: Value = serde_json::from_str(&read(&files[0])).expect("it is JSON");
    assert_eq!(record["verdict"], "worse");
    let row = &record["benchmarks"][0];
    assert!(row["confirmation_rounds"].as_u64() >= Some(10), "{row}");
    assert!(row["ratio"]["low"].as_f64() > Some(1.0), "{row}");
    // Every tier that is allowed here names the sleep.
    let difference = row["difference"].as_array().expect("a list");
    assert!((2..=5).contains(&difference.len()), "{row}");
    let line = |at: usize| difference[at].as_str().expect("a line");
    assert!(line(0).starts_with("wall time +"), "{row}");
    assert!(line(1).contains("sleeping"), "{row}");
    assert!(shown.contains(line(1)), "{shown}");
    assert!(
        read(&files[1]).contains("| `sleep 0.1` | worse |"),
        "{}",
        read(&files[1])
    );
    assert!(
        read(&files[2]).contains("failures=\"1\""),
        "{}",
        read(&files[2])
    );
    // As in a second CI job, the reports are produced from the record alone.
    let again = folder.path().join("again.md");
    let output = fathom(
        folder.path(),
        folder.path(),
        &[
            "gate",
            "render",
            &text(&files[0]),
            "--markdown",
            &text(&again),
        ],
    );
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(read(&again), read(&files[1]));
    let output = fathom(
        folder.path(),
        folder.path(),
        &["gate", "render", &text(&files[1])],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("not a record written by `fathom gate --json`"),
        "{}",
        said(&output)
    );
    // The gate neither blocks on a FIFO nor reads it without end.
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    for (path, why) in [
        (fifo.as_path(), "a FIFO"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        let output = fathom(
            folder.path(),
            folder.path(),
            &["gate", "render", &text(path)],
        );
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(why), "{}", said(&output));
    }
}

#[test]
fn more_reads_are_named_as_the_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("data"), vec![b'x'; 60_000]).expect("a file");
    let dd = |block: &str| format!("dd if=data of=copy status=none bs={block}");
    let (base, head) = (dd("60000"), dd("1"));
    let arguments = ["gate", "--base-cmd", &base, "--head-cmd", &head];
    let output = fathom(
        folder.path(),
        folder.path(),
        &[&arguments[..], &["--time", "60s", "--json", "-"]].concat(),
    );
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let record: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    // On a busy machine, the time that the longer run waited for a CPU is listed first.
    let lines = record["benchmarks"][0]["difference"].as_array();
    let mut lines = lines.expect("a difference").iter();
    let reads = lines.find(|line| {
        line.as_str()
            .is_some_and(|line| line.contains("reading and writing"))
    });
    let reads = reads.and_then(Value::as_str).unwrap_or_default();
    assert!(reads.contains("calls more"), "{record}");
}

#[test]
fn gates_are_saved_and_enough_of_them_are_the_noise_floor() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join(".fathom")).expect("a project");
    let gate = |more: &[&str]| {
        let command = ["gate", "--base-cmd", "true", "--head-cmd", "true"];
        let all = [&command[..], &["--margin", "90%"], more].concat();
        let output = fathom(folder.path(), folder.path(), &all);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        output
    };
    let first = gate(&["--json", "-"]);
    assert!(said(&first).contains("saved as"), "{}", said(&first));
    let text = String::from_utf8(first.stdout).expect("UTF-8");
    let mut record: Value = serde_json::from_str(&text).expect("it is JSON");
    let source = &record["benchmarks"][0]["floor_source"];
    assert_eq!(source["name"], "null_arm");
    let place = fathom_store::Location::File(folder.path().join(".fathom/store.sqlite"));
    let mut store = fathom_store::Store::open(&place).expect("it was made");
    for minute in 0..18 {
        record["started_at"] = format!("2026-01-01T00:{minute:02}:00Z").into();
        record["null_arm"]["benchmarks"][0]["ratio"]["value"] = 1.02.into();
        let draft = fathom_store::Draft::of(record.to_string()).expect("a record");
        store.save(&draft).expect("it is saved");
    }
    let again = gate(&["--no-save", "--json", "-"]);
    assert!(!said(&again).contains("saved"), "{}", said(&again));
    let record: Value = serde_json::from_slice(&again.stdout).expect("it is JSON");
    let row = &record["benchmarks"][0];
    assert_eq!(row["floor_source"]["gates"], 19, "{row}");
    // The floor is the largest one seen, so it is at least that of the 18 saved gates.
    assert!(row["floor"].as_f64() >= Some(0.0199), "{row}");
    let shown = String::from_utf8(gate(&["--no-save"]).stdout).expect("UTF-8");
    assert!(shown.contains("noise floor: 19 earlier gates"), "{shown}");
}

#[test]
fn the_other_rule_says_how_often_it_fails_identical_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = fathom(
        folder.path(),
        folder.path(),
        &[
            "gate",
            "--base-cmd",
            "true",
            "--head-cmd",
            "sleep 0.1",
            "--max-regression",
            "8%",
            "--time",
            "30s",
        ],
    );
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown
            .replace('\n', " ")
            .contains("identical code on this machine"),
        "{shown}"
    );
}

#[test]
fn edits_of_the_working_tree_are_judged_against_main() {
    let world = World::new();
    world.write("work.sh", "sleep 0.1\n");
    // If head widens its own margin, this is reported but has no effect.
    world.write(
        "fathom.toml",
        &format!("{SUITE}\n[gate]\nmargin = \"99%\"\n"),
    );
    let (code, record) = world.gate(&["--only", "count"]);
    assert_eq!(code, 1, "{record}");
    assert_eq!(record["head"]["name"], "working tree");
    let row = row(&record, "count", "wall");
    assert_eq!(row["verdict"], "worse");
    assert_eq!(row["margin"], 0.1);
    assert_eq!(
        record["settings_changed"][0],
        "margin: 10% at base, 99% at head"
    );
    // The user's files are unchanged, and nothing was committed.
    let status = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(world.root())
        .output();
    let status = String::from_utf8_lossy(&status.expect("git runs").stdout).into_owned();
    assert_eq!(status, " M fathom.toml\n M work.sh\n");
}

#[test]
fn a_waiver_lets_pass_and_ends() {
    let world = World::new();
    let accept = |until: &str| {
        world.fathom(&[
            "gate",
            "accept",
            "count",
            "--until",
            until,
            "--reason",
            "a \"known\" cost",
        ])
    };
    assert!(said(&accept("2001-01-01")).contains("has passed"));
    for none in ["soon", "2999-02-30"] {
        assert!(said(&accept(none)).contains("is not a date"), "{none}");
    }
    let output = accept("2999-12-30");
    assert!(output.status.success(), "{}", said(&output));
    // Accepting it again replaces the entry.
    let output = accept("2999-12-31");
    assert!(output.status.success(), "{}", said(&output));
    let text = std::fs::read_to_string(world.root().join("fathom.toml")).expect("text");
    assert_eq!(text.matches("[[gate.waivers]]").count(), 1, "{text}");
    world.git(&["switch", "-q", "main"]);
    world.commit();
    world.git(&["switch", "-q", "-C", "change"]);
    world.write("work.sh", "sleep 0.1\n");
    let (code, record) = world.gate(&["--only", "count"]);
    assert_eq!(code, 0, "{record}");
    let waived = row(&record, "count", "wall");
    assert_eq!(
        (&waived["verdict"], &waived["waived"]["reason"]),
        (&"worse".into(), &"a \"known\" cost".into())
    );
    let text = std::fs::read_to_string(world.root().join("fathom.toml")).expect("text");
    world.write("work.sh", "exit 0\n");
    world.git(&["switch", "-q", "main"]);
    world.write("fathom.toml", &text.replace("2999-12-31", "2001-12-31"));
    world.commit();
    world.git(&["switch", "-q", "-C", "change"]);
    world.write("work.sh", "sleep 0.1\n");
    let (code, record) = world.gate(&["--only", "count"]);
    assert_eq!(code, 1, "{record}");
    let note = record["notes"][0].as_str().unwrap_or_default();
    assert!(
        note.contains("expired on 2001-12-31") && note.contains("fails again"),
        "{note}"
    );
}

#[test]
fn a_change_above_the_ceiling_of_a_waiver_fails() {
    let world = World::new();
    let accept = |ceiling: &str| {
        let accept = ["gate", "accept", "count", "--until", "2999-12-31"];
        let all = [&accept[..], &["--reason", "known", "--at-most", ceiling]].concat();
        world.fathom(&all)
    };
    assert!(said(&accept("much")).contains("15%"));
    let output = accept("15%");
    assert!(output.status.success(), "{}", said(&output));
    world.git(&["switch", "-q", "main"]);
    world.commit();
    world.git(&["switch", "-q", "-C", "change"]);
    world.write("work.sh", "sleep 0.1\n");
    let (code, record) = world.gate(&["--only", "count"]);
    assert_eq!(code, 1, "{record}");
    let row = row(&record, "count", "wall");
    assert_eq!(row["waived"], Value::Null);
    let why = row["why"].to_string();
    assert!(why.contains("more than the 15 %"), "{why}");
}

#[test]
fn exact_metrics_are_compared_by_the_number() {
    let world = World::new();
    world.write(
        "fathom.toml",
        &format!("{SUITE}\n[gate]\nmargin = \"50%\"\n[gate.budgets]\ncount.read_calls = \"<= base\"\nother.read_calls = \"<= 1_000\"\n"),
    );
    world.git(&["switch", "-q", "main"]);
    world.commit();
    world.git(&["switch", "-q", "-C", "change"]);
    world.write(
        "work.sh",
        "read -r line < work.sh\nread -r line < work.sh\nexit 0\n",
    );
    let (code, record) = world.gate(&[]);
    assert_eq!(code, 1, "{record}");
    assert_eq!(row(&record, "count", "read_calls")["verdict"], "worse");
    assert_eq!(row(&record, "other", "read_calls")["verdict"], "not worse");
}

#[test]
fn the_metrics_of_the_settings_are_judged_instead_of_time() {
    let world = World::new();
    world.write(
        "fathom.toml",
        &format!(
            "{SUITE}\n[gate]\nmargin = \"50%\"\nmetrics = [\"peak_memory\", \"write_calls\"]\n"
        ),
    );
    world.git(&["switch", "-q", "main"]);
    world.commit();
    world.git(&["switch", "-q", "-C", "change"]);
    world.write(
        "work.sh",
        "echo done\nexec python3 -S -c 'x = bytearray(64 << 20)'\n",
    );
    let (code, record) = world.gate(&[]);
    assert_eq!(code, 1, "{record}");
    let memory = row(&record, "count", "peak_memory");
    assert_eq!(
        (&memory["verdict"], &memory["unit"]),
        (&"worse".into(), &"bytes".into())
    );
    assert_eq!(memory["margin"], 0.5);
    assert!(
        memory["confirmation_rounds"].as_u64() >= Some(10),
        "{memory}"
    );
    assert_eq!(row(&record, "other", "peak_memory")["verdict"], "not worse");
    assert_eq!(row(&record, "count", "write_calls")["verdict"], "worse");
    assert_eq!(row(&record, "other", "write_calls")["verdict"], "not worse");
    assert_eq!(
        record["benchmarks"].as_array().expect("rows").len(),
        4,
        "{record}"
    );
}

#[test]
fn what_cant_be_judged_is_answered_with_what_to_do() {
    let world = World::new();
    let refused = |arguments: &[&str], code: i32| {
        let output = world.fathom(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            said(&output)
        );
        said(&output)
    };
    let text = refused(&["gate", "--base", "trunk"], 2);
    assert!(text.contains("git fetch origin trunk"), "{text}");
    let text = refused(&["gate", "--only", "cuont"], 2);
    assert!(text.contains("did you mean count?"), "{text}");
    let text = refused(&["gate", "--head", "HEAD"], 2);
    assert!(text.contains("nothing to judge"), "{text}");
    let text = refused(&["gate", "--head-cmd", "true"], 2);
    assert!(text.contains("--base-cmd"), "{text}");
    world.write("work.sh", "exit 3\n");
    let text = refused(&["gate", "--only", "count"], 3);
    assert!(text.contains("count at head"), "{text}");
    world.write(
        "fathom.toml",
        &format!("{SUITE}\n[gate]\nmargin = \"wide\"\n"),
    );
    let text = refused(&["gate"], 2);
    assert!(text.contains("is not a margin"), "{text}");
}

#[test]
fn a_shallow_clone_gets_the_fetch_that_helps() {
    let world = World::new();
    world.write("work.sh", "exit 0 # head\n");
    world.commit();
    let clone = world.folder.path().join("clone");
    let url = format!("file://{}", world.root().display());
    let cloned = Command::new("git")
        .args(["clone", "-q", "--depth", "1", "-b", "change", &url])
        .arg(&clone)
        .output();
    assert!(cloned.expect("git runs").status.success());
    let output = fathom(&clone, world.folder.path(), &["gate"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("git fetch --unshallow origin main"),
        "{}",
        said(&output)
    );
}

#[test]
fn an_interrupted_gate_says_what_it_knew() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "echo x >> runs\nif [ -f pid ] && [ $(wc -l < runs) -ge 40 ]; then kill -INT $(cat pid); fi\n";
    std::fs::write(folder.path().join("work.sh"), script).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args([
            "gate",
            "--base-cmd",
            "sh work.sh",
            "--head-cmd",
            "sh ./work.sh",
            "--margin",
            "0.01%",
        ])
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::fs::write(folder.path().join("pid"), child.id().to_string()).expect("a file");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("(measuring ended early)"), "{shown}");
}
