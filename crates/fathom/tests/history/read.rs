//! `fathom history` and `fathom store`: saved records are found again.

use fathom_store::{Draft, Location, Revision, Store, date};
use serde_json::json;

use crate::world::{World, stderr, stdout};

/// Returns a record as `bench` writes it, measured this many hours after midnight.
pub(crate) fn record(benchmarks: &[(&str, f64)], hours: i64, kernel: &str) -> String {
    let results = benchmarks.iter().enumerate().map(|(index, (_, value))| {
        let summary = |metric: &str, value: f64| {
            json!({"metric": metric, "runs": 12, "median": {"value": value, "low": value * 0.99,
                "high": value * 1.01, "level": 0.95}, "min": value, "p10": value, "p90": value,
                "p99": value, "max": value, "mean": value, "standard_deviation": 0.0})
        };
        json!({"benchmark": index, "failures": 0,
            "summaries": [summary("wall", *value), summary("peak_memory", 2e6)]})
    });
    let named = benchmarks.iter().map(|(name, _)| {
        json!({"name": name, "command": format!("./{name} input"), "arguments": [], "shell": null,
            "parameters": [], "input": "null", "output": "null", "working_directory": null,
            "environment_variables": []})
    });
    json!({"schema_version": 2, "kind": "bench", "fathom_version": "0.1.0",
        "started_at": date::text(1_795_219_200_000 + hours * 3_600_000),
        "environment": {"kernel": kernel, "architecture": "x86_64", "cpus": 2},
        "conditions": {"seed": 1}, "benchmarks": named.collect::<Vec<_>>(), "runs": [],
        "complete": true, "outcome": {"stop": "run_count", "results": results.collect::<Vec<_>>()}})
    .to_string()
}

pub(crate) fn save(
    world: &World,
    record: String,
    revision: Option<(&str, bool)>,
    labels: &[&str],
) -> String {
    let mut draft = Draft::of(record).unwrap();
    draft.revision = revision.map(|(id, dirty)| Revision {
        id: id.repeat(40 / id.len()),
        branch: Some("main".to_owned()),
        dirty,
    });
    draft.labels = labels.iter().map(|label| (*label).to_owned()).collect();
    let mut store = Store::open(&Location::File(world.project_store())).unwrap();
    store.save(&draft).unwrap().id
}

/// Creates five measurements of two benchmarks; the last has a dirty tree and another kernel.
fn kept() -> World {
    let world = World::project();
    for (hour, revision, value) in [
        (0, "a1", 1.0),
        (1, "b2", 1.1),
        (2, "c3", 1.2),
        (3, "d4", 0.6),
    ] {
        let text = record(&[("parse", value), ("zip", 0.25)], hour, "Linux 1");
        save(&world, text, Some((revision, false)), &[]);
    }
    let text = record(&[("parse", 0.5)], 4, "Linux 2");
    save(&world, text, Some(("e5", true)), &["v2"]);
    world
}

