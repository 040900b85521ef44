//! A project's suite: every verb uses the same name for a benchmark, the gate works before a base exists, and
//! printed advice works as printed.
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

/// Returns both streams, each followed by an empty line.
fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned() + "\n";
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
    // Six measurements: `run`, `bench`, three versions and a gate.
    assert_eq!(of_wall, [(&Value::from("count"), 6)], "{history}");
}

#[test]
fn a_measure_names_the_metrics_that_are_judged() {
    let world = World::new();
    world.good(&["init"]);
    let metrics = "how = \"bench\"\nmetrics = [\"write_calls\", \"peak_memory=90%\"]";
    let claim = "\n[[claims]]\nid = \"c\"\ntext = \"It writes once\"\nlayer = \"mechanism\"\nholds = \"count == 1\"\n";
    world.write("work.sh", "echo done\n");
    let suite = SUITE.replace("how = \"bench\"", metrics) + claim;
    world.write("fathom.toml", &suite);
    world.commit("the suite");
    let text = world.good(&["run", "--json", "run.json"]);
    assert!(
        text.contains("write calls") || text.contains("write_calls"),
        "{text}"
    );
    let run = std::fs::read_to_string(world.root().join("run.json")).expect("a record");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(
        run["claims"][0]["judged"]["verdict"], "reproduced",
        "{run:#}"
    );
    world.git(&["switch", "-q", "-c", "change"]);
    world.write("work.sh", "echo done\necho again\n");
    let gate = world.fathom(&["gate", "--time", "20s", "--json", "-"]);
    let gate: Value = serde_json::from_slice(&gate.stdout).expect("JSON");
    let rows = gate["benchmarks"].as_array().expect("rows").iter();
    let rows: Vec<(&Value, &Value)> = rows.map(|row| (&row["metric"], &row["verdict"])).collect();
    let [worse, not_worse] = ["worse", "not worse"].map(Value::from);
    let [calls, memory] = ["write_calls", "peak_memory"].map(Value::from);
    let mut expected = [(&memory, &not_worse), (&calls, &worse)];
    if rows[0].0 == &calls {
        expected.reverse();
    }
    assert_eq!(rows, expected, "{gate:#}");
    let wrong = SUITE.replace(
        "how = \"bench\"",
        "how = \"startup\"\nmetrics = [\"speed\"]",
    );
    world.write("fathom.toml", &wrong);
    let text = said(&world.fathom(&["run"]));
    assert!(
        text.contains("no metric \"speed\"; the metrics are wall, "),
        "{text}"
    );
    assert!(
        text.contains("`metrics` does not apply to how = \"startup\""),
        "{text}"
    );
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
        words.contains("until it is merged, there is nothing to compare with"),
        "{text}"
    );
    assert!(words.contains("So the suite was measured now"), "{text}");
    // Only the named base is used.
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
        // Commit times are an hour apart, so their order is known.
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
    // The newest revision is measured first.
    world.good(&["run", "--revisions", "HEAD..HEAD"]);
    let text = world.good(&["run", "--revisions", "HEAD~2..", "--every", "1"]);
    assert!(text.contains("2 of 3 revisions measured"), "{text}");
    let left_out = format!("{} is omitted: ", &ids[1][..10]);
    let line = text.lines().find(|line| line.starts_with(&left_out));
    let line = line.unwrap_or_else(|| panic!("{left_out:?} is missing in {text}"));
    assert!(line.contains("a stone is in the way"), "{line}");
    // Each revision is compared with the previous one.
    let change = format!("and the change since {}", "HEAD~2");
    assert!(text.contains(&change), "{text}");
    let history = world.fathom(&["history", "count", "--metric", "wall", "--json", "-"]);
    let history: Value = serde_json::from_slice(&history.stdout).expect("JSON");
    let points = history["series"][0]["points"].as_array().expect("a list");
    let revisions: Vec<&Value> = points.iter().map(|point| &point["revision"]).collect();
    assert_eq!(revisions, [&ids[0], &ids[2], &ids[2]], "{history}");
    assert_eq!(history["series"].as_array().map(Vec::len), Some(1));
    // If no revision can be measured, that is an error; nothing was written to the repository.
    let output = world.fathom(&["run", "--revisions", "HEAD~1..HEAD~1"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let status = world.run("git", &["status", "--porcelain"]);
    assert_eq!(String::from_utf8_lossy(&status.stdout), "?? fathom.toml\n");
    for (range, code) in [("HEAD..HEAD~2", 2), ("v7..HEAD", 2), ("HEAD", 2)] {
        let output = world.fathom(&["run", "--revisions", range]);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    }
}

/// A command whose duration alternates from run to run. If two such commands run in random order, neither is
/// slower.
const UNSTEADY: &str =
    "n=$(cat n 2>&- || echo 0); echo $((n + 1)) >n; [ $((n % 2)) = 0 ] || sleep 0.01\n";

#[test]
fn every_command_that_is_advised_can_be_typed_as_it_is_printed() {
    let world = World::new();
    let mut printed = world.good(&["init"]);
    world.write("fathom.toml", SUITE);
    world.write("unsteady.sh", UNSTEADY);
    let long = "sh unsteady.sh with words of its own, so that the command is wrapped";
    let work = ["--", "sh", "work.sh"];
    let mut say = |arguments: &[&str]| printed.push_str(&said(&world.fathom(arguments)));
    for arguments in [
        &["history"][..],
        &["gate", "--base", "main"],
        &["run"],
        &["gate"],
        &["history"],
        &["history", "nothing"],
        &["compare", "@-2", "@-1"],
        &["store", "list"],
        &["bench", "-r", "2", "true", "sh work.sh"],
        &["bench", "-r", "20", "sh unsteady.sh", long],
        &["versions", "HEAD~1..HEAD", "-r", "2", "--", "sh", "work.sh"],
        &["compare", "-v", "HEAD~1", "HEAD"],
        &["versions", "HEAD~1..HEAD"],
        &[
            &["versions", "HEAD..HEAD~1", "--build", "exit 0"],
            &work[..],
        ]
        .concat(),
        &["bisect", "HEAD~1"],
        &[
            &["bisect", "HEAD", "HEAD~1", "--build", "exit 0"],
            &work[..],
        ]
        .concat(),
        &["run", "--revisions", "HEAD..HEAD~1"],
        &["run", "--revisions", "HEAD.."],
        &["changes"],
    ] {
        say(arguments);
    }
    world.commit("the suite");
    world.git(&["switch", "-q", "-c", "change"]);
    for change in ["third", "fourth"] {
        world.write("work.sh", &format!("exit 0 # {change}\n"));
        world.commit(change);
        printed.push_str(&said(&world.fathom(&["run"])));
        printed.push_str(&said(&world.fathom(&["compare", "-v", "HEAD~1", "HEAD"])));
    }
    let advised = advised(&printed);
    let mut verbs: Vec<(&str, usize)> = Vec::new();
    for line in &advised {
        let verb = line.split(' ').nth(1).unwrap_or_default();
        match verbs.iter_mut().find(|(known, _)| *known == verb) {
            Some((_, count)) => *count += 1,
            None => verbs.push((verb, 1)),
        }
    }
    verbs.sort_unstable();
    // Whether `bench` gives advice depends on its runs; `the_command_that_would_decide_runs_as_it_is_printed`
    // makes sure that its advice is printed and run.
    verbs.retain(|(verb, _)| *verb != "bench");
    let expected = [
        ("bisect", 2),
        ("gate", 1),
        ("history", 2),
        ("init", 1),
        ("run", 2),
        ("versions", 3),
        ("why", 2),
    ];
    assert_eq!(verbs, expected, "{advised:#?} of {printed}");
    // The examples assume a project that has these tags.
    world.git(&["tag", "v1.0", "HEAD~2"]);
    world.git(&["tag", "v2.0", "HEAD~1"]);
    for line in advised {
        let words = shell_words::split(&line).expect("words");
        let mut words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        // Run the command as printed, except for the duration.
        if let Some(place) = words.iter().position(|word| *word == "--time") {
            words[place + 1] = "1s";
        }
        let output = world.fathom(&words);
        assert_ne!(output.status.code(), Some(2), "{line}: {}", said(&output));
    }
}

/// Returns each command in a text once, with placeholders in capitals replaced by real words.
fn advised(text: &str) -> Vec<String> {
    const VERBS: [&str; 11] = [
        "bench", "bisect", "changes", "compare", "gate", "history", "init", "run", "store",
        "versions", "why",
    ];
    const OWN: [(&str, &str); 4] = [
        ("'A'", "true"),
        ("'B'", "'sh work.sh'"),
        ("FILE", "work.sh"),
        ("NAME", "count"),
    ];
    let mut all: Vec<String> = Vec::new();
    let joined = unwrapped(text);
    for (at, _) in joined.match_indices("fathom ") {
        let rest = &joined[at..];
        let end = match joined[..at].chars().next_back() {
            Some(quote @ ('\'' | '`')) => rest.find(quote),
            _ => rest.find(['\n', ';']),
        };
        let line = &rest[..end.unwrap_or(rest.len())];
        // Cut off the rest of the sentence.
        let line = line.split("   ").next().unwrap_or_default();
        let line = line.split(", with ").next().unwrap_or_default();
        let line = line.trim_end_matches(['.', ',']).trim();
        let mut words = line.split(' ').map(str::to_owned);
        let is_verb = words.nth(1).is_some_and(|verb| VERBS.contains(&&*verb));
        if !is_verb {
            continue;
        }
        let words: Vec<String> = line
            .split(' ')
            .map(
                |word| match OWN.iter().find(|(capitals, _)| *capitals == word) {
                    Some((_, own)) => (*own).to_owned(),
                    None => word.to_owned(),
                },
            )
            .collect();
        let is_form = |word: &String| {
            let letters = word.chars().all(|c| c.is_ascii_uppercase());
            word != "HEAD" && word.len() > 1 && letters
        };
        assert!(!words.iter().any(is_form), "what stands for {line:?}?");
        let line = words.join(" ");
        if !all.contains(&line) {
            all.push(line);
        }
    }
    all
}

/// Joins the lines of each paragraph and each command: paragraphs are wrapped at 80 columns, commands with a
/// backslash.
fn unwrapped(text: &str) -> String {
    let mut all = String::new();
    let mut before = "";
    for line in text.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_full = before.chars().count() + 1 + first.chars().count() > 80;
        if let Some(start) = all.strip_suffix(" \\") {
            all.truncate(start.len() + 1);
        } else if is_full && !first.is_empty() && before.chars().count() <= 80 {
            all.push(' ');
        } else if !all.is_empty() {
            all.push('\n');
            all.push_str(&line[..line.len() - line.trim_start().len()]);
        }
        all.push_str(line.trim());
        before = line;
    }
    all.replace('\u{a0}', " ")
}
