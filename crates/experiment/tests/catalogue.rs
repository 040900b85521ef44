//! Checks the catalogue against its list, `experiments/rows.txt`, which names every published result.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fathom_experiment::Experiment;

fn catalogue() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the ids in the list. `NAME-*` stands for a set that was published in one table.
fn wanted() -> Vec<String> {
    text(&catalogue().join("rows.txt"))
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_string)
        .collect()
}

fn belongs(row: &str, entry: &str) -> bool {
    match entry.strip_suffix("-*") {
        None => row == entry,
        Some(set) => {
            row == set
                || row
                    .strip_prefix(set)
                    .is_some_and(|rest| rest.starts_with('-'))
        }
    }
}

/// Returns the folders by name, with their content, which is read once for all tests.
fn folders() -> &'static [(String, Experiment)] {
    static FOLDERS: OnceLock<Vec<(String, Experiment)>> = OnceLock::new();
    FOLDERS.get_or_init(read_folders)
}

fn read_folders() -> Vec<(String, Experiment)> {
    let mut all: Vec<(String, Experiment)> = std::fs::read_dir(catalogue())
        .expect("the catalogue is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.join("experiment.toml").is_file())
        .map(|path| {
            let experiment =
                fathom_experiment::read(&path).unwrap_or_else(|error| panic!("{error}"));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (name.into_owned(), experiment)
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn rows(experiment: &Experiment) -> Vec<String> {
    experiment
        .source
        .as_ref()
        .map_or_else(Vec::new, |source| source.rows.clone())
}

#[test]
fn every_row_of_the_list_has_a_folder() {
    let covered: Vec<String> = folders().iter().flat_map(|(_, e)| rows(e)).collect();
    let missing: Vec<String> = wanted()
        .into_iter()
        .filter(|entry| !covered.iter().any(|row| belongs(row, entry)))
        .collect();
    assert!(missing.is_empty(), "no folder has {missing:?}");
}

#[test]
fn no_folder_has_a_row_that_is_not_in_the_list() {
    let wanted = wanted();
    for (folder, experiment) in folders() {
        for row in rows(experiment) {
            let known = wanted.iter().any(|entry| belongs(&row, entry));
            assert!(known, "{folder}: {row} is not in rows.txt");
        }
    }
}

#[test]
fn every_folder_has_a_page_and_stands_in_the_index() {
    let index = text(&catalogue().join("README.md"));
    for (folder, _) in folders() {
        assert!(
            catalogue().join(folder).join("README.md").is_file(),
            "{folder}: no README.md"
        );
        assert!(
            index.contains(&format!("]({folder}/)")),
            "{folder} is not in the index"
        );
    }
}