#[test]
fn each_benchmark_has_a_line_and_one_its_points() {
    let world = kept();
    let list = world.done(&["history"]);
    insta::assert_snapshot!("list", list);
    let one = world.done(&["history", "parse"]);
    insta::assert_snapshot!("one", one);
    // A part of a name, and a metric.
    assert_eq!(world.done(&["history", "PARS"]), one);
    let memory = world.done(&["history", "zip", "--metric", "peak*"]);
    assert!(
        memory.contains("peak_memory") && memory.contains("1.91 MiB"),
        "{memory}"
    );
    for line in list.lines().chain(one.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Returns a record with the wall time, and with the wall time minus the wait for a CPU.
fn with_waits(wall: f64, free: f64, hour: i64) -> String {
    let text = record(&[("parse", wall)], hour, "Linux 1");
    let mut text: serde_json::Value = serde_json::from_str(&text).unwrap();
    let summaries = text["outcome"]["results"][0]["summaries"].as_array_mut();
    let summaries = summaries.unwrap();
    let mut other = summaries[0].clone();
    other["metric"] = json!("cpu_wait_free");
    other["median"] =
        json!({"value": free, "low": 0.99 * free, "high": 1.01 * free, "level": 0.95});
    summaries.push(other);
    text.to_string()
}

/// `changes` uses the clock that `compare` would use: a run that takes longer only because other processes
/// had the CPU is not a change, and a real change is visible despite the waits.
#[test]
fn changes_are_searched_on_the_clock_without_waits() {
    let jitter = |hour: i64| 1.0 + (hour * 7 % 5) as f64 / 500.0;
    let found = |wall: [f64; 2], free: [f64; 2]| {
        let world = World::project();
        for hour in 0..30 {
            let half = usize::from(hour >= 15);
            let [wall, free] = [wall, free].map(|of| of[half] * jitter(hour));
            save(&world, with_waits(wall, free, hour), None, &[]);
        }
        let of = |more: &[&str]| -> (String, usize) {
            let record = world.json(&[&["changes", "parse"], more].concat());
            let series = &record["series"][0];
            let points = series["change_points"].as_array().expect("a list");
            let name = series["name"].as_str().expect("a name");
            (name.to_owned(), points.len())
        };
        (of(&[]), of(&["--metric", "wall"]))
    };
    let free = || "parse cpu_wait_free".to_owned();
    let wall = || "parse wall".to_owned();
    // Other processes started: only wall time rises.
    assert_eq!(found([1.1, 1.6], [1.0, 1.0]), ((free(), 0), (wall(), 1)));
    // The program became slower while other processes stopped.
    assert_eq!(found([1.6, 1.6], [1.0, 1.5]), ((free(), 1), (wall(), 0)));
    // No waits: wall time is used, with everything in it.
    assert_eq!(found([1.0, 1.5], [1.0, 1.5]), ((wall(), 1), (wall(), 1)));
}

#[test]
fn waits_for_a_cpu_are_no_change() {
    let world = World::project();
    for (hour, wall) in [(0, 1.0), (1, 3.0)] {
        save(&world, with_waits(wall, 1.0, hour), None, &[]);
    }
    for arguments in [&["history"][..], &["history", "parse"]] {
        let text = world.done(arguments);
        assert!(
            text.contains("cpu_wait_free") && !text.contains("3.0"),
            "{text}"
        );
    }
    // A clock named with `--metric` is used.
    let wall = world.done(&["history", "parse", "--metric", "wall"]);
    assert!(wall.contains("3.00x"), "{wall}");
}

#[test]
fn a_new_level_is_marked() {
    let world = World::project();
    for hour in 0..30 {
        let level = if hour < 20 { 1.0 } else { 1.5 };
        let value = level * (1.0 + (hour * 7 % 5) as f64 / 500.0);
        save(
            &world,
            record(&[("parse", value)], hour, "Linux 1"),
            None,
            &[],
        );
    }
    let text = world.done(&["history", "parse"]);
    assert_eq!(
        text.matches('◆').count(),
        2,
        "one in the plot, one explained: {text}"
    );
}

#[test]
fn points_are_written_for_programs() {
    let world = kept();
    let record = world.json(&["history", "parse"]);
    assert_eq!(record["kind"], "history");
    let series = record["series"].as_array().unwrap();
    assert_eq!(series.len(), 2, "all metrics");
    let wall = series.iter().find(|one| one["metric"] == "wall").unwrap();
    assert_eq!(
        (wall["benchmark"].as_str(), wall["unit"].as_str()),
        (Some("parse"), Some("seconds"))
    );
    let points = wall["points"].as_array().unwrap();
    let values: Vec<f64> = points
        .iter()
        .map(|one| one["value"].as_f64().unwrap())
        .collect();
    assert_eq!(values, [1.0, 1.1, 1.2, 0.6, 0.5]);
    let last = &points[4];
    assert_eq!(last["labels"], json!(["v2"]));
    assert_eq!(last["revision"], "e5".repeat(20));
    assert_eq!(
        (last["dirty"].as_bool(), last["runs"].as_u64()),
        (Some(true), Some(12))
    );
    assert!(last["low"].as_f64() < last["value"].as_f64());
    let environments = record["environments"].as_array().unwrap();
    let of_last = |one: &&serde_json::Value| one["key"] == last["environment"];
    let environment = environments.iter().find(of_last).unwrap();
    assert_eq!(environment["kernel"], "Linux 2");
    let csv = world.done(&["history", "parse", "--metric", "wall", "--csv", "-"]);
    assert_eq!(csv.lines().count(), 6);
    assert!(
        csv.lines()
            .nth(1)
            .unwrap()
            .starts_with("parse,,wall,seconds,2026-11-21T00:00:00Z,a1a1")
    );
}

#[test]
fn since_takes_dates_labels_and_revisions() {
    let world = kept();
    let count = |since: &str| {
        let record = world.json(&["history", "parse", "--metric", "wall", "--since", since]);
        record["series"][0]["points"].as_array().unwrap().len()
    };
    assert_eq!(count("2026-11-21T02:00:00Z"), 3);
    assert_eq!(count("v2"), 1);
    let said = world.refused(2, &["history", "--since", "tomorrow"]);
    assert!(said.contains("not a date (2026-11-25)"), "{said}");
    let world = World::project();
    for text in ["one", "two"] {
        world.commit(text);
        world.done(&["bench", "-N", "-r", "3", "-w", "0", "true"]);
    }
    let record = world.json(&["history", "--metric", "wall", "--since", "HEAD"]);
    let points = record["series"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 1, "{record}");
}

#[test]
fn what_is_not_there_is_said_with_what_is_near() {
    let world = kept();
    let said = world.refused(2, &["history", "prase"]);
    assert!(
        said.contains("no benchmark is named \"prase\"; similar names: parse, zip"),
        "{said}"
    );
    let said = world.refused(2, &["history", "parse", "--metric", "wal"]);
    assert!(said.contains("these benchmarks have wall"), "{said}");
    let empty = World::new();
    for verb in [
        &["history"][..],
        &["store", "info"],
        &["compare", "@-2", "@-1"],
    ] {
        let said = empty.refused(2, verb);
        assert!(
            said.contains("does not exist yet") && said.contains("--save"),
            "{said}"
        );
    }
    assert!(!empty.own_store().exists(), "reading makes no store");
}

#[test]
fn names_labels_and_runs_are_managed() {
    let world = kept();
    let info = world.done(&["store", "info"]);
    assert!(
        info.contains("records      5,") && info.contains("store.sqlite"),
        "{info}"
    );
    let said = world.done(&["store", "tag", "@-2", "v1"]);
    assert!(said.contains("1 record now called v1"), "{said}");
    let list = world.done(&["store", "list"]);
    let ids = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.contains(" 2026-11-21 "));
        rows.map(|row| row[..12].to_owned()).collect()
    };
    assert_eq!(ids(&list).len(), 5, "{list}");
    insta::assert_snapshot!("records", list);
    // An id from the list selects that record for `tag`; both show the same line.
    let labelled = world.done(&["store", "list", "--label", "v1"]);
    assert_eq!(ids(&labelled), ids(&list)[1..2], "{labelled}");
    let said = world.done(&["store", "tag", &ids(&list)[1], "v1"]);
    assert!(
        said.starts_with(&labelled) && said.contains("already called v1"),
        "{said}"
    );
    assert_eq!(world.json(&["history", "parse", "--metric", "wall", "--since", "v1"])["series"][0]["points"].as_array().unwrap().len(), 2);
    world.done(&["store", "tag", "@-2", "v1", "--remove"]);
    world.done(&["store", "rename", "parse", "parse-large"]);
    let renamed = world.json(&["history", "parse-large", "--metric", "wall"]);
    assert_eq!(renamed["series"][0]["points"].as_array().unwrap().len(), 5);
    // The old name still finds the benchmark.
    assert_eq!(
        world.json(&["history", "parse", "--metric", "wall"])["series"],
        renamed["series"]
    );
    // Pruning lists first, and keeps labelled records.
    let listed = world.done(&["store", "prune", "--before", "2027-01-01"]);
    assert!(
        listed.contains("4 records would lose their runs"),
        "{listed}"
    );
    let unlabelled: Vec<String> = ids(&list)[1..].iter().rev().cloned().collect();
    assert_eq!(ids(&listed), unlabelled, "the oldest first, without v2");
    assert_eq!(world.json(&["store", "info"])["pruned"], 0);
    let done = world.done(&["store", "prune", "--before", "2027-01-01", "--yes"]);
    assert!(
        done.contains("the runs of 4 records were deleted"),
        "{done}"
    );
    assert_eq!(ids(&done), unlabelled, "those that were listed");
    assert_eq!(world.json(&["store", "info"])["pruned"], 4);
    assert_eq!(
        world.json(&["history", "parse", "--metric", "wall"])["series"],
        renamed["series"]
    );
    let said = world.refused(2, &["store", "prune", "--before", "soon"]);
    assert!(said.contains("90d"), "{said}");
    let said = world.refused(2, &["store", "tag", "nothing", "v1"]);
    assert!(
        said.contains("\"nothing\"") && said.contains("fathom history"),
        "{said}"
    );
    let said = world.refused(2, &["store", "rename", "prase", "x"]);
    assert!(said.contains("no benchmark \"prase\""), "{said}");
}

