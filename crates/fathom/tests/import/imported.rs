//! Imports files; checks the summary and the records.

use crate::{done, fathom, json, refused, sample, stderr, stdout};

const GO: &[u8] = b"pkg: p\nBenchmarkA-2 10 5.5 ns/op\nBenchmarkA-2 10 6.5 ns/op\nPASS\n";

#[test]
fn standard_input_is_read_and_nothing_is_stored_even_in_a_project() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".fathom")).unwrap();
    std::fs::write(folder.path().join("fathom.toml"), "").unwrap();
    let text = done(folder.path(), &["import", "-"], GO);
    assert!(
        text.starts_with("go test, standard input: 1 benchmark, 1 series, 2 samples\n"),
        "{text}"
    );
    assert!(text.contains("6.0 ns"), "{text}");
    assert!(text.contains("nothing was saved; add --save"), "{text}");
    let made = std::fs::read_dir(folder.path().join(".fathom")).unwrap();
    assert_eq!(made.count(), 0);
    assert!(!folder.path().join("data").exists());
}

#[test]
fn records_have_samples_units_and_what_was_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let records = json(&done(folder.path(), &["import", "-", "--json", "-"], GO));
    let record = &records[0];
    assert_eq!(record["kind"], "imported");
    assert_eq!(record["source"]["tool"], "go test");
    assert_eq!(record["source"]["file"], "-");
    let one = &record["benchmarks"][0];
    assert_eq!(one["samples"], serde_json::json!([5.5, 6.5]));
    assert_eq!(
        (&one["unit"], &one["direction"]),
        (&"ns/op".into(), &"lower_is_better".into())
    );
    assert_eq!(record["left_out"][0]["count"], 1);
    assert_eq!(record["time_from_file"], false);
}

#[test]
fn a_file_names_its_time_commit_and_machine() {
    let folder = tempfile::tempdir().unwrap();
    let tree = sample("asv");
    let arguments = ["import", tree.to_str().unwrap(), "--json", "-"];
    let records = json(&done(folder.path(), &arguments, b""));
    let record = &records[0];
    assert_eq!(
        record["revision"]["id"],
        "cbaeb2b4d841b4feb92c9ab75a15e36bd7a252a7"
    );
    assert_eq!(
        (&record["started_at"], &record["time_from_file"]),
        (&"2026-11-21T03:05:02Z".into(), &true.into())
    );
    assert_eq!(record["environment"]["cpu_model"], "AMD EPYC");
    assert_eq!(record["environment"]["cpus"], 2);
}

#[test]
fn folders_are_walked_and_other_files_in_them_counted() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("results");
    std::fs::create_dir_all(tree.join("old")).unwrap();
    std::fs::write(tree.join("old/a.txt"), GO).unwrap();
    std::fs::copy(sample("oha.json"), tree.join("b.json")).unwrap();
    std::fs::write(tree.join("README"), "words").unwrap();
    let text = done(folder.path(), &["import", "results"], b"");
    assert!(text.contains("oha, results/b.json"), "{text}");
    assert!(text.contains("go test, results/old/a.txt"), "{text}");
    assert!(text.contains("1 file of unknown format"), "{text}");
    std::fs::remove_dir_all(tree.join("old")).unwrap();
    std::fs::remove_file(tree.join("b.json")).unwrap();
    let said = refused(folder.path(), &["import", "results"], b"");
    assert!(
        said.contains("results: none of its files (1) has a known format"),
        "{said}"
    );
}

#[test]
fn of_several_files_all_are_imported_or_none_unless_it_keeps_going() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.txt"), GO).unwrap();
    std::fs::write(
        folder.path().join("bad.json"),
        "{\"context\": {\"library_build_type\": 1}, \"benchmarks\": [",
    )
    .unwrap();
    let files = ["import", "good.txt", "bad.json", "missing.txt"];
    let said = refused(folder.path(), &files, b"");
    assert!(said.starts_with("error: bad.json: "), "{said}");
    assert!(
        said.contains("--keep-going imports the other files"),
        "{said}"
    );
    let mut all = files.to_vec();
    all.push("--keep-going");
    let output = fathom(folder.path(), &all, b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stdout(&output).contains("go test, good.txt"),
        "{}",
        stdout(&output)
    );
    let said = stderr(&output);
    assert!(said.contains("not imported: bad.json: "), "{said}");
    assert!(
        said.contains("not imported: missing.txt: No such file"),
        "{said}"
    );
}

#[test]
fn mistakes_are_answered_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let both = b"name,iterations,real_time,cpu_time,time_unit,value\nx,1,2,3,ns,4\n";
    let said = refused(folder.path(), &["import", "-"], both);
    assert_eq!(
        said,
        "error: standard input: could be google-benchmark-csv or csv; say which with --format\n"
    );
    done(folder.path(), &["import", "-", "--format", "csv"], both);
    let said = refused(folder.path(), &["import", "-", "--format", "go"], both);
    assert!(
        said.starts_with("error: unknown format \"go\"; the formats are hyperfine, "),
        "{said}"
    );
    let said = refused(folder.path(), &["import", "-"], b"words");
    assert!(
        said.starts_with("error: standard input: no known format of results; formats: "),
        "{said}"
    );
    let said = refused(
        folder.path(),
        &["import", "-"],
        b"{\"fathom_version\": \"1\", \"kind\": \"bench\"}",
    );
    assert!(said.contains("this is a Fathom record"), "{said}");
    let said = refused(folder.path(), &["import", "-", "-"], b"");
    assert!(
        said.contains("standard input can be read only once"),
        "{said}"
    );
    let said = refused(folder.path(), &["import"], b"");
    assert!(said.contains("<FILE|DIR>"), "{said}");
    let said = refused(folder.path(), &["import", "-"], b"");
    assert!(
        said.contains("standard input: the file: no results in it"),
        "{said}"
    );
}
