//! Which versions are measured, and how they are reported.

use crate::world::{World, each, stderr, stdout};

#[test]
fn tags_are_measured_in_the_order_of_the_history_and_the_step_is_found() {
    let world = World::new();
    world.release(100, "v0.9");
    world.release(100, "v0.10");
    world.commit(150, "not released");
    let third = world.release(200, "v0.11");
    world.release(200, "v1.0");
    let record = world.versions(&["v0.9..v1.0"]);
    assert_eq!(record["kind"], "versions");
    assert_eq!(record["chosen_by"], "tags");
    let versions = &record["versions"];
    assert_eq!(
        each(versions, "version"),
        ["v0.9", "v0.10", "v0.11", "v1.0"]
    );
    assert_eq!(each(versions, "state"), ["measured"; 4]);
    assert_eq!(versions[2]["revision"], third.as_str());
    assert_eq!(versions[2]["estimate"]["value"], 200.0);
    let ratio = versions[3]["since_first"]["value"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    let steps = &record["steps"];
    assert_eq!(each(steps, "from"), ["v0.9", "v0.10", "v0.11"]);
    assert_eq!(each(steps, "verdict"), ["same", "slower", "same"]);
}

#[test]
fn each_version_is_saved_under_its_revision_and_its_name() {
    let world = World::new();
    world.release(100, "v1");
    let second = world.release(200, "v2");
    let store = world.path("store.sqlite");
    let store = store.to_str().unwrap();
    world.versions(&["v1..v2", "--store", store]);
    let history = [
        "history",
        "--store",
        store,
        "--metric",
        "written_bytes",
        "--json",
        "-",
    ];
    let output = world.fathom(&history);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let history: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let series = history["series"].as_array().unwrap();
    assert_eq!(series.len(), 1, "{history}");
    assert_eq!(series[0]["benchmark"], "sh tool");
    let points = series[0]["points"].as_array().unwrap();
    let labels: Vec<_> = points.iter().map(|point| &point["labels"][0]).collect();
    assert_eq!(labels, ["v1", "v2"]);
    assert_eq!(points[1]["revision"], second.as_str());
    assert_eq!(points[1]["value"], 200.0);
    // HEAD will be another revision tomorrow, so it isn't used as a name.
    let moving = world.path("moving.sqlite");
    let moving = moving.to_str().unwrap();
    world.versions(&["HEAD~1..HEAD", "--every", "1", "--store", moving]);
    let output = world.fathom(&["store", "list", "--store", moving]);
    let listed = stdout(&output);
    assert!(listed.contains(&second[..9]), "{listed}");
    assert!(!listed.contains("HEAD"), "{listed}");
}

#[test]
fn without_tags_every_nth_revision_is_measured_with_both_ends() {
    let world = World::new();
    let first = world.commit(100, "first");
    (0..4).for_each(|_| _ = world.commit(100, "more"));
    let last = world.commit(100, "last");
    let record = world.versions(&[&format!("{first}.."), "--every", "3"]);
    assert_eq!(
        (&record["chosen_by"], &record["every"]),
        (&"every".into(), &3.into())
    );
    let revisions = each(&record["versions"], "revision");
    assert_eq!((revisions[0], revisions[2]), (&*first, &*last));
    assert_eq!(revisions.len(), 3);
    // The result is the same without the option, because there are few revisions.
    let record = world.versions(&["HEAD~2..HEAD"]);
    assert_eq!(each(&record["versions"], "version")[0], "HEAD~2");
    assert_eq!(record["versions"].as_array().unwrap().len(), 3);
}

#[test]
fn a_version_that_does_not_build_or_run_is_a_gap_with_its_error() {
    let world = World::new();
    world.release(100, "v1");
    world.commit_file("broken", "", "broken");
    world.git(&["tag", "v2"]);
    world.git(&["rm", "--quiet", "broken"]);
    world.commit_file("tool", "echo 'no option --fast' >&2; exit 3", "refuses");
    world.git(&["tag", "v3"]);
    world.release(300, "v4");
    let build = "echo building; if [ -e broken ]; then echo 'the reason'; exit 7; fi";
    let record = world.versions(&["v1..v4", "--build", build]);
    let versions = &record["versions"];
    let states = ["measured", "does_not_build", "left_out", "measured"];
    assert_eq!(each(versions, "state"), states);
    assert_eq!(versions[1]["error"], "exit code 7\nbuilding\nthe reason");
    let left_out = versions[2]["error"].as_str().unwrap();
    assert!(left_out.contains("no option --fast"), "{left_out}");
    assert!(versions[1]["estimate"].is_null());
    // The step goes from one measured version to the next.
    assert_eq!(each(&record["steps"], "from"), ["v1"]);
    assert_eq!(each(&record["steps"], "to"), ["v4"]);
    let arguments = ["versions", "v1..v4", "--build", build, "-r", "2"];
    let output = world.fathom(&[&arguments[..], &["--", "sh", "tool"]].concat());
    let text = stdout(&output);
    assert!(text.contains("  does not build: the reason\n"), "{text}");
    assert!(text.contains("  left out: no option --fast\n"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn installed_versions_are_compared_by_their_names() {
    let world = World::new();
    std::fs::create_dir(world.path("bin")).unwrap();
    for (version, bytes) in [("1.0", 100), ("1.1", 50)] {
        let path = world.path(&format!("bin/tool-{version}"));
        std::fs::write(path, format!("printf '%0{bytes}d' 0")).unwrap();
    }
    // No repository is needed.
    let output = world
        .fathom_in(
            &world.path("bin"),
            &[
                "versions",
                "--of",
                "1.0, 1.1",
                "--metric",
                "written-bytes",
                "-r",
                "10",
                "--json",
                "-",
            ],
        )
        .args(["--", "sh", "tool-{version}"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["chosen_by"], "named");
    assert_eq!(each(&record["steps"], "verdict"), ["faster"]);
    assert!(record["versions"][0]["revision"].is_null());
}

#[test]
fn places_are_filled_in_and_the_command_runs_in_the_files_of_its_version() {
    let world = World::new();
    world.release(100, "v1");
    let id = world.release(100, "v2");
    let script = "test \"$1\" = v1 || test \"$2\" = \"$3\"; test -d \"$4/.git\"; test \"$PWD\" != \"$4\"; . ./tool";
    let output = world.fathom(&[
        "versions",
        "v1..v2",
        "-r",
        "1",
        "-w",
        "0",
        "--json",
        "-",
        "--",
        "sh",
        "-ec",
        script,
        "sh",
        "{version}",
        "{revision}",
        &id,
        "{repo}",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(each(&record["versions"], "state"), ["measured"; 2]);
}

#[test]
fn a_hostile_tag_is_neither_run_nor_shown_as_it_is() {
    let world = World::new();
    let hostile = "v1;$(touch${IFS}pwned)'\u{202e}";
    world.release(100, "v0");
    world.release(100, hostile);
    world.release(100, "v2");
    let record = world.versions(&["v0..v2", "--build", "echo {version} > built"]);
    let versions = &record["versions"];
    assert_eq!(
        each(versions, "state"),
        ["measured", "does_not_build", "measured"]
    );
    let error = versions[1]["error"].as_str().unwrap();
    assert!(error.contains("it is not substituted"), "{error}");
    // The version itself isn't at fault.
    let output = world.fathom(&[
        "versions",
        "v0..v2",
        "-r",
        "2",
        "--",
        "sh",
        "tool",
        "{version}",
    ]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        text.contains("v1;$(") && !text.contains('\u{202e}'),
        "{text}"
    );
    assert!(
        !world
            .everything()
            .keys()
            .any(|path| path.ends_with("pwned"))
    );
}
