//! When measurements are saved, where, and what happens if they can't be.

use fathom_store::Selector;

use crate::world::{World, open, stderr, stdout};

const QUICK: [&str; 6] = ["bench", "-N", "-r", "3", "-w", "0"];

fn bench<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    QUICK.iter().copied().chain(rest.iter().copied()).collect()
}

#[test]
fn in_a_project_what_is_measured_is_saved_and_one_line_says_where() {
    let world = World::project();
    world.commit("one");
    let output = world.fathom(&bench(&["true", "--label", "v1", "--label", "stable"]));
    assert_eq!(output.status.code(), Some(0));
    let said = stderr(&output);
    let mut lines = said.lines().filter(|line| line.contains("store.sqlite"));
    let line = lines.next().unwrap();
    assert!(line.starts_with("saved as "), "{said}");
    assert!(line.ends_with(" in .fathom/store.sqlite"), "{said}");
    assert_eq!(lines.next(), None, "{said}");
    let mut store = open(&world.project_store());
    let records = store.records(&Selector::All).unwrap();
    let [record] = records.as_slice() else {
        panic!("{records:?}");
    };
    assert_eq!(&record.id[..12], &line["saved as ".len()..][..12]);
    assert_eq!(
        (record.kind.as_str(), record.command.as_str()),
        ("bench", "true")
    );
    assert_eq!(record.labels, ["stable", "v1"]);
    let revision = record.revision.as_ref().unwrap();
    assert_eq!((revision.id.len(), revision.dirty), (40, false));
    assert_eq!(revision.branch.as_deref(), Some("main"));
    world.write("source", "changed");
    world.done(&bench(&["true"]));
    let newest = &store.records(&Selector::Last(1)).unwrap()[0];
    assert!(newest.revision.as_ref().unwrap().dirty);
}

#[test]
fn every_verb_that_measures_saves() {
    let world = World::project();
    world.done(&["startup", "-r", "2", "-w", "0", "--traced", "0", "true"]);
    world.done(&[
        "pipe",
        "-r",
        "2",
        "--tier",
        "accounts",
        "--",
        "echo a | cat",
    ]);
    world.done(&["machine", "--only", "timer_cost"]);
    world.write(
        "suite.toml",
        "schema_version = 1\ntitle = \"t\"\n[subjects.a]\ncommand = \"echo 5\"\n[[measure]]\nid = \"m\"\n\
         how = \"value\"\nrounds = 3\nvalues.n = { pattern = \"([0-9]+)\" }\n",
    );
    world.done(&["run", "suite.toml", "--work", "work"]);
    let mut store = open(&world.project_store());
    let mut kinds: Vec<String> = store
        .records(&Selector::All)
        .unwrap()
        .into_iter()
        .map(|record| record.kind)
        .collect();
    kinds.sort();
    assert_eq!(kinds, ["machine", "pipe", "run", "startup"]);
}

#[test]
fn outside_of_a_project_only_who_asks_saves() {
    let world = World::new();
    let output = world.fathom(&bench(&["true"]));
    assert!(!stderr(&output).contains("saved"), "{}", stderr(&output));
    assert!(!world.own_store().exists());
    let output = world.fathom(&bench(&["true", "--save"]));
    let said = stderr(&output);
    assert!(said.contains(world.own_store().to_str().unwrap()), "{said}");
    assert!(
        said.contains("no git repository") && said.contains("--label"),
        "{said}"
    );
    world.done(&bench(&["true", "--store", "mine.sqlite"]));
    let mut store = open(&world.here().join("mine.sqlite"));
    assert_eq!(store.records(&Selector::All).unwrap().len(), 1);
    let project = World::project();
    project.done(&bench(&["true", "--no-save"]));
    assert!(!project.project_store().exists());
}

/// `run` keeps its builds in `.fathom/` next to a file; that alone doesn't make a project.
#[test]
fn the_folder_of_a_run_is_no_project() {
    let world = World::new();
    world.write("fathom.toml", "schema_version = 1\ntitle = \"t\"\n");
    world.write(
        "suite.toml",
        "schema_version = 1\ntitle = \"t\"\n[subjects.a]\ncommand = \"echo 5\"\n[[measure]]\nid = \"m\"\n\
         how = \"value\"\nrounds = 3\nvalues.n = { pattern = \"([0-9]+)\" }\n",
    );
    world.done(&["run", "suite.toml"]);
    assert!(world.here().join(".fathom/suite").exists());
    world.done(&bench(&["true"]));
    assert!(!world.project_store().exists());
    world.done(&["init"]);
    world.done(&bench(&["true"]));
    assert!(world.project_store().exists());
}

