//! Options and the responses to them.

use super::*;

#[test]
fn wrong_arguments_are_answered_with_what_to_type() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "no pipeline; try: fathom pipe "),
        (
            &["true"],
            "at least two stages; for one command, use: fathom why true",
        ),
        (&["cat x | wc"], "write: fathom pipe -- 'cat x | wc'"),
        (
            &["--", "cat", "x"],
            "in one pair of quotes: fathom pipe -- 'cat x'",
        ),
        (&["--rounds", "0", "true", "true"], "zero rounds"),
        (
            &["cat", "gzpi"],
            "no such program: gzpi; did you mean gzip?",
        ),
        (
            &["--delay", "sort=1s", "true", "cat"],
            "the stages are 1 true, 2 cat",
        ),
        (
            &["--delay", "cat", "true", "cat"],
            "--delay takes STAGE=TIME",
        ),
        (&["--", "echo a && echo b | cat"], "`&&` in stage 1"),
        (&["--", "echo a > b | cat"], "write the stage as sh -c"),
        (&["--", "echo a | cat > out"], "--output FILE"),
        (&["--", "cat < in | wc"], "--input FILE"),
        (&["--", "echo a 2>&1 | cat"], "`2>` in stage 1"),
        (&["--", "echo $(date) | cat"], "`$(` in stage 1"),
        (&["--", "echo a |& cat"], "2>&1"),
        (&["--", "true || true"], "needs a shell"),
        (&["--", "true | | cat"], "stage 2"),
        (
            &["--input", "/no/such/file", "cat", "wc"],
            "can't read the input /no/such/file",
        ),
        (
            &["--json", "/no/such/folder/x", "true", "cat"],
            "can't write /no/such/folder/x",
        ),
    ];
    for (arguments, expected) in cases {
        let output = pipe(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn only_pipes_outside_quotes_divide_and_a_shell_takes_the_rest() {
    let split = record(&["--no-stage", "--", "printf 'a|b' | cat | wc -c"]);
    let names = |record: &Value| -> Vec<String> {
        let stages = record["stages"].as_array().unwrap();
        stages
            .iter()
            .map(|stage| stage["name"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(names(&split), ["printf", "cat", "wc"]);
    assert_eq!(
        split["summary"]["stages"][0]["bytes_out"]
            .as_u64()
            .unwrap_or(3),
        3
    );
    let shell = record(&["--no-stage", "-S", "echo $((1+1)) && echo x", "cat", "cat"]);
    assert_eq!(shell["conditions"]["shell"], "/bin/sh");
    assert_eq!(names(&shell), ["echo", "cat", "cat#2"]);
}

#[test]
fn kept_inputs_are_what_the_stage_before_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("inputs");
    let record = record(&[
        "--keep-staged",
        text(&kept),
        "seq 1000",
        "sort -n",
        "tail -n 1",
    ]);
    let of = |name: &str| std::fs::read_to_string(kept.join(name)).unwrap();
    let wanted: String = (1..=1000).map(|n| format!("{n}\n")).collect();
    assert_eq!(of("2-sort.input"), wanted);
    assert_eq!(of("3-tail.input"), wanted);
    let file = record["staged"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("2-sort.input"), "{file}");
    assert_eq!(record["alone"][1]["wall_ns"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_too_large_is_not_kept_and_its_reader_not_run_alone() {
    let record = record(&["--stage-limit", "1M", "head -c 20000000 /dev/zero", "wc -c"]);
    assert_eq!(record["staged"][0]["bytes_written"], 20_000_000);
    assert!(
        record["staged"][0]["not_kept"]
            .as_str()
            .unwrap()
            .contains("--stage-limit")
    );
    assert!(record["alone"][0]["not_run"].is_null());
    assert!(note(&record, "not_alone").contains("--stage-limit"));
    let none = self::record(&["--no-stage", "head -c 20000000 /dev/zero", "wc -c"]);
    assert!(none["alone"].as_array().unwrap().is_empty());
    assert!(none["staged"].as_array().unwrap().is_empty());
}

#[test]
fn the_page_is_written_and_runs_its_own_script_only() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("pipe.html");
    let output = pipe(&[
        "--rounds",
        "1",
        "--traced",
        "1",
        "--html",
        text(&page),
        "echo '<script>x'",
        "cat",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("<svg")
            && html.contains("&lt;script&gt;x")
            && html.matches("<script").count() == 1
            && html.contains("script-src 'sha256-")
    );
}

#[test]
fn input_and_output_are_the_pipelines() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, "c\nb\na\n").unwrap();
    record(&["--input", text(&from), "--output", text(&to), "sort", "cat"]);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "a\nb\nc\n");
}

#[test]
fn what_is_to_be_prepared_is_prepared_before_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let prepare = format!("echo x >> {}", text(&log));
    record(&["--tier", "accounts", "--prepare", &prepare, "echo a", "cat"]);
    let lines = std::fs::read_to_string(&log).unwrap().lines().count();
    // The first run, then two rounds of the pipeline and of each stage alone.
    assert_eq!(lines, 1 + 2 * 3);
    let output = pipe(&["--prepare", "echo no >&2; exit 4", "echo a", "cat"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("--prepare"), "{}", stderr(&output));
}
