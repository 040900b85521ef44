//! Records and stores in which every text attacks the terminal: nothing in Fathom's output takes effect.

use fathom_store::{Draft, Location, NewPoint, Revision, Store};
use serde_json::Value;

use crate::read::record;
use crate::world::World;

/// A text that sets the terminal's title, clears the screen, sends an 8-bit control character, reverses a
/// line, starts a new line, and contains a noncharacter.
const HOSTILE: &str =
    "a\u{1b}]0;t\u{7}\u{1b}[2J\u{1b}[8m\u{9b}31m\u{202e}b\r\nINJECTED\u{0}c\u{2028}d";

/// Checks only that the output is clean; formats with their own escaping aren't checked here.
fn check(world: &World, arguments: &[&str]) {
    let output = world.fathom(arguments);
    assert!(output.status.code().is_some(), "{arguments:?}: it has died");
    for bytes in [output.stdout, output.stderr] {
        let text = String::from_utf8(bytes).unwrap();
        let acts = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2028}".contains(c));
        assert!(!text.contains(acts), "{arguments:?}: {text:?}");
        let injected = text.lines().find(|line| line.starts_with("INJECTED"));
        assert_eq!(injected, None, "{arguments:?}: {text}");
    }
}

/// Collects the paths of all texts in a record.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(all) => {
            for (index, one) in all.iter().enumerate() {
                texts(one, &format!("{path}/{index}"), found);
            }
        }
        Value::Object(all) => {
            for (name, one) in all {
                texts(one, &format!("{path}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// Returns a measurement with hostile names, as a bundle could contain it.
fn draft(hour: i64, value: f64) -> Draft {
    let text = record(&[(HOSTILE, value)], hour, HOSTILE);
    let mut record: Value = serde_json::from_str(&text).unwrap();
    let benchmark = &mut record["benchmarks"][0];
    for name in ["command", "shell", "working_directory"] {
        benchmark[name] = HOSTILE.into();
    }
    benchmark["parameters"] = serde_json::json!([[HOSTILE, HOSTILE]]);
    benchmark["environment_variables"] = serde_json::json!([[HOSTILE, HOSTILE]]);
    record["fathom_version"] = HOSTILE.into();
    record["environment"]["architecture"] = HOSTILE.into();
    let mut draft = Draft::of(record.to_string()).unwrap();
    draft.revision = Some(Revision {
        id: format!("{hour}{HOSTILE}"),
        branch: Some(HOSTILE.to_owned()),
        dirty: hour == 3,
    });
    draft.labels = vec![format!("{HOSTILE}{hour}"), format!("l{hour}")];
    draft.points.push(NewPoint {
        benchmark: format!("{HOSTILE}2"),
        parameters: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        metric: HOSTILE.to_owned(),
        unit: HOSTILE.to_owned(),
        direction: Some("lower_is_better".to_owned()),
        meaning: HOSTILE.to_owned(),
        value,
        low: value * 0.99,
        high: value * 1.01,
        runs: 12,
    });
    draft
}

#[test]
fn a_store_full_of_escape_sequences_is_shown_and_does_nothing() {
    let world = World::project();
    let mut store = Store::open(&Location::File(world.project_store())).unwrap();
    for hour in 0..8 {
        let value = if hour < 4 { 1.0 } else { 2.0 };
        store.save(&draft(hour, value)).unwrap();
    }
    drop(store);
    // An argument can't contain a NUL byte, and a line break in it would be the user's own, so only the text
    // before them is used.
    let typed = HOSTILE.split('\r').next().unwrap();
    for arguments in [
        &["history"][..],
        &["history", "-v"],
        &["history", "*"],
        &["history", "a*", "-v"],
        &["history", "--since", "l2"],
        &["history", "nothing"],
        &["compare", "l0", "l7"],
        &["compare", "l0", "l7", "-v", "--metric", "*"],
        &["compare", "@-2", "@-1", "--dirty", "--across"],
        &["compare", "l0", "nothing"],
        &["store", "info"],
        &["store", "prune", "--before", "2030-01-01"],
        &["store", "tag", "l1", "other"],
        &["store", "rename", "nothing", "other"],
        &["changes"],
        &["changes", "a*", "--metric", "*"],
        &["gate", "--stored", "l0", "l7"],
        &["report"],
        &["report", "--html", "out.html"],
        &["export", "--format", "hyperfine", "l7", "-o", "out.json"],
        &["export", "--format", "bencher", "a*", "-o", "out.json"],
        &["export", "--format", "csv", "nothing"],
        &["store", "bundle", "out.bundle"],
        &["store", "load", "out.bundle", "--store", "other.sqlite"],
        &["explain", typed],
        &["history", "--store", typed],
        &[typed],
    ] {
        check(&world, arguments);
    }
}

#[test]
fn a_record_with_an_escape_sequence_in_any_text_is_shown_and_does_nothing() {
    let world = World::project();
    let whole = record(&[("parse", 1.0), ("zip", 2.0)], 1, "Linux 1");
    world.write("good.json", &whole);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let mut places = Vec::new();
    texts(&whole, "", &mut places);
    assert!(places.len() > 15, "{places:?}");
    for place in places {
        let mut hostile = whole.clone();
        *hostile.pointer_mut(&place).unwrap() = HOSTILE.into();
        world.write("hostile.json", &hostile.to_string());
        check(&world, &["compare", "good.json", "hostile.json"]);
        check(&world, &["report", "hostile.json", "--html", "out.html"]);
        check(&world, &["import", "hostile.json", "--no-save"]);
    }
}