#[test]
fn names_and_passwords_of_stores_reach_no_command_and_no_record() {
    let world = World::project();
    let secret = "s3cret-word";
    let file = world.here().join("named.sqlite");
    let output = world
        .command(&bench(&[
            "--output",
            "seen",
            "--env",
            "PGAPPNAME=s3cret-word",
            "env",
        ]))
        .args(["--json", "record.json"])
        .env("FATHOM_STORE", &file)
        .env("PGPASSWORD", secret)
        .env("PGHOST", "nowhere.example")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let seen = std::fs::read_to_string(world.here().join("seen")).unwrap();
    assert!(seen.contains("PATH="), "{seen}");
    // Only the command sees the variable given with --env.
    assert_eq!(seen.matches(secret).count(), 1, "{seen}");
    assert!(seen.contains("PGAPPNAME=s3cret-word"));
    assert!(
        !seen.contains("FATHOM_STORE") && !seen.contains("nowhere.example"),
        "{seen}"
    );
    let mut store = open(&file);
    let head = store.records(&Selector::Last(1)).unwrap().remove(0);
    let kept = store.record(&head).unwrap();
    let written = std::fs::read_to_string(world.here().join("record.json")).unwrap();
    for text in [kept, written, stdout(&output), stderr(&output)] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn inputs_are_known_by_their_hash() {
    let world = World::project();
    world.write("data", "abc");
    world.done(&bench(&["--input", "data", "cat"]));
    let mut store = open(&world.project_store());
    let head = store.records(&Selector::Last(1)).unwrap().remove(0);
    let [input] = head.inputs.as_slice() else {
        panic!("{head:?}")
    };
    assert_eq!(input.path, "data");
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(input.sha256, abc);
}

#[test]
fn what_cannot_be_saved_is_written_beside_and_the_exit_is_the_measurements() {
    let world = World::project();
    std::fs::write(world.project_store(), "no store at all").unwrap();
    let output = world.fathom(&bench(&["true"]));
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("true"));
    let said = stderr(&output);
    assert!(said.contains("is not a store of Fathom"), "{said}");
    let command = said.split("fathom store load ").nth(1).unwrap();
    let bundle = command.lines().next().unwrap();
    assert!(std::path::Path::new(bundle).exists(), "{said}");
    // The suggested command works once the store is repaired.
    std::fs::remove_file(world.project_store()).unwrap();
    let loaded = world.done(&["store", "load", bundle]);
    assert!(loaded.contains("1 record"), "{loaded}");
    let mut store = open(&world.project_store());
    assert_eq!(store.records(&Selector::All).unwrap()[0].command, "true");
}

#[test]
fn stores_and_labels_that_cannot_be_meant_are_refused_before() {
    let world = World::new();
    let wrong: [(&[&str], &str); 3] = [
        (
            &["--store", "mysql://joe:pw@db/x"],
            "is not a kind of store",
        ),
        (&["--label", ""], "it is empty"),
        (&["--label", "@-1"], "the last record saved"),
    ];
    for (options, expected) in wrong {
        let mut all = bench(&["--output", "ran", "true"]);
        all.extend(options);
        let said = world.refused(2, &all);
        assert!(said.contains(expected), "{said}");
        assert!(!said.contains("pw"), "{said}");
        assert!(!world.here().join("ran").exists(), "it was run");
    }
}

#[test]
fn what_was_interrupted_is_not_saved() {
    use std::os::unix::process::CommandExt;
    let world = World::project();
    // In the third run, the command interrupts Fathom itself: its parent or its grandparent.
    world.write(
        "stop.sh",
        "echo >> runs\nif [ $(wc -l < runs) -ge 3 ]; then kill -INT $(cat fathom); sleep 5; fi\n",
    );
    let mut command = world.command(&["bench", "-r", "9", "-w", "0", "sh stop.sh"]);
    let pid = world.here().join("fathom");
    // SAFETY: between fork and exec only a file is written, by calls that take no lock held by other threads
    // of this program.
    unsafe {
        command.pre_exec(move || std::fs::write(&pid, std::process::id().to_string()));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("not saved"), "{}", stderr(&output));
    assert!(!world.project_store().exists());
}
