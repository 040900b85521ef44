//! The results of `bisect`.

use crate::world::{World, each, stderr, stdout};

/// Creates a linear history of revisions that write these numbers of bytes.
fn line(bytes: &[usize]) -> (World, Vec<String>) {
    let world = World::new();
    let ids = bytes.iter().enumerate();
    let ids = ids.map(|(index, bytes)| world.commit(*bytes, &format!("revision {index}")));
    let ids = ids.collect();
    (world, ids)
}

#[test]
fn the_revision_that_made_the_step_is_named_and_held_against_its_parent() {
    let (world, ids) = line(&[100, 100, 100, 100, 100, 150, 150, 150, 150]);
    let record = world.bisect(&[&ids[0], "HEAD"]);
    assert_eq!(record["verdict"], "found");
    assert!(record["reason"].is_null());
    assert_eq!(record["culprit"]["revision"], ids[5].as_str());
    assert_eq!(record["culprit"]["subject"], "revision 5");
    assert_eq!(record["culprit"]["parent"], ids[4].as_str());
    let ratio = record["culprit"]["ratio"]["value"].as_f64().unwrap();
    assert!((ratio - 1.5).abs() < 1e-9, "{ratio}");
    assert_eq!(record["candidates"], 8);
    assert_eq!(record["tested"].as_array().unwrap().len(), 3);
    assert_eq!(record["remaining"].as_array().unwrap().len(), 0);
    let text = world.fathom(&[
        "bisect",
        &ids[0],
        "HEAD",
        "--metric",
        "written_bytes",
        "--",
        "sh",
        "tool",
    ]);
    let text = stdout(&text);
    let first = format!(
        "{}: 50 % more written_bytes than its parent.",
        &ids[5][..10]
    );
    assert!(text.starts_with(&first), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn less_is_found_as_more_is() {
    let (world, ids) = line(&[150, 150, 100, 100]);
    let record = world.bisect(&[&ids[0], "HEAD"]);
    assert_eq!(record["culprit"]["revision"], ids[2].as_str());
}

#[test]
fn of_merges_the_revision_on_the_side_is_named() {
    let (world, ids) = line(&[100, 100]);
    world.git(&["checkout", "--quiet", "-b", "side"]);
    let side = world.commit_file("bytes", "300", "bytes from a file");
    let reads = world.commit_file("tool", "printf \"%0$(cat bytes)d\" 0", "read it");
    world.git(&["checkout", "--quiet", "main"]);
    world.commit_file("other", "x", "on main");
    world.git(&["merge", "--quiet", "--no-edit", "side"]);
    world.commit_file("after", "x", "after the merge");
    let record = world.bisect(&[&ids[0], "HEAD"]);
    assert_eq!(record["culprit"]["revision"], reads.as_str());
    assert_eq!(record["culprit"]["parent"], side.as_str());
    // The number that git counts, including the merge and both of its sides.
    assert_eq!(record["candidates"], 6);
}

#[test]
fn ends_that_are_the_same_have_nothing_to_find() {
    let (world, ids) = line(&[100, 300, 100]);
    let record = world.bisect(&[&ids[0], "HEAD"]);
    assert_eq!(record["verdict"], "no_difference");
    assert!(record["culprit"].is_null());
    assert_eq!(record["tested"].as_array().unwrap().len(), 0);
}

#[test]
fn a_revision_that_does_not_build_is_skipped() {
    let (world, ids) = line(&[100, 100]);
    let broken = world.commit_file("broken", "", "broken");
    world.git(&["rm", "--quiet", "broken"]);
    world.commit(100, "mended");
    let culprit = world.commit(200, "slower");
    world.commit(200, "more");
    let record = world.bisect(&[&ids[0], "HEAD", "--build", "test ! -e broken"]);
    assert_eq!(record["culprit"]["revision"], culprit.as_str());
    let tested = &record["tested"];
    let skipped = each(tested, "state")
        .iter()
        .position(|state| *state == "does_not_build");
    if let Some(skipped) = skipped {
        assert_eq!(tested[skipped]["revision"], broken.as_str());
    }
}

#[test]
fn where_nothing_that_is_left_builds_those_are_listed() {
    let (world, ids) = line(&[100]);
    let broken = world.commit_file("broken", "", "broken");
    world.git(&["rm", "--quiet", "broken"]);
    let last = world.commit(200, "mended and slower");
    let record = world.bisect(&[&ids[0], "HEAD", "--build", "test ! -e broken"]);
    assert_eq!(
        (&record["verdict"], &record["reason"]),
        (&"undecided".into(), &"nothing_runs".into())
    );
    let remaining: Vec<&str> = record["remaining"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    assert_eq!(remaining, [broken.as_str(), last.as_str()]);
    assert_eq!(each(&record["tested"], "state"), ["does_not_build"]);
}

#[test]
fn of_two_steps_the_first_is_found_where_the_middle_lies_between() {
    let (world, ids) = line(&[100, 100, 200, 200, 400, 400]);
    let record = world.bisect(&[&ids[0], "HEAD"]);
    let culprit = record["culprit"]["revision"].as_str().unwrap();
    assert!(
        [ids[2].as_str(), ids[4].as_str()].contains(&culprit),
        "{record}"
    );
}

#[test]
fn a_metric_that_is_zero_has_no_ratio() {
    let world = World::new();
    world.commit_file("tool", ":", "silent");
    world.commit(100, "speaks");
    let record = world.bisect(&["HEAD~1", "HEAD"]);
    assert_eq!(
        (&record["verdict"], &record["reason"]),
        (&"undecided".into(), &"no_ratio".into())
    );
}

#[test]
fn a_search_ends_with_what_the_culprit_takes_more() {
    let world = World::new();
    let quick = world.commit_file("tool", ":", "quick");
    let slow = world.commit_file("tool", "sleep 0.3", "slow");
    let search = |more: &[&str]| {
        let command = ["--", "sh", "tool"];
        world.fathom(&[&["bisect", &quick, "HEAD", "-w", "0"], more, &command].concat())
    };
    let output = search(&["--save", "--json", "-"]);
    assert!(stderr(&output).contains("saved as"), "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["culprit"]["revision"], slow.as_str());
    let why = record["why"].as_array().unwrap();
    is_of(why[0].as_str().unwrap(), &record["sessions"][0]);
    let first = why[1].as_str().unwrap();
    assert!(first.starts_with('+') && first.contains("sleep"), "{first}");
    // Times can't explain a difference in size.
    let (world, ids) = line(&[100, 150]);
    let record = world.bisect(&[&ids[0], "HEAD"]);
    assert_eq!(record["verdict"], "found");
    assert_eq!(record["why"].as_array().unwrap().len(), 0);
}

#[test]
fn what_the_culprit_takes_more_is_of_the_rounds_that_name_it() {
    let world = World::new();
    let quick = world.commit_file("tool", ":", "quick");
    world.git(&["switch", "--quiet", "--create", "side"]);
    world.commit_file("other", "", "beside");
    world.git(&["switch", "--quiet", "main"]);
    world.git(&["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
    // The merge itself is slow, and its parent is GOOD: they were compared before `side` was tried.
    let slow = world.commit_file("tool", "sleep 0.3", "merge");
    let options = ["bisect", &quick, "HEAD", "-w", "0", "--json", "-"];
    let output = world.fathom(&[&options[..], &["--", "sh", "tool"]].concat());
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["culprit"]["revision"], slow.as_str());
    assert_eq!(record["culprit"]["ratio"], record["ends"]["ratio"]);
    assert_eq!(each(&record["tested"], "state"), ["good"]);
    is_of(record["why"][0].as_str().unwrap(), &record["sessions"][0]);
}

/// Checks that `line` states the difference between the medians of `session`.
fn is_of(line: &str, session: &serde_json::Value) {
    let runs = session["runs"].as_array().unwrap();
    let median = |benchmark: u64| {
        let own = runs.iter().filter(|run| run["benchmark"] == benchmark);
        let mut walls: Vec<f64> = own.map(|run| run["wall_ns"].as_f64().unwrap()).collect();
        walls.sort_by(f64::total_cmp);
        let (low, high) = (walls[(walls.len() - 1) / 2], walls[walls.len() / 2]);
        (low + high) / 2e6
    };
    let beginning = line.strip_prefix("wall time +").unwrap_or_default();
    let number = beginning.split(" ms (").next().unwrap_or_default();
    let printed: f64 = number.parse().unwrap_or_else(|_| panic!("{line}"));
    let decimals = number.split('.').nth(1).map_or(0, str::len);
    let exact = median(1) - median(0);
    let half = 0.5001 * 0.1_f64.powi(i32::try_from(decimals).unwrap());
    assert!((printed - exact).abs() <= half, "{exact} in {line}");
    let rounds = runs.len() / 2;
    assert!(
        line.ends_with(&format!("the same {rounds} rounds")),
        "{line}"
    );
}
