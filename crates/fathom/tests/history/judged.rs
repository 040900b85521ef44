//! `fathom gate --stored`: judges earlier measurements.

use serde_json::{Value, json};

use crate::compared::imported;
use crate::read::{record, save};
use crate::world::World;

/// Creates two measurements of `parse` that differ by this factor.
fn two(factor: f64) -> World {
    let world = World::project();
    for (hours, value) in [(0, 1.0), (1, factor)] {
        let text = record(&[("parse", value)], hours, "Linux 1");
        save(&world, text, None, &[]);
    }
    world
}

fn judged(world: &World, code: i32) -> Value {
    let output = world.fathom(&["gate", "--stored", "@-2", "@-1", "--json", "-"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice(&output.stdout).expect("a record")
}

#[test]
fn what_is_slower_by_more_than_margin_and_drift_is_worse() {
    let found = judged(&two(1.5), 1);
    assert_eq!(found["benchmarks"][0]["verdict"], "worse");
    let found = judged(&two(0.5), 0);
    assert_eq!(found["benchmarks"][0]["verdict"], "not worse");
    // The difference is within the assumed drift: the gate reports this reason and doesn't fail.
    let world = two(1.04);
    let found = judged(&world, 0);
    assert_eq!(found["verdict"], "cannot tell");
    let why = found["benchmarks"][0]["why"][0].as_str().expect("a reason");
    assert!(why.starts_with("with so few earlier measurements"), "{why}");
    let text = world.done(&["gate", "--stored", "@-2", "@-1"]);
    assert!(text.contains("from stored measurements"), "{text}");
    let fails = ["gate", "--stored", "@-2", "@-1", "--undecided", "fail"];
    assert_eq!(world.fathom(&fails).status.code(), Some(1));
}

#[test]
fn a_score_that_nobody_explains_fails_nothing() {
    let world = World::project();
    for (hours, score) in [(0, 1.0), (1, 2.0)] {
        let text = imported("x", &json!([score]), "points", hours);
        let mut text: Value = serde_json::from_str(&text).expect("a record");
        text["benchmarks"][0]["direction"] = Value::Null;
        save(&world, text.to_string(), None, &[]);
    }
    let found = judged(&world, 0);
    let row = &found["benchmarks"][0];
    assert_eq!(row["verdict"], "cannot tell");
    assert_eq!(
        row["why"][0],
        "it is unclear whether higher or lower values are better"
    );
}

#[test]
fn what_has_no_answer_is_refused() {
    let world = two(1.0);
    let refused =
        |code: i32, base: &str, head: &str| world.refused(code, &["gate", "--stored", base, head]);
    let said = world.done(&["gate", "--stored", "@-1", "@-1"]);
    assert!(said.contains("are the same measurement"), "{said}");
    save(
        &world,
        record(&[("zip", 1.0), ("tar", 1.0)], 2, "Linux 1"),
        None,
        &["zip"],
    );
    let said = refused(4, "@-2", "@-1");
    assert!(said.contains("nothing can be compared"), "{said}");
    let said = refused(2, "v9", "@-1");
    assert!(
        said.contains("no record, label or revision \"v9\""),
        "{said}"
    );
}
