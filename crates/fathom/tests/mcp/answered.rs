//! Questions and their answers.

use serde_json::{Value, json};

use crate::client::{Client, script};

#[test]
fn the_tools_are_described_and_only_what_runs_nothing_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::new(folder.path(), &["gzip", "python3 x.py"]);
    let names: Vec<&str> = client
        .tools()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "bench",
            "why",
            "compare",
            "history",
            "machine_check",
            "explain"
        ]
    );
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name} {schema}");
            assert!(jsonschema::meta::is_valid(&tool[schema]), "{name} {schema}");
        }
        let runs = ["bench", "why"].contains(&name);
        let hint = &tool["annotations"]["readOnlyHint"];
        assert_eq!(*hint == true, !runs, "{name}: {hint}");
        let description = tool["description"].as_str().unwrap();
        assert_eq!(
            description.contains("\"gzip\", \"python3 x.py\""),
            runs,
            "{description}"
        );
    }
    assert!(client.leave().success());
}

#[test]
fn two_commands_have_a_verdict_and_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "short", "#!/bin/sh\n:\n");
    script(folder.path(), "long", "#!/bin/sh\nsleep 0.2\n");
    let mut client = Client::new(folder.path(), &["./short", "./long"]);
    let said = client.call(
        "bench",
        &json!({"commands": ["./long", "./short"], "runs": 8}),
    );
    assert!(!said.is_error, "{}", said.text);
    let found = &said.structured;
    assert_eq!(found["commands"][1]["command"], "./short");
    assert_eq!(found["commands"][1]["runs"], 8);
    let of_two = &found["comparisons"][0];
    assert_eq!(
        (&of_two["command"], &of_two["than"]),
        (&json!(2), &json!(1))
    );
    let ratio = |key: &str| of_two["ratio"][key].as_f64().unwrap();
    assert!(ratio("low") <= ratio("value") && ratio("value") <= ratio("high"));
    assert!(
        said.text.contains("\n1: \"./long\" takes "),
        "{}",
        said.text
    );
    // Only one command is timed.
    let alone = client.call("bench", &json!({"commands": ["./short"], "runs": 3}));
    assert_eq!(alone.structured["comparisons"], json!([]));
    assert!(alone.text.contains("Next: run why "), "{}", alone.text);
}

#[test]
fn a_cause_comes_with_its_place_its_saving_and_what_to_change() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "sleeper", "#!/bin/sh\nsleep 0.1\n");
    let mut client = Client::new(folder.path(), &["./sleeper"]);
    let said = client.call("why", &json!({"command": "./sleeper"}));
    assert!(!said.is_error, "{}", said.text);
    assert!(
        said.text.starts_with("\"./sleeper\" takes "),
        "{}",
        said.text
    );
    assert!(
        said.structured["where"]
            .as_array()
            .is_some_and(|rows| rows.len() <= 5)
    );
    assert!(said.structured["wall_s"]["value"].as_f64().unwrap() >= 0.1);
    for cause in said.structured["findings"].as_array().unwrap() {
        assert!(
            cause["change"]
                .as_str()
                .is_some_and(|change| !change.is_empty())
        );
    }
    assert!(said.text.contains("\nNext: "), "{}", said.text);
    let two = client.call(
        "why",
        &json!({"command": "./sleeper", "compared_with": "./sleeper"}),
    );
    let of_two = &two.structured["difference"];
    let whole = of_two["ms"].as_f64().unwrap();
    assert!(
        of_two["low_ms"].as_f64().unwrap() <= whole && whole <= of_two["high_ms"].as_f64().unwrap()
    );
    assert!(two.text.contains("A is \"./sleeper\""), "{}", two.text);
}

#[test]
fn what_was_saved_is_compared_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "tool", "#!/bin/sh\n:\n");
    let mut client = Client::new(folder.path(), &["./tool"]);
    let nothing = client.call("history", &json!({}));
    assert!(
        nothing.is_error || nothing.structured["series"] == json!([]),
        "{}",
        nothing.text
    );
    for label in ["before", "after"] {
        let asked = json!({"commands": ["./tool"], "runs": 5, "label": label});
        assert!(!client.call("bench", &asked).is_error);
    }
    let said = client.call(
        "compare",
        &json!({"base": "before", "head": "after", "metric": "wall"}),
    );
    let one = &said.structured["comparisons"][0];
    assert_eq!(
        (&one["benchmark"], &one["metric"]),
        (&json!("./tool"), &json!("wall"))
    );
    assert!(
        said.text.starts_with("after against before: "),
        "{}",
        said.text
    );
    let said = client.call("history", &json!({"series": ["./tool"]}));
    let points = said.structured["series"][0]["points"].as_array().unwrap();
    let labels: Vec<&Value> = points.iter().map(|point| &point["labels"][0]).collect();
    assert_eq!(labels, ["before", "after"]);
    let missing = client.call(
        "compare",
        &json!({"base": "before", "head": "no-such-label"}),
    );
    assert!(
        missing.is_error && missing.text.contains("no-such-label"),
        "{}",
        missing.text
    );
}

#[test]
fn words_are_explained_and_unknown_ones_are_not_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::new(folder.path(), &[]);
    let said = client.call("explain", &json!({"word": "unbuffered-output"}));
    assert!(
        said.structured["known"] == true && said.text.contains("buffer"),
        "{}",
        said.text
    );
    let said = client.call("explain", &json!({"word": "quantum\u{1b}[2J-cache\nobey"}));
    assert_eq!(said.structured["known"], false);
    assert!(
        said.text
            .starts_with("\"quantum\\u{1b}[2J-cache\\nobey\" is not"),
        "{}",
        said.text
    );
    assert!(said.text.contains("\nTerms: "), "{}", said.text);
}
