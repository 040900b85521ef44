//! The JSON schema, the reader and the catalogue say the same.

use std::collections::BTreeSet;
use std::path::Path;

use fathom_experiment::file::keys::Section;
use serde_json::Value;

fn schema() -> Value {
    let text = include_str!("../../../docs/json-schema/experiment.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

#[test]
fn every_key_of_the_reader_is_in_the_schema_and_the_other_way_round() {
    let schema = schema();
    for (section, name) in Section::ALL {
        let part = match name {
            "" => &schema,
            name => &schema["$defs"][name],
        };
        let properties = part["properties"].as_object();
        let described: BTreeSet<&str> = properties
            .unwrap_or_else(|| panic!("{name:?} is not in the schema"))
            .keys()
            .map(String::as_str)
            .collect();
        let read: BTreeSet<&str> = section.keys().iter().copied().collect();
        assert_eq!(described, read, "in {name:?}");
        assert_eq!(part["additionalProperties"], Value::Bool(false), "{name:?}");
    }
    let parts = schema["$defs"].as_object().map_or(0, serde_json::Map::len);
    assert_eq!(parts, Section::ALL.len() - 1);
}

#[test]
fn the_example_of_the_documentation_can_be_used() {
    let page = include_str!("../../../docs/experiments.md");
    let start = page.find("```toml\n").expect("an example") + "```toml\n".len();
    let example = &page[start..];
    let example = &example[..example.find("```").expect("its end")];
    let path = Path::new("experiment.toml");
    let experiment =
        fathom_experiment::file::parse::parse(path, example).unwrap_or_else(|e| panic!("{e}"));
    fathom_experiment::check::check(&experiment).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_experiment_of_the_catalogue_can_be_used() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let files = fathom_experiment::catalogue::files(&folder).expect("a catalogue");
    assert!(!files.is_empty());
    for file in files {
        let experiment = fathom_experiment::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            !experiment.claims.is_empty(),
            "{} claims nothing",
            file.display()
        );
    }
}