#[test]
fn history_lists_in_the_order_of_commits() {
    let world = World::project();
    for text in ["one", "two", "three"] {
        world.commit(text);
    }
    let mut ids = Vec::new();
    // The newest commit comes first, even if old commits are measured later.
    for revision in ["main", "main~2", "main~1"] {
        world.git(&["checkout", "-q", "--detach", revision]);
        world.done(&["bench", "-N", "-r", "3", "-w", "0", "true"]);
        let store =
            crate::world::open(&world.project_store()).records(&fathom_store::Selector::Last(1));
        ids.push(store.unwrap().remove(0).id);
    }
    let history = world.json(&["history", "--metric", "wall"]);
    let points = history["series"][0]["points"].as_array().unwrap();
    let records: Vec<&str> = points
        .iter()
        .map(|point| point["record"].as_str().unwrap())
        .collect();
    assert_eq!(records, [&ids[1], &ids[2], &ids[0]]);
}

#[test]
fn copied_stores_print_the_same() {
    let world = World::project();
    // A slowdown that would look like an improvement in a different order. Some times are equal and some go
    // backwards; some commits are known and some are not.
    for (n, (hour, commit, value)) in [
        (5, None, 1.0),
        (5, None, 1.5),
        (3, Some(4), 1.6),
        (9, Some(1), 0.9),
        (2, Some(5), 2.5),
        (9, None, 3.0),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("{n}a");
        let mut draft =
            Draft::of(record(&[("parse", value), ("zip", 0.25)], hour, "Linux 1")).unwrap();
        draft.revision = Some(Revision {
            id: name.repeat(20),
            branch: None,
            dirty: false,
        });
        draft.committed = commit.map(|hours: i64| 1_795_219_200_000 + hours * 3_600_000);
        crate::world::open(&world.project_store())
            .save(&draft)
            .unwrap();
    }
    let server = fathom_test_postgres::Server::start();
    let own = world.project_store().display().to_string();
    let middle = match &server {
        Some(server) => server.address("schema=copied"),
        None => "middle.sqlite".to_owned(),
    };
    for (from, to) in [(own.as_str(), middle.as_str()), (&middle, "last.sqlite")] {
        let _ = std::fs::remove_file(world.here().join("copy.bundle"));
        world.done(&["store", "bundle", "copy.bundle", "--store", from]);
        world.done(&["store", "load", "copy.bundle", "--store", to]);
    }
    for words in [
        &["history"][..],
        &["history", "parse", "-v"],
        &["history", "--csv", "-"],
        &["compare", "@-2", "@-1"],
        &["compare", "0a0a0a", "5a5a5a"],
        &["changes", "parse"],
        &["store", "list"],
        &["store", "prune", "--keep", "2"],
    ] {
        let [here, there, back] = [own.as_str(), &middle, "last.sqlite"].map(|store| {
            let output = world.fathom(&[words, &["--store", store]].concat());
            assert_eq!(
                output.status.code(),
                world
                    .fathom(&[words, &["--store", &own]].concat())
                    .status
                    .code()
            );
            // The output may contain the name of the store.
            stdout(&output).replace(store, "STORE")
        });
        assert!(!here.is_empty(), "{words:?}");
        assert_eq!(here, there, "{words:?}");
        assert_eq!(here, back, "{words:?}");
    }
}

