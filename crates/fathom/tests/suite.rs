//! A project's suite: one name for a benchmark whoever measures it, a gate before there is a base, and
//! advice that works as it is printed.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A repository that becomes a project.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let world = World {
            folder: tempfile::tempdir().expect("a folder"),
        };
        std::fs::create_dir(world.root()).expect("a folder");
        world.write("work.sh", "exit 0\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.commit("first");
        world.write("work.sh", "exit 0 # again\n");
        world.commit("second");
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.root().join(name), text).expect("a file");
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .current_dir(self.root())
            .env("HOME", self.folder.path())
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .env_remove("FATHOM_STORE")
            .stdin(Stdio::null())
            .output()
            .expect("it runs")
    }

    fn git(&self, arguments: &[&str]) {
        let named = [&["-c", "user.name=a", "-c", "user.email=a@b"], arguments].concat();
        let done = self.run("git", &named);
        assert!(done.status.success(), "{}", said(&done));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn fathom(&self, arguments: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_fathom");
        self.run(program, arguments)
    }

    fn good(&self, arguments: &[&str]) -> String {
        let output = self.fathom(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        said(&output)
    }
}

/// Both streams.
fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

const SUITE: &str = r#"
schema_version = 1
title = "a suite"

[subjects.count]
command = "sh work.sh"

[[measure]]
id  = "time"
how = "bench"
rounds = 6

[gate]
margin = "90%"
"#;

#[test]
fn a_benchmark_has_one_name_and_one_clock_whoever_measures_it() {
    let world = World::new();
    world.good(&["init"]);
    world.write("fathom.toml", SUITE);
    world.commit("the suite");
    world.good(&["run"]);
    world.good(&["bench", "-r", "6", "sh work.sh"]);
    world.good(&["versions", "HEAD~2..HEAD", "-r", "6", "--", "sh", "work.sh"]);
    world.git(&["switch", "-q", "-c", "change"]);
    world.good(&["gate", "--time", "20s"]);
    let history = world.fathom(&["history", "--metric", "wall", "--json", "-"]);
    let history: Value = serde_json::from_slice(&history.stdout).expect("JSON");
    let series = history["series"].as_array().expect("a list");
    let of_wall: Vec<(&Value, usize)> = series
        .iter()
        .map(|one| {
            (
                &one["benchmark"],
                one["points"].as_array().map_or(0, Vec::len),
            )
        })
        .collect();
    // run, bench, three versions and a gate.
    assert_eq!(of_wall, [(&Value::from("count"), 6)], "{history}");
}

#[test]
fn a_run_says_what_it_took_and_a_gate_without_a_base_compares_with_it() {
    let world = World::new();
    world.good(&["init"]);
    world.write("fathom.toml", SUITE);
    let text = world.good(&["run"]);
    assert!(
        text.contains("Medians\n") && text.contains("  count  "),
        "{text}"
    );
    let text = world.good(&["run"]);
    assert!(text.contains("the change since the run of 20"), "{text}");
    let text = world.good(&["gate", "--margin", "90%"]);
    assert!(text.contains("working tree against the run of"), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("there is nothing to compare with until it is merged"),
        "{text}"
    );
    assert!(words.contains("So the suite was measured now"), "{text}");
    // Who names a base gets that base or none.
    let output = world.fathom(&["gate", "--base", "main"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn the_suite_over_past_commits_leaves_out_what_does_not_build() {
    let world = World::new();
    let tool = "cp work.sh \"$1/tool.sh\"\n";
    let mut ids = Vec::new();
    for (hour, build) in [tool, "echo a stone is in the way >&2; exit 1\n", tool]
        .iter()
        .enumerate()
    {
        world.write("build.sh", &format!("# {hour}\n{build}"));
        world.git(&["add", "-A"]);
        // Records stand in the order of these times, and not of the runs.
        let date = format!("GIT_COMMITTER_DATE=2026-01-01T0{hour}:00:00Z");
        let commit = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit"];
        let message = format!("build {hour}");
        let commit = [&[&*date][..], &commit, &["-q", "-m", &message]].concat();
        assert!(world.run("env", &commit).status.success());
        let id = world.run("git", &["rev-parse", "HEAD"]).stdout;
        ids.push(String::from_utf8(id).expect("text").trim().to_owned());
    }
    world.good(&["init"]);
    let suite = SUITE.replace("work.sh\"", "{work}/tool.sh\"\nneeds = [\"tool\"]");
    let build = "\n[builds.tool]\ncommand = \"sh build.sh {work}\"\n";
    world.write("fathom.toml", &format!("{suite}{build}"));
    // The newest is measured first.
    world.good(&["run", "--revisions", "HEAD..HEAD"]);
    let text = world.good(&["run", "--revisions", "HEAD~2..", "--every", "1"]);
    assert!(text.contains("2 of 3 revisions measured"), "{text}");
    let left_out = format!("{} is left out: ", &ids[1][..10]);
    let line = text.lines().find(|line| line.starts_with(&left_out));
    let line = line.unwrap_or_else(|| panic!("{left_out:?} is missing in {text}"));
    assert!(line.contains("a stone is in the way"), "{line}");
    // Each is compared with the one before.
    let change = format!("and the change since {}", "HEAD~2");
    assert!(text.contains(&change), "{text}");
    let history = world.fathom(&["history", "count", "--metric", "wall", "--json", "-"]);
    let history: Value = serde_json::from_slice(&history.stdout).expect("JSON");
    let points = history["series"][0]["points"].as_array().expect("a list");
    let revisions: Vec<&Value> = points.iter().map(|point| &point["revision"]).collect();
    assert_eq!(revisions, [&ids[0], &ids[2], &ids[2]], "{history}");
    assert_eq!(history["series"].as_array().map(Vec::len), Some(1));
    // Where none can be measured, that is an error; nothing was written into the repository.
    let output = world.fathom(&["run", "--revisions", "HEAD~1..HEAD~1"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let status = world.run("git", &["status", "--porcelain"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout), "?? fathom.toml\n");
    for (range, code) in [("HEAD..HEAD~2", 2), ("v7..HEAD", 2), ("HEAD", 2)] {
        let output = world.fathom(&["run", "--revisions", range]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    }
}

#[test]
fn every_command_that_is_advised_can_be_typed_as_it_is_printed() {
    let world = World::new();
    let mut printed = world.good(&["init"]);
    world.write("fathom.toml", SUITE);
    let mut say = |arguments: &[&str]| printed.push_str(&said(&world.fathom(arguments)));
    for arguments in [
        &["history"][..],
        &["gate", "--base", "main"],
        &["run"],
        &["run"],
        &["gate"],
        &["history"],
        &["history", "nothing"],
        &["compare", "@-2", "@-1"],
        &["store", "list"],
        &["bench", "-r", "2", "true", "sh work.sh"],
        &["versions", "HEAD~1..HEAD", "-r", "2", "--", "sh", "work.sh"],
        &[
            "bisect", "HEAD~1", "HEAD", "--time", "2s", "--", "sh", "work.sh",
        ],
        &["versions", "HEAD~1..HEAD"],
        &["bisect", "HEAD~1"],
        &["changes"],
    ] {
        say(arguments);
    }
    world.commit("the suite");
    world.git(&["switch", "-q", "-c", "change"]);
    world.write("work.sh", "exit 0 # third\n");
    world.commit("third");
    printed.push_str(&said(&world.fathom(&["run"])));
    printed.push_str(&said(&world.fathom(&["compare", "HEAD~1", "HEAD"])));
    let advised = advised(&printed);
    assert!(advised.len() >= 4, "{advised:?} of {printed}");
    for line in advised {
        let words = shell_words::split(&line).expect("words");
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let output = world.fathom(&words);
        assert_ne!(output.status.code(), Some(2), "{line}: {}", said(&output));
    }
}

/// The commands in a text, each once. A word in capitals stands for one of the reader's own: such a line is
/// a form, and so are the examples of what was mistyped.
fn advised(text: &str) -> Vec<String> {
    const VERBS: [&str; 9] = [
        "init", "run", "history", "gate", "compare", "versions", "bisect", "store", "changes",
    ];
    let mut all: Vec<String> = Vec::new();
    let joined = text.replace('\u{a0}', " ");
    for (at, _) in joined.match_indices("fathom ") {
        let rest = &joined[at..];
        let end = match joined[..at].ends_with('\'') {
            true => rest.find('\''),
            false => rest.find(['`', '\n', ';', ')']),
        };
        let end = end.unwrap_or(rest.len());
        let line = rest[..end].split("   ").next().unwrap_or_default();
        let line = line.split(": ").next().unwrap_or_default();
        let line = line.split(", ").next().unwrap_or_default();
        let line = line.trim_end_matches(['.', ':', ',']).trim();
        let mut words = line.split(' ').skip(1);
        let is_verb = words.next().is_some_and(|verb| VERBS.contains(&verb));
        let is_form = line.contains(['<', '['])
            || line.split([' ', '.', '/', '{']).any(|word| {
                word.len() > 1 && word != "HEAD" && word.chars().all(|c| c.is_ascii_uppercase())
            });
        if is_verb && !is_form && !all.contains(&line.to_owned()) {
            all.push(line.to_owned());
        }
    }
    all
}
