//! Jobs that are processes on this machine.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{SUITE, World};

fn keys(record: &Value) -> Vec<String> {
    let mut keys: Vec<_> = record.as_object().unwrap().keys().cloned().collect();
    keys.retain(|key| key != "jobs");
    keys
}

#[test]
fn a_job_gives_the_record_that_is_made_here() {
    let world = World::of_hosts();
    let bench = ["bench", "-r", "5", "-n", "nothing", "true", "--json"];
    world.printed(&[&bench[..], &["here.json", "--no-save"]].concat());
    let shown = world.printed(&[&bench[..], &["there.json", "--on", "hosts"]].concat());
    assert!(shown.contains("nothing"), "{shown}");
    let (here, there) = (world.json("here.json"), world.json("there.json"));
    assert_eq!(keys(&here), keys(&there));
    assert_eq!(here.get("jobs"), None);
    assert_eq!(there["runs"].as_array().unwrap().len(), 5);
    let jobs = &there["jobs"];
    let id = jobs[0]["id"].as_str().unwrap();
    assert!(!id.is_empty());
    assert_eq!(
        *jobs,
        json!([{"id": id, "node": "localhost", "state": "completed", "attempts": 1}])
    );
    assert_eq!(
        there,
        world.record(1),
        "what is written is the job's journal"
    );
    assert_eq!(world.saved("nothing"), 1);
}

