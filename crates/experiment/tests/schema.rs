//! Checks that the JSON schema, the reader and the catalogue agree.

use std::path::Path;

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
