//! `fathom compare`: verdicts on measurements made at different times.

use serde_json::{Value, json};

use crate::read::{record, save};
use crate::world::{World, stdout};

fn comparison(world: &World, arguments: &[&str]) -> Value {
    let mut all = vec!["compare"];
    all.extend(arguments);
    let record = world.json(&all);
    let comparisons = record["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 1, "{record}");
    comparisons[0].clone()
}

#[test]
fn with_few_measurements_five_percent_are_assumed() {
    let world = World::project();
    save(
        &world,
        record(&[("parse", 1.0)], 0, "Linux 1"),
        Some(("a1", false)),
        &["v1"],
    );
    save(
        &world,
        record(&[("parse", 1.2)], 1, "Linux 1"),
        Some(("b2", false)),
        &["v2"],
    );
    save(
        &world,
        record(&[("parse", 1.04)], 2, "Linux 1"),
        Some(("c3", false)),
        &["v3"],
    );
    let slower = comparison(&world, &["v1", "v2"]);
    assert_eq!(slower["verdict"], "slower");
    let ratio = &slower["ratio"];
    assert!((ratio["value"].as_f64().unwrap() - 1.2).abs() < 1e-9);
    assert!(
        ratio["low"].as_f64().unwrap() < 1.15 && ratio["level"] == 0.95,
        "{slower}"
    );
    assert_eq!(
        slower["drift"],
        json!({"share": 0.05, "source": "assumed", "measurements": 1})
    );
    let open = comparison(&world, &["a1a1a1", "@-1"]);
    assert_eq!(open["verdict"], "undecided");
    // The suggested command measures both ends together. Their repository isn't here.
    assert_eq!(
        open["together"],
        "fathom versions a1a1a1a1a1a1..c3c3c3c3c3c3 -- ./parse input"
    );
    assert_eq!(comparison(&world, &["v2", "v1"])["verdict"], "faster");
    // The noise found by the machine's own check counts if it is larger.
    let check = json!({"schema_version": 2, "kind": "machine_check", "fathom_version": "0.1.0",
        "written_at": "2026-11-20T00:00:00Z",
        "environment": {"kernel": "Linux 1", "architecture": "x86_64", "cpus": 2},
        "noise": {"smallest_difference": 0.3, "self_comparison": {"rounds": 40}}});
    save(&world, check.to_string(), None, &[]);
    let open = comparison(&world, &["v1", "v2"]);
    assert_eq!(open["verdict"], "undecided");
    assert_eq!(open["drift"]["source"], "noise_floor");
    let text = world.done(&["compare", "v1", "v2"]);
    insta::assert_snapshot!("undecided", text);
}

#[test]
fn a_series_of_the_same_measurement_on_both_sides_is_the_same() {
    let world = World::project();
    let both = record(&[("parse", 1.0), ("zip", 1.0)], 0, "Linux 1");
    save(&world, both, None, &["v1", "v2"]);
    save(&world, record(&[("zip", 1.1)], 1, "Linux 1"), None, &["v2"]);
    let found = world.json(&["compare", "v1", "v2"]);
    let of = |name: &str| {
        let mut all = found["comparisons"].as_array().unwrap().iter();
        all.find(|one| one["benchmark"] == name).unwrap().clone()
    };
    let same = of("parse");
    assert_eq!(
        (&same["verdict"], &same["drift"]["source"]),
        (&json!("same"), &json!("none"))
    );
    assert_eq!(
        (&same["ratio"]["low"], &same["ratio"]["high"]),
        (&json!(1.0), &json!(1.0))
    );
    assert_eq!(of("zip")["verdict"], "undecided");
}

#[test]
fn the_drift_that_the_series_has_shown_widens_the_interval() {
    let steady = World::project();
    let moving = World::project();
    for (hour, by) in [(0, 0.0), (1, 0.06), (2, -0.06), (3, 0.05), (4, -0.03)] {
        let at = |size: f64| record(&[("parse", 1.0 + by * size)], hour, "Linux 1");
        save(&steady, at(0.1), Some(("a1", false)), &[]);
        save(&moving, at(1.0), Some(("a1", false)), &[]);
    }
    for world in [&steady, &moving] {
        save(
            world,
            record(&[("parse", 1.08)], 6, "Linux 1"),
            Some(("b2", false)),
            &[],
        );
    }
    let found = comparison(&steady, &["a1a1", "b2b2"]);
    assert_eq!(found["verdict"], "slower", "{found}");
    assert_eq!(found["base"]["measurements"], 5);
    let open = comparison(&moving, &["a1a1", "b2b2"]);
    assert_eq!(open["verdict"], "undecided", "{open}");
    assert_eq!(open["drift"]["source"], "same_revision");
    assert_eq!(open["drift"]["measurements"], 5);
    insta::assert_snapshot!("drift", moving.done(&["compare", "a1a1", "b2b2"]));
}

#[test]
fn dirty_points_and_other_environments_are_left_out_unless_asked_for() {
    let world = World::project();
    save(
        &world,
        record(&[("parse", 1.0)], 0, "Linux 1"),
        Some(("a1", false)),
        &[],
    );
    save(
        &world,
        record(&[("parse", 1.0)], 1, "Linux 1"),
        Some(("b2", false)),
        &[],
    );
    save(
        &world,
        record(&[("parse", 5.0)], 2, "Linux 1"),
        Some(("b2", true)),
        &[],
    );
    save(
        &world,
        record(&[("parse", 1.0)], 3, "Linux 2"),
        Some(("c3", false)),
        &[],
    );
    save(
        &world,
        record(&[("parse", 1.0)], 4, "Linux 1"),
        Some(("d4", true)),
        &[],
    );
    let clean = comparison(&world, &["a1a1", "b2b2"]);
    assert_eq!(clean["head"]["measurements"], 1);
    assert_eq!(clean["ratio"]["value"], 1.0);
    assert_eq!(
        comparison(&world, &["a1a1", "b2b2", "--dirty"])["head"]["measurements"],
        2
    );
    let said = world.refused(2, &["compare", "a1a1", "d4d4"]);
    assert!(
        said.contains("uncommitted changes in tracked files") && said.contains("--dirty"),
        "{said}"
    );
    // A record named by its position is used.
    comparison(&world, &["a1a1", "@-1"]);
    let output = world.fathom(&["compare", "a1a1", "c3c3"]);
    assert_eq!(output.status.code(), Some(4));
    let text = stdout(&output);
    assert!(text.contains("no comparison was possible"), "{text}");
    assert!(
        text.contains("kernel Linux 1 and Linux 2") && text.contains("--across"),
        "{text}"
    );
    let record = world.json(&["compare", "a1a1", "c3c3", "--across"]);
    assert_eq!(record["comparisons"][0]["across_environments"], true);
    assert!(
        record["warnings"][0].as_str().unwrap().contains("machines"),
        "{record}"
    );
}

#[test]
fn files_of_fathom_and_of_hyperfine_are_sides() {
    let world = World::new();
    world.write(
        "one.json",
        &record(&[("parse", 1.0), ("zip", 1.0)], 0, "Linux 1"),
    );
    world.write(
        "two.json",
        &record(&[("parse", 0.7), ("new", 1.0)], 1, "Linux 1"),
    );
    let text = world.done(&["compare", "one.json", "two.json"]);
    insta::assert_snapshot!("files", text);
    let times = |factor: f64| -> Vec<f64> {
        (0..10)
            .map(|i| factor * (1.0 + f64::from(i) / 1000.0))
            .collect()
    };
    let hyperfine = |command: &str, factor: f64| {
        let times = times(factor);
        json!({"results": [{"command": command, "mean": factor, "stddev": 0.001, "median": factor,
            "user": 0.1, "system": 0.1, "min": factor, "max": factor, "times": times,
            "exit_codes": vec![0; times.len()]}]})
        .to_string()
    };
    world.write("before.json", &hyperfine("sort a", 1.0));
    world.write("after.json", &hyperfine("sort a", 1.5));
    let found = comparison(&world, &["before.json", "after.json"]);
    assert_eq!(
        (found["verdict"].as_str(), found["metric"].as_str()),
        (Some("slower"), Some("wall"))
    );
    assert!((found["ratio"]["value"].as_f64().unwrap() - 1.5).abs() < 1e-6);
    // Compares two programs with one file each, and Fathom's record with hyperfine's.
    world.write("other.json", &hyperfine("sort b", 0.5));
    let record = world.json(&["compare", "before.json", "other.json"]);
    assert_eq!(record["comparisons"][0]["verdict"], "faster");
    assert!(
        record["warnings"][0]
            .as_str()
            .unwrap()
            .contains("different names"),
        "{record}"
    );
    world.write("wrong.json", "{\"a\": 1}");
    let said = world.refused(2, &["compare", "before.json", "wrong.json"]);
    assert!(said.contains("wrong.json"), "{said}");
}

#[test]
fn runs_are_compared_where_they_were_kept() {
    let world = World::project();
    for _ in 0..2 {
        world.done(&["bench", "-N", "-r", "8", "-w", "0", "true", "-n", "nothing"]);
    }
    let found = comparison(&world, &["@-2", "@-1"]);
    assert_eq!(
        (
            found["base"]["runs"].as_u64(),
            found["head"]["runs"].as_u64()
        ),
        (Some(8), Some(8))
    );
    let ratio = &found["ratio"];
    let (low, high) = (
        ratio["low"].as_f64().unwrap(),
        ratio["high"].as_f64().unwrap(),
    );
    assert!(low > 0.0 && high / low > 1.1, "the drift is in it: {ratio}");
}

#[test]
fn sides_that_are_not_there_are_said() {
    let world = World::project();
    save(
        &world,
        record(&[("parse", 1.0)], 0, "Linux 1"),
        Some(("a1", false)),
        &["v1"],
    );
    let said = world.refused(2, &["compare", "v1", "v9"]);
    assert!(
        said.contains("\"v9\"") && said.contains("fathom history"),
        "{said}"
    );
    world.commit("one");
    let said = world.refused(2, &["compare", "v1", "HEAD"]);
    assert!(
        said.contains("no measurement of \"HEAD\" (revision "),
        "{said}"
    );
    let said = world.refused(2, &["compare", "v1", "@-1", "zap"]);
    assert!(said.contains("similar names: parse"), "{said}");
}

/// Returns another tool's measurement, with its samples or with summary figures.
pub(crate) fn imported(name: &str, values: &Value, unit: &str, hours: i64) -> String {
    let mut benchmark = json!({"name": name, "parameters": {}, "metric": "wall", "unit": unit,
        "direction": "lower_is_better"});
    let key = if values.is_array() {
        "samples"
    } else {
        "summary"
    };
    benchmark[key] = values.clone();
    json!({"schema_version": 2, "kind": "imported", "fathom_version": "0.1.0",
        "started_at": fathom_store::date::text(1_795_219_200_000 + hours * 3_600_000),
        "time_from_file": true, "environment": {"kernel": "Linux 1"}, "revision": null,
        "left_out": [], "source": {"tool": "go test", "version": null, "file": "-"},
        "benchmarks": [benchmark]})
    .to_string()
}

#[test]
fn the_samples_of_another_tool_are_compared_and_what_has_none_is_said() {
    let world = World::project();
    let both = [json!([1, 1, 1, 8, 8]), json!([1, 1, 4, 4, 4])];
    for (hours, samples) in (0..).zip(&both) {
        save(&world, imported("x", samples, "s", hours), None, &[]);
        let name = format!("side{hours}.json");
        world.write(&name, &imported("x", samples, "ns", hours));
    }
    for sides in [["@-2", "@-1"], ["./side0.json", "./side1.json"]] {
        let found = comparison(&world, &sides);
        // The medians are 1 and 4; the median of all ratios is 1.
        let ratio = found["ratio"]["value"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 1e-9, "{found}");
    }
    assert_eq!(
        world.json(&["compare", "@-2", "@-1"])["warnings"],
        json!([])
    );
    let figures = |mean: f64| json!({"mean": mean, "standard_deviation": 0.1, "count": 9});
    for (hours, mean) in [(2, 1.0), (3, 1.2)] {
        save(&world, imported("y", &figures(mean), "s", hours), None, &[]);
    }
    let record = world.json(&["compare", "@-2", "@-1"]);
    let warning = record["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("y: the file has no samples, so the other tool's own figures"),
        "{warning}"
    );
}

#[test]
fn values_of_two_units_are_not_compared() {
    let world = World::project();
    world.write("before.json", &imported("x", &json!([60]), "frames", 0));
    world.write("after.json", &imported("x", &json!([4000]), "points", 1));
    let output = world.fathom(&["compare", "./before.json", "./after.json", "--json", "-"]);
    assert_eq!(output.status.code(), Some(4));
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let why = &record["left_out"][0]["why"];
    assert_eq!(
        why,
        "its unit in ./before.json is \"frames\", not \"points\""
    );
}
