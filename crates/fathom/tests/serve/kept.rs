//! Outputs other than standard output: the page and the store of a project, nothing else.

use crate::world::{fathom, server, stderr, stdout};

const SHORT: [&str; 8] = [
    "--launches",
    "2",
    "--rounds",
    "1",
    "--time",
    "100ms",
    "-c",
    "1",
];

#[test]
fn a_project_keeps_what_was_measured_unless_asked_not_to() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::create_dir(folder.path().join(".fathom")).unwrap();
    let measure = |more: &[&str]| {
        let options: Vec<&str> = SHORT.iter().chain(more).copied().collect();
        let mut command = fathom(&options, &server("good"));
        command
            .env_remove("FATHOM_STORE")
            .current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 4)),
            "{}",
            stderr(&output)
        );
        output
    };
    let store = folder.path().join(".fathom/store.sqlite");
    let said = stderr(&measure(&["--no-save"]));
    assert!(!said.contains("saved") && !store.exists(), "{said}");
    let said = stderr(&measure(&["--html", "page.html"]));
    assert!(
        said.contains("saved as ") && said.contains("in .fathom/store.sqlite"),
        "{said}"
    );
    assert!(said.contains("the page is in page.html"), "{said}");
    assert!(store.exists());
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Latency by percentile"));
    // No progress line is drawn if standard error is a pipe.
    assert!(
        !said.contains(['\r', '\x1b']) && !said.contains("launch 1 of 2"),
        "{said}"
    );
}

#[test]
fn a_page_to_standard_output_is_all_that_is_there() {
    let options: Vec<&str> = SHORT
        .iter()
        .copied()
        .chain(["--no-save", "--html", "-"])
        .collect();
    let output = fathom(&options, &server("good")).output().unwrap();
    let page = stdout(&output);
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
}