#[test]
fn a_bundle_moves_everything_to_another_store() {
    let world = kept();
    let said = world.done(&["store", "bundle", "all.bundle"]);
    assert!(said.contains("5 records"), "{said}");
    let said = world.refused(2, &["store", "bundle", "all.bundle"]);
    assert!(said.contains("already exists"), "{said}");
    for expected in ["5 records new", "0 records new"] {
        let said = world.done(&["store", "load", "all.bundle", "--store", "other.sqlite"]);
        assert!(said.contains(expected), "{said}");
    }
    let here = world.json(&["history"]);
    let there = world.json(&["history", "--store", "other.sqlite"]);
    assert_eq!(here["series"], there["series"]);
    world.write("broken.bundle", "not a bundle");
    let said = world.refused(2, &["store", "load", "broken.bundle"]);
    assert!(
        said.contains("broken.bundle is not a complete Fathom bundle"),
        "{said}"
    );
    let output = world.fathom(&["store", "load", "absent.bundle"]);
    assert!(stderr(&output).contains("absent.bundle") && stdout(&output).is_empty());
}

#[test]
fn a_screen_of_many_series_begins_as_the_whole_list_does() {
    let world = World::project();
    let names: Vec<String> = (0..30).map(|number| format!("b{number:02}")).collect();
    for hours in 0..3 {
        // The last ten benchmarks are measured again, so they come first.
        let from = if hours == 0 { 0 } else { 20 };
        let value = 0.001 * (hours + 1) as f64;
        let some: Vec<_> = names[from..]
            .iter()
            .map(|name| (name.as_str(), value))
            .collect();
        save(&world, record(&some, hours, "6.1"), None, &[]);
    }
    let screen = world.done(&["history"]);
    let whole = world.done(&["history", "-v"]);
    let rows = |text: &str| -> Vec<String> {
        let rows = text
            .lines()
            .filter(|line| line.starts_with('b') && line.contains("wall"));
        rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(rows(&screen).len(), 18, "{screen}");
    assert!(
        rows(&screen)[0].starts_with("b20 wall 3.00 ms +50 %"),
        "{screen}"
    );
    assert_eq!(rows(&screen), rows(&whole)[..18], "{whole}");
    assert!(screen.contains("12 more with -v"), "{screen}");
}