#[test]
fn a_detached_job_is_collected_once() {
    let world = World::of_hosts();
    let output = world.fathom(&[
        "bench", "-r", "3", "-n", "nothing", "true", "--on", "hosts", "--detach",
    ]);
    let said = String::from_utf8(output.stderr).unwrap();
    let id = said.trim_start_matches("handed over to hosts as ");
    let id = id.split(';').next().unwrap();
    // The command's processes hold the lock until they end.
    let waits = Command::new("flock")
        .arg(world.spool().join(format!("{id}.alive")))
        .arg("true")
        .status();
    assert!(waits.unwrap().success());
    let listed = world.printed(&["jobs", "--json", "jobs.json"]);
    let jobs = world.json("jobs.json");
    let job = &jobs["jobs"][0];
    assert_eq!(job["id"], id);
    assert_eq!(job["state"], "ended");
    assert_eq!(job["exit"], 0);
    assert_eq!(job["command"][0], "bench");
    assert!(
        listed.starts_with(&format!("hosts {id}  ended, node localhost  fathom bench ")),
        "{listed}"
    );
    assert_eq!(world.saved("nothing"), 1);
    assert_eq!(world.printed(&["jobs"]), "");
    assert_eq!(world.saved("nothing"), 1);
    let collected = world.group().join("collected");
    let old = Command::new("touch")
        .args(["-d", "40 days ago"])
        .arg(collected)
        .status();
    assert!(old.unwrap().success());
    assert_eq!(world.printed(&["jobs"]), "");
    assert!(
        std::fs::read_dir(world.project().join(".fathom/jobs"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn a_plan_hands_nothing_over() {
    let world = World::of_hosts();
    let plan = world.printed(&["bench", "true", "--on", "hosts", "--plan"]);
    assert!(plan.contains("hosts.sh submit "), "{plan}");
    assert!(plan.contains("#!/bin/sh\nexec "), "{plan}");
    assert!(!world.spool().exists());
    let secret = [
        "bench",
        "true",
        "--on",
        "hosts",
        "--plan",
        "--env",
        "API_TOKEN=hunter2",
    ];
    let plan = world.printed(&secret);
    assert!(
        plan.contains("API_TOKEN=") && !plan.contains("hunter2"),
        "{plan}"
    );
    assert!(!world.project().join(".fathom/jobs").exists());
}

/// A script that counts its runs and ends its own job once, in the middle of a run.
const ENDS_ITS_JOB: &str = r#"
echo run >> runs
[ "$(wc -l < runs)" = 12 ] || exit 0
kill -s KILL -- -"$(cat "$FATHOM_HOSTS_SPOOL"/*.group)"
"#;

#[test]
fn a_job_that_was_killed_goes_on_where_it_was() {
    let world = World::of_hosts();
    world.twenty_runs(ENDS_ITS_JOB, "hosts");
    let (first, second) = (world.record(1), world.json("record.json"));
    assert_eq!(first["complete"], false);
    let before = first["runs"].as_array().unwrap();
    let runs = second["runs"].as_array().unwrap();
    assert!(!before.is_empty());
    assert_eq!(runs.len(), 20);
    assert_eq!(
        runs[..before.len()],
        before[..],
        "no finished run is lost or made again"
    );
    let places = runs.iter().map(|run| run["position"].as_u64().unwrap());
    assert!(places.eq(0..20));
    assert_eq!(second["jobs"][0]["attempts"], 2);
    assert_eq!(second["complete"], true);
    assert_eq!(second["started_at"], first["started_at"]);
    let starts = runs.iter().map(|run| run["started_ns"].as_u64().unwrap());
    assert!(starts.is_sorted(), "the session goes on");
    assert_eq!(world.saved("work"), 1);
}

#[test]
fn a_job_begins_anew_if_its_program_has_changed() {
    let world = World::of_hosts();
    // Sets the file's time to an hour from now, as if the file had been written later.
    let changes = "touch -d '1 hour' work.sh\n";
    world.twenty_runs(
        &ENDS_ITS_JOB.replace("kill", &format!("{changes}kill")),
        "hosts",
    );
    let (first, second) = (world.record(1), world.json("record.json"));
    assert!(!first["runs"].as_array().unwrap().is_empty());
    assert_eq!(second["runs"].as_array().unwrap().len(), 20);
    assert_ne!(second["runs"][0], first["runs"][0]);
}

#[test]
fn gates_and_versions_go_on_too() {
    let world = World::of_hosts();
    // A gate makes 20 runs in a batch, and evaluates them for the first time after 40.
    let gate = [
        "gate",
        "--base-cmd",
        "sh work.sh 30",
        "--head-cmd",
        "sh work.sh 30",
        "--margin",
        "90%",
    ];
    world.write("work.sh", &ENDS_ITS_JOB.replace("= 12", "-eq ${1-12}"));
    let versions = ["versions", "--of", "12,012", "-r", "12", "-w", "0"];
    for (verb, command, journal) in [
        (&gate[..], &[][..], "gate.jsonl"),
        (
            &versions[..],
            &["--", "sh", "work.sh", "{version}"],
            "bench.json",
        ),
    ] {
        world.write("runs", "");
        let on = ["--on", "hosts", "--no-save", "--json", "record.json"];
        let output = world.fathom(&[verb, &on[..], command].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        let record = world.json("record.json");
        assert_eq!(record["kind"], verb[0], "{said}");
        assert_eq!(record["jobs"][0]["attempts"], 2, "{said}");
        let of = |attempt: u32| {
            let path = world.group().join(format!("0/attempt-{attempt}/{journal}"));
            std::fs::read_to_string(path).unwrap()
        };
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (first, second) = (lines(&of(1)), lines(&of(2)));
        match verb[0] {
            "gate" => {
                assert!(first.len() > 1, "{said}");
                assert!(second[..first.len()] == first[..], "{said}");
            }
            _ => {
                let runs = |text: &str| {
                    let record: Value = serde_json::from_str(text).unwrap();
                    record["runs"].as_array().unwrap().clone()
                };
                let (first, second) = (runs(&of(1)), runs(&of(2)));
                let whole = first.len() - first.len() % 2;
                assert!(whole > 0, "{said}");
                assert_eq!(second[..whole], first[..whole]);
            }
        }
        std::fs::remove_dir_all(world.group()).unwrap();
    }
}

#[test]
fn a_store_that_is_away_is_asked_again() {
    let world = World::of_hosts();
    // A file exists in place of the store's folder.
    world.write("away", "");
    let store = ["--store", "away/store.sqlite"];
    let bench = ["bench", "-r", "3", "-n", "nothing", "true", "--on", "hosts"];
    let mut command = world.command(&[&bench[..], &store].concat());
    let mut follows = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(follows.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(said.any(|line| line.starts_with("the store is not responding; trying again: ")));
    std::fs::remove_file(world.project().join("away")).unwrap();
    std::fs::create_dir(world.project().join("away")).unwrap();
    assert!(said.any(|line| line == "1 record saved in away/store.sqlite"));
    assert!(follows.wait().unwrap().success());
    let listed = world.printed(&[&["store", "list"][..], &store].concat());
    assert_eq!(listed.matches("nothing").count(), 1, "{listed}");
}

#[test]
fn each_kind_of_machine_and_each_experiment_has_a_job() {
    let world = World::of_hosts();
    world.write("other.toml", &SUITE.replace("jobs", "others"));
    world.printed(&[
        "run",
        "fathom.toml",
        "other.toml",
        "--on",
        "hosts",
        "--constraint",
        "near",
        "--constraint",
        "far",
        "--json",
        "all.json",
    ]);
    let all = world.json("all.json");
    let of = |record: &Value| {
        let jobs = &record["jobs"][0];
        format!(
            "{} on {}",
            record["title"].as_str().unwrap(),
            jobs["node"].as_str().unwrap()
        )
    };
    let all: Vec<_> = all.as_array().unwrap().iter().map(of).collect();
    assert_eq!(
        all,
        [
            "jobs on localhost",
            "others on localhost",
            "jobs on other",
            "others on other"
        ]
    );
}

/// Creates a project with a suite in a repository.
fn with_suite(suite: &str) -> World {
    let world = World::of_hosts();
    world.write(
        "fathom.toml",
        &world.read("fathom.toml").replace("[[measure]]", suite),
    );
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "fathom.toml"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "-m",
            "a suite",
        ],
    ] {
        let git = Command::new("git")
            .args(words)
            .current_dir(world.project())
            .status();
        assert!(git.unwrap().success());
    }
    world
}

#[test]
fn a_gate_on_two_kinds_of_machine_gives_the_verdict_of_each() {
    let world = with_suite("[[measure]]");
    let kinds = ["--constraint", "near", "--constraint", "far"];
    let gate = [
        "gate", "--time", "2s", "--on", "hosts", "--json", "all.json", "--junit", "all.xml",
    ];
    let output = world.fathom(&[&gate[..], &kinds].concat());
    for kind in ["near", "far"] {
        let report = world.read(&format!("all-{kind}.xml"));
        assert!(report.contains("name=\"one"), "{report}");
    }
    assert!(!world.project().join("all.xml").exists());
    let said = String::from_utf8_lossy(&output.stderr);
    let all = world.json("all.json");
    let nodes = all.as_array().unwrap().iter().map(|record| {
        assert_eq!(record["benchmarks"][0]["name"], "one", "{said}");
        record["jobs"][0]["node"].clone()
    });
    assert_eq!(nodes.collect::<Vec<_>>(), ["localhost", "other"], "{said}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains("near, node localhost\n") && shown.contains("far, node other\n"),
        "{shown}"
    );
}

#[test]
fn a_gate_that_is_spread_is_judged_as_one() {
    let world = with_suite("[subjects.other]\ncommand = \"true\"\n\n[[measure]]");
    let spread = [
        "gate", "--time", "2s", "--on", "hosts", "--spread", "--json", "all.json", "--junit",
        "all.xml",
    ];
    let output = world.fathom(&spread);
    let said = String::from_utf8_lossy(&output.stderr);
    let all = world.json("all.json");
    let names = |list: &Value| {
        let names = list
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&all["benchmarks"]), ["one", "other"], "{said}");
    let jobs = all["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_ne!(jobs[0]["id"], jobs[1]["id"]);
    assert!(world.read("all.xml").contains("name=\"other"));
    let parts = [0, 1].map(|job| world.group().join(format!("{job}/attempt-1/started.json")));
    for part in parts {
        let started: Value = serde_json::from_slice(&std::fs::read(part).unwrap()).unwrap();
        assert_eq!(started["parts"], 2, "each may err half as often");
    }
    let shown = String::from_utf8_lossy(&output.stdout);
    let answers = shown.matches("working tree against main").count();
    assert_eq!(answers, 1, "{shown}");
}

#[test]
fn versions_that_are_spread_have_every_step_in_one_job() {
    let world = World::of_hosts();
    world.printed(&[
        "versions",
        "--of",
        "1,2,3,4",
        "-r",
        "3",
        "--on",
        "hosts",
        "--spread",
        "3",
        "--json",
        "all.json",
        "--",
        "echo",
        "{version}",
    ]);
    let all = world.json("all.json");
    let steps = |record: &Value| {
        let steps = record["steps"].as_array().unwrap().iter();
        let step = |step: &Value| format!("{} {}", step["from"], step["to"]).replace('"', "");
        steps.map(step).collect::<Vec<_>>()
    };
    let all: Vec<_> = all.as_array().unwrap().iter().map(steps).collect();
    assert_eq!(all, [vec!["1 2", "2 3"], vec!["3 4"]]);
}

#[test]
fn every_verb_that_compares_can_be_a_job() {
    let world = World::of_hosts();
    let gate = [
        "gate",
        "--base-cmd",
        "true",
        "--head-cmd",
        "true",
        "--time",
        "2s",
    ];
    let versions = ["versions", "--of", "1,2", "-r", "3"];
    for verb in [&gate[..], &versions[..]] {
        let on = ["--on", "hosts", "--no-save", "--json", "record.json"];
        let command: &[&str] = match verb[0] {
            "versions" => &["--", "echo", "{version}"],
            _ => &[],
        };
        let output = world.fathom(&[verb, &on[..], command].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        let record = world.json("record.json");
        assert_eq!(record["kind"], verb[0], "{said}");
        assert_eq!(record["jobs"][0]["node"], "localhost", "{said}");
    }
}

#[test]
fn a_failed_command_is_a_result_and_is_not_tried_again() {
    let world = World::of_hosts();
    let output = world.fathom(&["bench", "-r", "3", "false", "--on", "hosts"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(world.group().join("0/attempt-1").exists());
    assert!(!world.group().join("0/attempt-2").exists());
}

#[test]
fn what_is_not_there_is_refused_before_anything_is_handed_over() {
    let world = World::of_hosts();
    for (words, why) in [
        (
            ["--on", "pbs"],
            "unknown engine \"pbs\"; the engines are hosts or slurm",
        ),
        (
            ["--on", "hosts:big"],
            "[fleet] partition: it is required here",
        ),
        (
            ["--on", "slurm:"],
            "the partition after the colon is missing",
        ),
        (["--on=hosts", "--constraint="], "a value is required"),
        (["--on=hosts", "--constraint=none"], "is left for none"),
    ] {
        let output = world.fathom(&[&["bench", "true"][..], &words].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(said.contains(why), "{said}");
    }
    let output = world.fathom(&["jobs", "cancel", "17"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_interrupt_ends_the_jobs() {
    let world = World::of_hosts();
    // The first run signals that the job has started, and then blocks forever.
    world.write("work.sh", "mkfifo never; echo begun > begun; cat never");
    let made = Command::new("mkfifo")
        .arg(world.project().join("begun"))
        .status();
    assert!(made.unwrap().success());
    let mut command = world.command(&["bench", "sh work.sh", "--on", "hosts"]);
    let mut follows = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(world.read("begun"), "begun\n");
    let sent = Command::new("kill")
        .args(["-INT", &follows.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    assert_eq!(follows.wait().unwrap().code(), Some(130));
    let left = std::fs::read_dir(world.spool()).unwrap().flatten();
    let left: Vec<_> = left
        .map(|file| file.file_name())
        .filter(|name| name != "localhost.lock")
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(world.printed(&["jobs"]), "");
}
