//! Tests the error messages for unusable files: the line, the problem, and what to write instead.

mod support;

use support::{claim, experiment, with_claims};

fn said(text: &str) -> String {
    match experiment(text) {
        Ok(_) => "nothing is wrong".to_string(),
        Err(error) => error.to_string(),
    }
}

/// Compares the messages for each file of `files/`.
#[test]
fn errors_point_at_the_line() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the test's own folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(files.len() >= 6);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the test's own file");
        let name = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        insta::assert_snapshot!(name, said(&text));
    }
}

#[test]
fn mistakes_in_claims_are_found_before_anything_runs() {
    let mut all = String::new();
    for holds in [
        "ratio(wall.a, wall.d) > 1",
        "wall.a > 2",
        "wall.a > 2KiB",
        "wall.a + 3 > 2s",
        "ops.a >= 1000",
        "ops.a >= 2ms",
        "wal.a > 1s",
        "ratio(wall.a, wall.b)",
        "wall.a >",
        "wall.a > 1s within 5%",
        "rtio(wall.a, wall.b) > 1",
        "order(wall.a)",
        "same(wall.a, wall.b) within 2ms",
        "finding(a, sleeping)",
        "finding(z, \"sleeping\")",
        "wall.a[sink=null] > 1s",
        "wall.a = 1s",
        "(wall.a > 1s",
        "value(\"core_clock\") > 1",
        "wall.a > 1s; wall.b > 1s",
        "wall.a > 1parsec",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
    ] {
        all.push_str(&format!("{holds}\n{}\n\n", said(&claim("size", holds))));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn all_mistakes_are_said_at_once() {
    let error = experiment(&with_claims(
        "[[claims]]\nid = \"x\"\n[[claims]]\nid = \"x\"\nlayer = \"weight\"\n",
    ))
    .unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "a claim needs `holds`",
            "a claim needs `text`",
            "a claim needs `layer`",
            "a claim needs `holds`",
            "a claim needs `text`",
            "two claims are named `x`",
            "no layer \"weight\"",
        ]
    );
}

#[test]
fn each_value_of_a_wrong_kind_is_said_once_and_hides_no_other() {
    let error = experiment(
        r#"schema_version = 1
title = ""
time_budget = []
source = { title = 1, year = 1, rows = [[]] }
tools.a = { check = 1, npm = 1 }
inputs.a = { hex = 1, seed = -1, size = {} }
parameters = { a = 1, quick = 1 }
answers = 1
pictures = [1]
subjects.a = { command = {}, env = 1, needs = {}, timeout = [], only = { a = [] } }
[[measure]]
how = "value"
rounds = 0
values.a = { pattern = 1, unit = 1, better = 1, take = "lost" }
[[claims]]
id = 1
layer = 1
holds = 1
published = { value = "x", unit = "u$" }
[gate]
margin = "x"
margins.a = "100%"
undecided = "x"
budgets.a = { read_calls = "x", nothing = 1 }
waivers = [{ benchmark = 1, until = 1, at_most = 1 }]
"#,
    )
    .unwrap_err();
    insta::assert_snapshot!(error);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,200}") {
        let _ = said(&text);
    }

    #[test]
    fn no_expression_makes_the_reader_panic(holds in r#"[a-z0-9_.\-+*/()<>=,:%"\[\] ]{0,60}"#) {
        let _ = said(&claim("size", &holds));
    }
}
